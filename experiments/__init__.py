"""The long computations whose results chapters read: `python -m experiments.NAME` makes one anew.

A result goes to ``mcutils/data/results/NAME.json``, so that a chapter finds it wherever it runs; the
chapter repeats a small part and compares it with the file.
"""
