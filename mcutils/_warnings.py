"""Warnings that name the user's line, from however deep in the package."""

import sys
import warnings
from pathlib import Path

from sklearn.exceptions import ConvergenceWarning

_PACKAGE = str(Path(__file__).parent)


def warn(message: str | Warning, category: type[Warning] = ConvergenceWarning) -> None:
    """Warn at the innermost line that is not in this package."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
