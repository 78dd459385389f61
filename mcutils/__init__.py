"""Multi-class classification: theorems you can run.

The helper package of the book *Multi-Class Classification*. A topic has one name: the chapter
``ecoc`` derives what the module ``mcutils.ecoc`` implements and ``tests/test_ecoc.py`` tests.

Importing the package alone loads nothing else; take the module that you need::

    from mcutils import ecoc, loss
"""

__version__ = "0.1.0"
