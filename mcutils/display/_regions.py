"""The regions of the plane in which each class is predicted."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .._checks import array, entries, integer, number, or_none, point_matrix, reals, switch
from .._typing import Floats
from ._base import INK, Display, class_list, label_vector, numbers_of, text_or_none

_FINEST = 2_000  # a grid of four million points


class RegionsDisplay(Display):
    """The regions of the plane in which a classifier predicts each class, with examples and support vectors.

    Each class has one colour and one marker. Support vectors have rings; of a machine for two classes that
    has any, the lines of the scores -1 and 1 are dashed (thm-dual-kkt says what lies on them and between).

    Parameters
    ----------
    xx0, xx1 : (s,) and (t,) array-like
        The places of the grid on the two axes, increasing.
    response : (t, s) array-like of int
        The number of the class at each point, from 0.
    classes : (k,) array-like
        The labels of the classes.
    scores : (t, s, k) array-like, optional
        Scores of the classes. Where their largest are the response, borders are drawn between the points of
        the grid, as lines and not as stairs.
    points : (m, 2) array-like, optional
        Examples.
    labels : (m,) array-like, optional
        Their labels.
    support : (n, 2) array-like, optional
        Support vectors.
    xlabel, ylabel : str, optional
        Names of the two features.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Where it was drawn last.
    figure_ : matplotlib Figure
        The figure of these axes.
    surfaces_ : list of matplotlib QuadContourSet
        The regions, a set for each class that has one.
    points_ : list of matplotlib Line2D
        The examples, class by class.
    support_ : matplotlib Line2D or None
        The rings.

    See Also
    --------
    mcutils.tree.draw_regions : The regions of a tree, exactly.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC().fit(X[:, :2], y)
    >>> display = RegionsDisplay.from_estimator(model, X[:, :2], y, ax=Figure().subplots())
    >>> [text.get_text() for text in display.ax_.get_legend().get_texts()]
    ['0', '1', '2', 'support vectors']
    """

    def __init__(
        self,
        *,
        xx0: ArrayLike,
        xx1: ArrayLike,
        response: ArrayLike,
        classes: ArrayLike,
        scores: ArrayLike | None = None,
        points: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        support: ArrayLike | None = None,
        xlabel: str | None = None,
        ylabel: str | None = None,
    ):
        self.xx0, self.xx1 = _places(xx0, "xx0"), _places(xx1, "xx1")
        shape = len(self.xx1), len(self.xx0)
        self.classes = class_list(classes, "classes")
        k = len(self.classes)
        self.response = array(response, "response")
        if self.response.shape != shape or self.response.dtype.kind not in "iu":
            raise ValueError(
                f"response must be integers of shape {shape}, found {self.response.dtype} of shape "
                f"{self.response.shape}"
            )
        if self.response.min() < 0 or self.response.max() >= k:
            raise ValueError(
                f"response must be from 0 to {k - 1}, a number of classes, found {self.response.max()}"
            )
        self.scores = None if scores is None else reals(scores, "scores")
        if self.scores is not None and self.scores.shape != (*shape, k):
            raise ValueError(
                f"scores must have shape {(*shape, k)} for {k} classes, found {self.scores.shape}"
            )
        self.points = None if points is None else point_matrix(points, "points", 2)
        self.labels = None if labels is None else label_vector(labels, "labels")
        if (self.points is None) != (self.labels is None) or (
            self.points is not None and len(self.points) != len(self.labels)  # type: ignore[arg-type]
        ):
            raise ValueError("points and labels must be given both, with a label for each point")
        if self.labels is not None:
            numbers_of(self.labels, self.classes, "labels")
        self.support = None if support is None else point_matrix(support, "support", 2)
        self.xlabel, self.ylabel = text_or_none(xlabel, "xlabel"), text_or_none(ylabel, "ylabel")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike | None = None,
        *,
        grid_resolution: int = 200,
        eps: float | None = None,
        include_support: bool = True,
        styles: Sequence[int] | None = None,
        xlabel: str | None = None,
        ylabel: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the regions of a classifier of two features.

        Parameters
        ----------
        estimator : estimator
            A classifier fitted to two numerical features.
        X : (m, 2) array-like or data frame
            Examples; the picture reaches a little beyond them. They must be those of the training if the
            classifier has ``support_`` and no ``support_vectors_``.
        y : (m,) array-like, optional
            Their labels. Without them no examples are drawn, and the names of the classes stand in the
            regions.
        grid_resolution : int, default=200
            Points on each axis at which the classifier is asked.
        eps : float, optional
            How far the picture reaches beyond the examples; by default a twentieth of their range.
        include_support : bool, default=True
            Whether to draw the support vectors, if the classifier has any; a linear ``CrammerSinger`` or
            ``WestonWatkins`` has them if fitted with ``store_multipliers=True``.
        styles : sequence of int, optional
            See :meth:`plot`.
        xlabel, ylabel : str, optional
            By default the names of the columns of X, if it has names.
        ax : matplotlib Axes, optional
        **kwargs
            Passed on to ``ax.contourf``.

        Returns
        -------
        RegionsDisplay
        """
        check_is_fitted(estimator)
        if not hasattr(estimator, "classes_"):
            raise ValueError(f"estimator must be a classifier, found {estimator!r}")
        columns = list(X.columns) if hasattr(X, "iloc") else None
        points = point_matrix(X, "X")
        if points.shape[1] != 2 or not isinstance(points, np.ndarray):
            raise ValueError(f"X must be an array of two features, found shape {points.shape}")
        if y is not None:
            y = label_vector(y, "y")
            numbers_of(y, class_list(estimator.classes_, "classes_"), "y")
            if len(y) != len(points):
                raise ValueError(f"X and y must be equally many, found {len(points)} and {len(y)}")
        steps = integer(grid_resolution, "grid_resolution", 2, feasible=_FINEST)
        eps = or_none(number, eps, "eps", least=0)
        beyond = np.ptp(points, axis=0) / 20 if eps is None else np.full(2, eps)
        beyond = np.where((np.ptp(points, axis=0) == 0) & (beyond == 0), 1.0, beyond)
        lows, highs = points.min(axis=0) - beyond, points.max(axis=0) + beyond
        xx0, xx1 = (np.linspace(low, high, steps) for low, high in zip(lows, highs, strict=True))
        grid = np.stack(np.meshgrid(xx0, xx1), axis=-1).reshape(-1, 2)
        asked = grid if columns is None else type(X)(grid, columns=columns)
        classes: NDArray[Any] = estimator.classes_
        response = np.searchsorted(classes, estimator.predict(asked)).reshape(steps, steps)
        support = _support(estimator, points) if switch(include_support, "include_support") else None
        if columns is not None:
            xlabel, ylabel = xlabel or str(columns[0]), ylabel or str(columns[1])
        display = cls(
            xx0=xx0,
            xx1=xx1,
            response=response,
            classes=classes,
            scores=_scores(estimator, asked, response),
            points=None if y is None else points,
            labels=y,
            support=support,
            xlabel=xlabel,
            ylabel=ylabel,
        )
        return display.plot(styles=styles, ax=ax, **kwargs)

    def plot(self, *, styles: Sequence[int] | None = None, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the regions, the examples and the support vectors.

        Parameters
        ----------
        styles : sequence of int, optional
            The number of the look of each class, for :func:`mcutils.plot.class_style`; by default from 0 on.
        ax : matplotlib Axes, optional
            By default new ones.
        **kwargs
            Passed on to ``ax.contourf``.

        Returns
        -------
        RegionsDisplay
        """
        k = len(self.classes)
        numbers = list(range(k)) if styles is None else entries(styles, "styles", "a list of numbers")
        if len(numbers) != k:
            raise ValueError(f"styles must have a number for each of the {k} classes, found {styles!r}")
        numbers = [integer(number, "styles", 0) for number in numbers]
        ax = self._axes(ax)
        from ..plot import class_style

        looks = [class_style(number) for number in numbers]
        self._draw_regions(ax, [look["color"] for look in looks], kwargs)
        self.points_, self.support_ = [], None
        if self.points is not None:
            codes = numbers_of(self.labels, self.classes, "labels")  # type: ignore[arg-type]
            for c, look in enumerate(looks):
                mine = self.points[codes == c]
                style = {"linestyle": "none", "markersize": 4, "label": str(self.classes[c]), **look}
                self.points_ += ax.plot(*mine.T, **style)
        if self.support is not None:
            ring = {"marker": "o", "markersize": 8, "markerfacecolor": "none", "markeredgewidth": 0.8}
            ring |= {"color": INK, "linestyle": "none", "label": "support vectors"}
            (self.support_,) = ax.plot(*self.support.T, **ring)
        ax.set(xlim=self.xx0[[0, -1]], ylim=self.xx1[[0, -1]], xlabel=self.xlabel, ylabel=self.ylabel)
        if self.points is not None or self.support is not None:
            several = {"ncols": 2, "handletextpad": 0.2, "columnspacing": 1.0}
            ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), **several)
        return self

    def _draw_regions(self, ax: Any, colors: list[str], kwargs: dict[str, Any]) -> None:
        self.surfaces_ = []
        scores, present = self.scores, np.unique(self.response).tolist()
        exact = scores is not None and np.array_equal(scores.argmax(axis=2), self.response)
        line = {"colors": INK, "linestyles": "-", "linewidths": 1.4}
        for c in present:
            if exact and scores is not None:  # by how much the class is ahead
                lead: Floats = scores[:, :, c] - np.delete(scores, c, axis=2).max(axis=2)
            else:
                lead = (self.response == c) - 0.5
            style = {"colors": [colors[c]], "alpha": 0.2, **kwargs}
            self.surfaces_.append(ax.contourf(self.xx0, self.xx1, lead, levels=[0, np.inf], **style))
            if c != present[-1]:  # the borders of the last are those of the others
                ax.contour(self.xx0, self.xx1, lead, levels=[0], **line)
            if self.points is None:
                self._name_region(ax, c)
        if scores is not None and scores.shape[2] == 2 and self.support is not None:
            lead = scores[:, :, 1] - scores[:, :, 0]
            levels = [level for level in (-1, 1) if lead.min() < level < lead.max()]
            if levels:
                dashed = {**line, "linestyles": "--", "linewidths": 0.9}
                ax.contour(self.xx0, self.xx1, lead, levels=levels, **dashed)

    def _name_region(self, ax: Any, c: int) -> None:
        """Write the name of the class where its region is widest."""
        from scipy.ndimage import distance_transform_edt

        far = distance_transform_edt(np.pad(self.response == c, 1))[1:-1, 1:-1]
        row, column = np.unravel_index(int(far.argmax()), far.shape)
        ground = {"boxstyle": "round,pad=0.1", "facecolor": "white", "alpha": 0.7, "linewidth": 0}
        place = self.xx0[column], self.xx1[row]
        ax.text(*place, str(self.classes[c]), ha="center", va="center", bbox=ground, zorder=3)


def _places(values: ArrayLike, name: str) -> Floats:
    places = reals(values, name)
    if places.ndim != 1 or len(places) < 2 or not (np.diff(places) > 0).all():
        raise ValueError(f"{name} must be at least two increasing numbers, found {values!r}")
    return places


def _scores(estimator: Any, grid: Any, response: NDArray[Any]) -> Floats | None:
    """The scores of all classes on the grid, or None where the classifier has none; of two, 0 and one."""
    if not hasattr(estimator, "decision_function"):
        return None
    scores = np.asarray(estimator.decision_function(grid), dtype=np.float64)
    if scores.ndim == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    if scores.shape[1] != len(estimator.classes_) or not np.isfinite(scores).all():
        return None
    return scores.reshape(*response.shape, -1)


def _support(estimator: Any, points: Floats) -> Any:
    if hasattr(estimator, "support_vectors_"):
        return estimator.support_vectors_ if len(estimator.support_vectors_) else None
    if not hasattr(estimator, "support_"):
        return None
    rows = estimator.support_
    if len(rows) and rows.max() >= len(points):
        raise ValueError(
            f"X must be the {rows.max() + 1} or more examples of the training, among which are the support "
            f"vectors, found {len(points)}; include_support=False leaves them out"
        )
    return points[rows] if len(rows) else None
