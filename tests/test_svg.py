"""Pictures in fewer bytes."""

import io
import re

import matplotlib.pyplot as plt
import pytest

from tools.sphinx import svg


@pytest.fixture(scope="module")
def picture() -> str:
    figure, axes = plt.subplots()
    axes.scatter(range(40), range(40))
    axes.plot(range(10), [n % 2 for n in range(10)], "s")
    axes.contourf([[n * m % 7 for n in range(9)] for m in range(9)])
    file = io.StringIO()
    figure.savefig(file, format="svg")
    plt.close(figure)
    return file.getvalue()


def test_equal_markers_in_a_row_are_one_path(picture: str):
    found = svg.smaller(picture)
    assert len(found) < 0.6 * len(picture)
    dots = re.search(r'<path d="([^"]*)" style="fill: none; stroke: none; marker: url\(#row0\)"', found)
    assert dots is not None
    # where they were, to a hundredth, as steps
    shape = re.search(r'xlink:href="#(m\w+)"', picture)
    assert shape is not None
    first, *rest = re.findall(rf'<use xlink:href="#{shape[1]}" x="([\d.]+)" y="([\d.]+)"', picture)
    assert len(rest) == 39
    start = re.match(r"M([\d.]+) ([\d.]+)", dots[1])
    assert start is not None
    steps = [float(step) for step in re.findall(r"-?(?:\d+\.?\d*|\.\d+)", dots[1][start.end() :])]
    for axis in (0, 1):
        place = float(start[axis + 1])
        assert place == pytest.approx(float(first[axis]), abs=0.0051)
        for n, point in enumerate(rest):
            place += steps[2 * n + axis]
            assert place == pytest.approx(float(point[axis]), abs=0.0051)


def test_markers_of_two_styles_stay_apart():
    use = '<use xlink:href="#m" x="1" y="2" style="fill: {}"/>\n'
    red, blue = use.format("red"), use.format("blue")
    assert svg.smaller(red + blue + red) == red + blue + red
    assert svg.smaller(red + red + blue).count("<use") == 2


@pytest.mark.parametrize("path", ["m 1 1 l 2 2", "M 1 1 A 2 2 0 0 0 3 3", "M1,1"])
def test_a_path_written_in_another_way_stays(path: str):
    assert svg.steps(path) == path


def test_after_the_end_of_a_curve_steps_begin_where_it_began():
    assert svg.steps("M 1 1 L 3 1 L 3 3 z M 1.004 2 L 2 2 z") == "M1 1l2 0 0 2zM1 2l1 0z"
    assert svg.steps("M 1 1 L 3 1 z L 1 5") == "M1 1l2 0zl0 4"
