"""Hostile inputs end in a clear error: see hostile.py, which also says what is a fault."""

import warnings
import zlib

import hostile
import pytest

SHARE = 12  # one input of so many is tried in every run


def test_every_function_has_a_call():
    assert sorted(hostile.public_functions()) == sorted(hostile.calls())


def new_faults(name: str, share: int) -> dict[str, str]:
    """The faults that no list has; a fault that is listed and found no more is one too."""
    call = hostile.all_calls()[name]
    allowed, known = hostile.lists()
    found, tried = {}, set()
    for argument, value_name, value in hostile.inputs(call):
        stem = f"{name}({argument}) {value_name}"
        if zlib.crc32(stem.encode()) % share == 0:
            tried.add(stem)
            found |= {
                fault.key(): fault.answer for fault in hostile.try_one(call, argument, value_name, value)
            }
    new = {key: answer for key, answer in found.items() if not hostile.pattern_of(key, [*allowed, *known])}
    gone = {key for key in known if key.rsplit(":", 1)[0] in tried} - found.keys()
    return new | dict.fromkeys(gone, "is no fault any more: take it off the list")


@pytest.mark.parametrize("name", hostile.all_calls())
def test_a_sample_of_the_hostile_inputs(name):
    assert new_faults(name, SHARE) == {}


@pytest.mark.ci
@pytest.mark.parametrize("name", hostile.all_calls())
def test_all_hostile_inputs(name):
    assert new_faults(name, 1) == {}


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda a: a + 1, {"object: unclear", "nan: nonsense"}),
        (lambda a: [][0], {"object: deep", "0: deep"}),
        (lambda a: 1, {"object: nonsense", "has nan: nonsense", "empty: nonsense"}),
    ],
)
def test_faults_are_found(function, expected):
    call = hostile.Call("planted", function, {"a": [1.0, 2.0]})
    faults = {
        f"{fault.value}: {fault.kind}"
        for argument, name, value in hostile.inputs(call)
        for fault in hostile.try_one(call, argument, name, value)
    }
    assert expected <= faults


def test_an_endless_call_is_found(monkeypatch):
    monkeypatch.setattr(hostile, "SECONDS", 0.05)

    def endless(a):
        while a:
            pass

    call = hostile.Call("planted", endless, {"a": 0})
    assert [fault.kind for fault in hostile.try_one(call, "a", "True", True)] == ["hang"]


def test_a_named_argument_is_clear_and_a_warning_of_others_a_leak():
    def refuses(a):
        raise ValueError(f"a must be a number, found {a!r}")

    def warns(a):
        warnings.warn("overflow", RuntimeWarning, stacklevel=1)

    assert hostile.try_one(hostile.Call("planted", refuses, {"a": 1}), "a", "object", hostile.Thing()) == []
    (fault,) = hostile.try_one(hostile.Call("planted", warns, {"a": 1}), "a", "0", 0)
    assert fault.kind == "leak"
