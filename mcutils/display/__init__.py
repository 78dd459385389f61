"""Displays: pictures of a classifier, of a code, of a training, in scikit-learn's manner.

They serve several chapters, and have none of their own. A display is made by ``from_estimator`` or
``from_predictions``, which draw it at once, or by its constructor from what it shows; ``plot`` draws it, as
often as wanted, in axes that are given or in new ones, and returns the display. ``ax_`` and ``figure_`` are
where it was drawn last; further names that end in ``_`` are what was drawn, to be changed as one likes.
Colours and markers are those of :mod:`mcutils.plot`, and no picture depends on colour. matplotlib is loaded
when something is drawn.

>>> from matplotlib.figure import Figure
>>> from mcutils import display
>>> shown = display.ConfusionDisplay.from_predictions(list("aab"), list("aba"), ax=Figure().subplots())
>>> [text.get_text() for text in shown.interval_text_]
['50% (1–99)', '0% (0–98)']
"""

from .._public import set_public_module
from ._code import CodeDisplay
from ._confusion import ConfusionDisplay
from ._gap import GapDisplay
from ._margin import MarginDisplay
from ._pruning import PruningDisplay
from ._regions import RegionsDisplay
from ._reliability import ReliabilityDisplay

__all__ = [
    "CodeDisplay",
    "ConfusionDisplay",
    "GapDisplay",
    "MarginDisplay",
    "PruningDisplay",
    "RegionsDisplay",
    "ReliabilityDisplay",
]

set_public_module(globals())
