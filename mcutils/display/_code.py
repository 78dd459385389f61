"""A code matrix with its distances."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .._checks import one_of
from ..ecoc import report
from ._base import GREY, INK, Display, names


class CodeDisplay(Display):
    r"""A code matrix, and how far its rows are from each other.

    The distance of two rows is :math:`\sum_s \frac{1 - M(r, s) M(r', s)}{2}`, so that a zero counts one half;
    the smallest one decides how many wrong answers the code repairs (cor-ecoc-correct).

    Parameters
    ----------
    code : (k, l) array-like
        Entries -1, 0 and 1; row r is the codeword of class r.
    display_labels : sequence of k names, optional
        The classes; by default 1 to k.
    column_labels : sequence of l names, optional
        The binary problems; by default 1 to l.

    Attributes
    ----------
    distances : (k, k) array
        The distances of the rows.
    ax_ : matplotlib Axes
        Where it was drawn last.
    figure_ : matplotlib Figure
        The figure of these axes.
    text_ : list or (k, k) array of matplotlib Text
        The distances as they are written: of each row to the nearest, or of all pairs, None on the diagonal.

    See Also
    --------
    mcutils.plot.code : The matrix alone.
    mcutils.ecoc.report : What else is to be known of a code.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from mcutils.ecoc import all_pairs
    >>> display = CodeDisplay(all_pairs(4), display_labels=list("abcd")).plot(ax=Figure().subplots())
    >>> [text.get_text() for text in display.text_]
    ['3.5', '3.5', '3.5', '3.5']
    """

    def __init__(
        self,
        code: ArrayLike,
        *,
        display_labels: Sequence[Any] | None = None,
        column_labels: Sequence[Any] | None = None,
    ):
        self.distances = report(code).distances
        self.code = np.asarray(code).astype(np.int8)
        k, columns = self.code.shape
        self.display_labels = names(display_labels, "display_labels", k)
        self.column_labels = column_labels
        names(column_labels, "column_labels", columns)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        kind: str = "code",
        column_labels: Sequence[Any] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the code of a classifier.

        Parameters
        ----------
        estimator : estimator
            A fitted :class:`mcutils.ecoc.OutputCode`, or scikit-learn's ``OutputCodeClassifier``.
        kind : {"code", "distances"}
            See :meth:`plot`.
        column_labels : sequence of l names, optional
        ax : matplotlib Axes, optional

        Returns
        -------
        CodeDisplay

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from mcutils import OutputCode, load
        >>> from sklearn.linear_model import LogisticRegression
        >>> penguins = load("penguins")
        >>> model = OutputCode(LogisticRegression(max_iter=5000), code="one-vs-all").fit(
        ...     penguins.X, penguins.y
        ... )
        >>> CodeDisplay.from_estimator(model, ax=Figure().subplots()).display_labels
        ['Adelie', 'Chinstrap', 'Gentoo']
        """
        check_is_fitted(estimator)
        if hasattr(estimator, "code_"):
            code = estimator.code_
        elif hasattr(estimator, "code_book_"):  # with 0 for -1 where the estimators give probabilities
            code = np.where(estimator.code_book_ > 0, 1, -1)
        else:
            raise ValueError(
                f"estimator must be an OutputCode or an OutputCodeClassifier, found {estimator!r}"
            )
        display = cls(code, display_labels=list(estimator.classes_), column_labels=column_labels)
        return display.plot(kind=kind, ax=ax)

    def plot(self, *, kind: str = "code", ax: Any = None) -> Self:
        """Draw the code or its distances.

        Parameters
        ----------
        kind : {"code", "distances"}
            "code": the matrix as :func:`mcutils.plot.code` draws it, and right of each row its distance to
            the nearest other one, the smallest in bold unless all are equal. "distances": a table of those
            of all pairs, the smallest framed.
        ax : matplotlib Axes, optional
            By default new ones.

        Returns
        -------
        CodeDisplay
        """
        one_of(kind, "kind", ("code", "distances"))
        ax = self._axes(ax)
        others = np.where(np.eye(len(self.distances), dtype=np.bool_), np.inf, self.distances)
        if kind == "code":
            self._draw_code(ax, others.min(axis=1))
        else:
            self._draw_distances(ax, others)
        return self

    def _draw_code(self, ax: Any, nearest: Any) -> None:
        from ..plot import code

        code(ax, self.code, self.display_labels, self.column_labels)
        beside = {"xycoords": ax.get_yaxis_transform(), "textcoords": "offset points", "va": "center"}
        ax.annotate("nearest\nrow", (1, 1), (6, 4), **{**beside, "xycoords": "axes fraction", "va": "bottom"})
        close = nearest == nearest.min()
        bold = close & ~close.all()  # where all rows are equally near, none stands out
        self.text_: Any = [
            ax.annotate(f"{d:g}", (1, r), (6, 0), weight="bold" if bold[r] else "normal", **beside)
            for r, d in enumerate(nearest.tolist())
        ]

    def _draw_distances(self, ax: Any, others: Any) -> None:
        from matplotlib.patches import Rectangle

        k = len(others)
        self.text_ = np.full((k, k), None)
        for r, c in np.argwhere(np.isfinite(others)).tolist():
            self.text_[r, c] = ax.text(c, r, f"{others[r, c]:g}", ha="center", va="center")
            if others[r, c] == others.min():
                frame = Rectangle((c - 0.42, r - 0.42), 0.84, 0.84, fill=False, edgecolor=INK, linewidth=1.5)
                ax.add_patch(frame)
        ax.plot([-0.5, k - 0.5], [-0.5, k - 0.5], color=GREY, linestyle="-", linewidth=0.8)
        ax.set(xlim=(-0.5, k - 0.5), ylim=(k - 0.5, -0.5), aspect="equal")
        ax.set_xticks(range(k), self.display_labels)
        ax.set_yticks(range(k), self.display_labels)
        ax.tick_params(length=0, top=False, labeltop=True, bottom=False, labelbottom=False)
        ax.spines[:].set_visible(False)
