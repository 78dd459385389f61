"""The picture that other sites show beside a link: committed, and as the tool draws it today."""

import io

import matplotlib.image
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure
from numpy.typing import NDArray

from tools import preview


def pixels(figure: Figure) -> NDArray[np.float64]:
    file = io.BytesIO()
    figure.savefig(file)
    plt.close(figure)
    file.seek(0)
    return np.asarray(matplotlib.image.imread(file), dtype=float)[..., :3]


def differs(figure: Figure) -> bool:
    """Whether it looks different from the committed one, by more than the edges of letters may."""
    committed = np.asarray(matplotlib.image.imread(preview.FILE), dtype=float)[..., :3]
    return bool(np.mean(np.abs(committed - pixels(figure)) > 0.2) > 0.001)


def test_the_picture_has_the_size_that_the_pages_say():
    height, width, _ = matplotlib.image.imread(preview.FILE).shape
    assert (width, height) == preview.SIZE == (1200, 630)
    assert preview.FILE.stat().st_size < 200_000


@pytest.mark.ci
def test_the_picture_is_drawn_from_the_book(monkeypatch: pytest.MonkeyPatch):
    with plt.rc_context():
        assert not differs(preview.draw())
        monkeypatch.setattr("mcutils.plot.CLASS_COLORS", ("#0072b2", "#1ea578", "#d55e00"))
        assert differs(preview.draw())
