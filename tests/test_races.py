"""The races on the page of benchmarks: a loss is as plain as a win, and nothing is left out."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sphinx.errors import SphinxError

from benchmarks import strangers
from benchmarks.race import of_groups
from tools.sphinx import races

ROOT = Path(__file__).parent.parent


def race(name: str, median: float, title: str = "Decode", peer: str = "a peer") -> dict[str, Any]:
    return {
        "id": name,
        "title": title,
        "peer": peer,
        "condition": "1,000 rows, one thread",
        "ratio": {"median": median, "low": median / 2, "high": median * 2},
        "repeats": 7,
        "claim": "at most 0.7",
        "seconds": {"ours": 1.2, "peer": 2.0},
    }


RACES = [
    race("tree-b", 1.3, "Grow, deep"),
    race("codes-a", 0.5, "Decode, all"),
    race("codes-b", 1.57, "Decode, one", "<b>"),
    race("codes-c", 1.2, "Decode, two"),
]
ORDER = ["codes", "tree"]


def drawn() -> str:
    return "\n".join(races.plot(races.by_chapter(RACES, ORDER), {name: name for name in ORDER}))


def rows(html: str) -> list[tuple[str, str, str, str]]:
    """Class, race, picture and number of each row that is no head."""
    row = r'<tr class="(slower|faster)"><th scope="row">(.*?)</th><td>(.*?)</td><td>(.*?)</td></tr>'
    return re.findall(row, html)


def place(picture: str) -> float:
    """Where the mark is, in per cent of the width."""
    found = re.search(r'(?:<circle cx|<svg x)="([\d.]+)%"', picture)
    assert found
    return float(found[1])


def test_chapters_stand_in_the_order_of_the_book_and_the_slowest_race_first() -> None:
    shown = [(name, [race["id"] for race in group]) for name, group in races.by_chapter(RACES, ORDER)]
    assert shown == [("codes", ["codes-b", "codes-c", "codes-a"]), ("tree", ["tree-b"])]


def test_a_race_of_no_chapter_is_refused() -> None:
    with pytest.raises(SphinxError, match=r"the race tree-b is of 'tree', which is no chapter"):
        races.by_chapter(RACES, ["codes"])


def test_losses_are_counted_and_named() -> None:
    assert races.summary(races.by_chapter(RACES, ORDER)) == (
        "`mcutils` is faster in 1 of 4 races, and slower in 3: 2 of 3 in {doc}`/chapters/codes` (by up to a "
        "factor 1.57); 1 of 1 in {doc}`/chapters/tree` (by a factor 1.30)."
    )
    assert races.summary(races.by_chapter(RACES[1:2], ORDER)) == "`mcutils` is faster in 1 of 1 races."


def test_losses_have_another_shape_another_side_and_a_word() -> None:
    html = drawn()
    (one,) = set(re.findall(r'<line x1="([\d.]+)%"[^>]*class="one"/>', html))
    for word, _, picture, number in rows(html):
        assert number.endswith(f"<small>{word}</small>")
        assert ("<circle" in picture) == (word == "faster")
        assert ("<path" in picture) == (word == "slower")
        assert (place(picture) > float(one)) == (word == "slower")


def test_distances_are_those_of_logarithms() -> None:
    scale = races.Scale(RACES)
    a, b, c = (float(scale(ratio).rstrip("%")) for ratio in (0.5, 1.0, 2.0))
    assert abs((c - b) - (b - a)) < 0.02
    assert 0 < float(scale(0.25).rstrip("%")) < float(scale(3.14).rstrip("%")) < 100


def test_what_all_races_of_a_chapter_share_stands_in_its_head() -> None:
    html = drawn()
    assert "codes <small>Decode, 1,000 rows, one thread</small>" in html
    names = [name for _, name, _, _ in rows(html)]
    assert names == ["one, against &lt;b&gt;", "two, against a peer", "all, against a peer", "Grow"]


def test_the_real_races_are_all_shown() -> None:
    found = races.read(ROOT)["races"]
    order = sorted({races.topic_of(one) for one in found})
    html = "\n".join(races.plot(races.by_chapter(found, order), dict.fromkeys(order, "")))
    assert len(rows(html)) == len(found) > 50
    assert sum(word == "slower" for word, *_ in rows(html)) == sum(
        one["ratio"]["median"] > 1 for one in found
    )
    assert len({name for _, name, _, _ in rows(html)}) > len(found) * 0.9
    assert all(name for _, name, _, _ in rows(html))


def test_the_table_has_seconds_spread_and_promise() -> None:
    results = {"machine": {"cores": 2}, "versions": {"numpy": "2.4.6"}, "date": "2026-11-18"}
    text = "\n".join(races.numbers(results, races.by_chapter(RACES[1:2], ORDER)))
    assert "1.2 s (ours) against 2 s (a peer)" in text
    assert "**0.500** (0.250 to 1.00, 7 repeats); promised: at most 0.7" in text
    assert "Measured 2026-11-18 on cores 2; numpy 2.4.6." in text


def test_races_of_a_group_are_summed_up() -> None:
    ungrouped = race("tree-b", 9.0)
    found = [ungrouped, *(race("codes-a", ratio) | {"group": "strange"} for ratio in (0.5, 2.0, 4.0))]
    assert of_groups(found) == {"strange": {"races": 3, "mean": 1.59, "worst": 4.0}}  # the root of 4
    assert of_groups([ungrouped]) == {}


def test_strange_sets_differ() -> None:
    """In size, features and classes; each comes as points of finite numbers with labels from 0."""
    shapes = []
    for _, X, y in strangers.sets():
        shapes.append((*X.shape, int(y.max()) + 1))
        assert np.isfinite(X).all()
        assert np.array_equal(np.unique(y), np.arange(y.max() + 1))
    assert len(set(shapes)) == len(shapes) == 10
    assert {min(column) for column in zip(*shapes, strict=True)} == {2, 3, 178}
    assert {max(column) for column in zip(*shapes, strict=True)} == {26, 784, 10_000}


def test_missing_results_are_named(tmp_path: Path) -> None:
    with pytest.raises(SphinxError, match=r"results/benchmarks.json is missing: .*make bench"):
        races.read(tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / races.RESULTS).write_text(json.dumps({"races": []}))
    assert races.read(tmp_path) == {"races": []}


def test_a_group_is_one_row_with_its_mean_and_its_worst() -> None:
    group = [race(f"codes-{name}", ratio) | {"group": "Strange"} for name, ratio in (("d", 0.5), ("e", 2.0))]
    *others, found = sorted(races.together(RACES + group), key=lambda race: "group" in race)
    assert sorted(others, key=str) == sorted(RACES, key=str)
    assert (found["title"], found["ratio"]) == ("Strange", {"median": 1.0, "low": 0.5, "high": 2.0})
    assert "of 2 races, the worst 2.00" in found["condition"]
    said = [races.summary(races.by_chapter(some, ORDER)) for some in (RACES, RACES + group)]
    assert ["strange sets" in one for one in said] == [False, True]
