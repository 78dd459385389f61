r"""Error-correcting output codes: a multi-class classifier out of any binary ones.

A *code* is a matrix :math:`M \in \{-1, 0, +1\}^{k \times l}`: one row (codeword) per class, one column
per binary problem. Column ``s`` is learned on the examples of the classes with a nonzero entry, as
:math:`(x_i, M(y_i, s))`; its classifier has a score :math:`f_s(x)`. *Decoding* chooses the row closest
to the scores :math:`f(x) = (f_1(x), \dots, f_l(x))`.

Everything the module computes starts from two numbers of a pair of rows: the distance
:math:`\rho(r, r') = \sum_s \frac{1 - M(r, s) M(r', s)}{2}` (a zero counts one half), and the number of
columns that *separate* them, that is, where they have opposite signs.

Reference: Allwein, Schapire and Singer, *Reducing multiclass to binary: a unifying approach for margin
classifiers*, Journal of Machine Learning Research 1 (2000) 113-141.

Classes are rows of an array, so indices in arguments and results start at 0; messages to people count
classes and columns from 1, as the book does, and note it.
"""

from .._public import set_public_module
from ._bound import TrainingErrorBound, training_error_bound
from ._codes import CodeReport, all_pairs, check_code, dense, exhaustive, one_vs_all, report, sparse
from ._decoding import Decoding, decode
from ._estimator import OutputCode

__all__ = [
    "CodeReport",
    "Decoding",
    "OutputCode",
    "TrainingErrorBound",
    "all_pairs",
    "check_code",
    "decode",
    "dense",
    "exhaustive",
    "one_vs_all",
    "report",
    "sparse",
    "training_error_bound",
]

set_public_module(globals())
