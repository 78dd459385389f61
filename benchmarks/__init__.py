"""The races of mcutils against its peers: ``python -m benchmarks`` runs them.

A module of this package is named after its topic and has a function ``races()``.
"""
