"""The mutants that have words: what is taken from their assertions, and what is refused."""

import pytest
from nbformat import from_dict
from nbformat.v4 import new_code_cell, new_notebook

from tools import breaks
from tools.sphinx.units import Check, changed_line

LABEL = "thm-sum"
SOURCE = "total = 1 + 2\nassert total == 3, f'thm-sum: 1 and 2 make {total}, the claim says 3'"
SPOKEN = ["1 + 2", "1 - 2", "take the second number away"]


def witness(*mutants: list[str], labels: tuple[str, ...] = (LABEL,)):
    metadata = {"tags": ["witness"], "witnesses": list(labels), "mutants": list(mutants)}
    return new_code_cell(SOURCE, id="check", metadata=from_dict(metadata))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("thm-sum: 1 and 2 make -1, the claim says 3", "1 and 2 make -1, the claim says 3."),
        ("thm-sum, part 2: with 4 the sum is 5, not 6.", "With 4 the sum is 5, not 6."),
        ("thm-sum, upper end: at n = 7: twice too large", "At n = 7: twice too large."),
        ("thm-sum: n = 7: the sum is 5, not 6", "n = 7: the sum is 5, not 6."),
        ("thm-sum: k=2 with 4: the sum is 5, not 6", "k=2 with 4: the sum is 5, not 6."),
    ],
)
def test_a_reader_is_told_the_sentence_without_the_label(said: str, told: str):
    assert breaks.sentence("AssertionError", said, LABEL) == told


@pytest.mark.parametrize(
    ("error", "said", "complaint"),
    [
        ("", "", "still passes"),
        ("NameError", "name 'x' is not defined", "raised NameError: name 'x'"),
        ("AssertionError", "", "must begin with 'thm-sum: '"),
        ("AssertionError", "thm-sums: 1 and 2 make -1, the claim says 3", "must begin with"),
        ("AssertionError", "thm-sum", "must begin with"),
        ("AssertionError", "thm-sum: is false 1", "at least 20 characters"),
        ("AssertionError", "thm-sum: the sum is not what the claim says", "the numbers that were found"),
        ("AssertionError", "thm-sum: the sum of 1 and 2\nis not what is claimed", "no second line"),
        ("AssertionError", "thm-sum: 1 and 2 make np.int64(-1), claimed 3", "no reprs of numpy"),
    ],
)
def test_a_silent_assertion_is_refused(error: str, said: str, complaint: str):
    with pytest.raises(breaks.Silent, match=complaint.replace("(", r"\(")):
        breaks.sentence(error, said, LABEL)


def test_the_only_statement_of_a_witness_need_not_be_named():
    (mutant,) = breaks.mutants(witness(SPOKEN))
    assert mutant.label == LABEL
    assert not list(breaks.malformed(witness(SPOKEN)))


def test_of_several_statements_the_broken_one_is_named():
    both = (LABEL, "thm-other")
    (complaint,) = breaks.malformed(witness(SPOKEN, labels=both))
    assert "breaks which statement?; name one of the cell's witnesses (thm-sum, thm-other)" in complaint
    assert not list(breaks.malformed(witness([*SPOKEN, "thm-other"], labels=both)))
    (complaint,) = breaks.malformed(witness([*SPOKEN, "thm-third"], labels=both))
    assert "breaks thm-third" in complaint


def test_only_mutants_with_words_are_shown_and_decide_the_key():
    nb = new_notebook(cells=[witness(["== 3", "== 4"], SPOKEN)])
    assert [mutant.words for _, mutant in breaks.spoken(nb)] == [SPOKEN[2]]
    before = breaks.key(nb)
    nb.cells[0].metadata["mutants"][0] = ["== 3", "== 5"]
    nb.cells[0].metadata["mutants"][1][2] = "subtract"  # other words for the same change: nothing is run anew
    assert breaks.key(nb) == before
    nb.cells[0].metadata["mutants"][1][1] = "2 - 1"
    assert breaks.key(nb) != before


def test_the_changed_line_is_shown_with_the_piece_marked():
    source = "def f(n):\n    return 2 * n < 3\n"
    before, after = changed_line(source, breaks.Mutant("2 * n", "4 * n"))
    assert before == "return <del>2 * n</del> &lt; 3"
    assert after == "return <ins>4 * n</ins> &lt; 3"


def test_at_most_four_ways_are_shown():
    mutants = [["1 + 2", f"1 + {n}", f"make the second number {n}"] for n in range(3, 9)]
    nb = new_notebook(cells=[witness(*mutants)])
    check = Check(LABEL, nb, {"check": [f"It is {n}." for n in range(6)]})
    assert [found for _, _, found in check.ways] == ["It is 0.", "It is 1.", "It is 2.", "It is 3."]
    assert check.html().count("<summary>") == 4
