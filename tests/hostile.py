"""Hostile inputs for every public function and estimator of mcutils, one argument spoilt at a time.

The calls that are spoilt are those of the docstrings' examples: they are recorded while the examples run. An
answer to a spoilt call is one of

- a clear error: a ValueError or TypeError that names the argument (for a wrong size, another argument will
  do: X of three rows and y of four are a fault of either),
- an answer that the value allows: 2.5 where a number is asked for,
- a fault: any other error, nonsense accepted, no end within the limit, a warning of another library's.

``python tests/hostile.py [NAME…]`` prints every fault of these modules, functions or estimators. What looks
like a fault and is none stands in ``hostile.toml`` under ``allowed``, with a reason; known faults stand
under ``faults``, a list that only shrinks (tests/test_hostile.py).
"""

import contextlib
import copy
import doctest
import inspect
import io
import re
import resource
import signal
import sys
import tomllib
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from fractions import Fraction
from functools import cache, partial, wraps
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from estimators import ESTIMATORS
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.validation import has_fit_parameter

import mcutils

LISTS = Path(__file__).with_suffix(".toml")
SECONDS = 5  # more than thirty times what the slowest example takes
MEMORY = 6 << 30  # bytes of addresses: room for every example, not for a billion floats


class Thing:
    """An object that is good for nothing."""

    def __repr__(self) -> str:
        return "<thing>"


# ---- what is put in place of an argument ----

# never what an argument means, but for the few that mean anything, as labels and titles (see hostile.toml)
NONSENSE = {
    "object": Thing(),
    "text": "no such",
    "bytes": b"x",
    "complex": 1j,
    "dict": {"a": 1},
    "set": {1, 2},
    "date": np.datetime64("2020-01-01"),
    "nan": float("nan"),
    "ragged": [1, [2, 3]],
}
# may be what it means; must not end in an error from inside, or not at all
EXTREME = {
    "inf": float("inf"),
    "-inf": -float("inf"),
    "1e300": 1e300,
    "-1": -1,
    "0": 0,
    "2.5": 2.5,
    "10**9": 10**9,
    "10**20": 10**20,
    "True": True,
    "None": None,
    "'1'": "1",
    "[]": [],
    "[[]]": [[]],
    "cube": np.ones((2, 2, 2)),
    "fraction": Fraction(1, 3),
}
# of an array of numbers, the same with one thing wrong
NEVER_AN_ARRAY = ("has nan", "has inf", "complex array", "text array", "has none", "empty")
OF_ANOTHER_SIZE = ("[]", "[[]]", "cube", "shorter", "deeper", "flat", "narrower", "empty")


def spoilt_arrays(value: Any) -> Iterator[tuple[str, Any]]:
    if not isinstance(value, list | tuple | np.ndarray):
        return
    try:
        array = np.asarray(value)
    except ValueError:  # it is ragged by itself
        return
    if array.dtype.kind not in "buif" or array.ndim == 0 or array.size == 0:
        return
    first = np.arange(array.size).reshape(array.shape) == 0
    for name, entry in (("has nan", np.nan), ("has inf", np.inf), ("has 1e300", 1e300)):
        yield name, np.where(first, entry, array.astype(float))
    yield "complex array", array.astype(complex)
    yield "text array", array.astype(str)
    yield "has none", np.where(first, None, array.astype(object))
    yield "negated", -array.astype(float)
    yield "shorter", array[:-1]
    yield "empty", array[:0]
    yield "deeper", array[None]
    yield "flat", array.ravel() if array.ndim > 1 else array[:, None]
    if array.ndim > 1:
        yield "narrower", array[:, :-1]


def spoilt(value: Any) -> Iterator[tuple[str, Any]]:
    yield from NONSENSE.items()
    yield from EXTREME.items()
    yield from spoilt_arrays(value)


# ---- the calls ----


class Call(NamedTuple):
    name: str  # "risk.top_k"
    function: Callable[..., Any]
    arguments: dict[str, Any]


def display_methods() -> dict[str, tuple[type, str]]:
    """Of each display the constructor and the methods, by the names that are tried."""
    classes = {name: getattr(mcutils.display, name) for name in mcutils.display.__all__}
    return {
        f"display.{name}" + ("" if method == "__init__" else f".{method}"): (cls, method)
        for name, cls in classes.items()
        for method in vars(cls)
        if method == "__init__" or (not method.startswith("_") and callable(getattr(cls, method)))
    }


def public_functions() -> dict[str, Callable[..., Any]]:
    functions: dict[str, Callable[..., Any]] = {
        name: getattr(cls, method) for name, (cls, method) in display_methods().items()
    }
    for module in map(import_module, (f"mcutils.{name}" for name in mcutils.MODULES)):
        for name in module.__all__:
            member = getattr(module, name)
            if inspect.isfunction(member):
                functions[f"{module.__name__.removeprefix('mcutils.')}.{name}"] = member
    return functions


@cache
def calls() -> dict[str, Call]:
    """The first call of each public function in the examples of the docstrings."""
    methods = display_methods()
    functions = {name: function for name, function in public_functions().items() if name not in methods}
    recorded: dict[str, Call] = {}
    recorders = {}
    running: list[str] = []  # what a function calls in its turn is no example

    def recorder(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def record(*positional: Any, **named: Any) -> Any:
            if running or name in recorded:
                return function(*positional, **named)
            given, more = copy.deepcopy((positional, named))
            running.append(name)
            try:
                result = function(*positional, **named)  # an example of an error is no call to begin with
            finally:
                running.pop()
            recorded[name] = Call(name, function, inspect.signature(function).bind(*given, **more).arguments)
            return result

        return record

    for name, function in functions.items():
        recorders[function] = recorder(name, function)

    def method_recorder(name: str, cls: type, method: str) -> Any:
        """Records what one method of a display calls of another, too."""
        raw = vars(cls)[method]
        function = getattr(raw, "__func__", raw)

        @wraps(function)
        def record(own: Any, /, *positional: Any, **named: Any) -> Any:
            arguments = inspect.signature(function).bind(own, *positional, **named).arguments
            given = copy.deepcopy(dict(list(arguments.items())[1:]))
            result = function(own, *positional, **named)
            bound = cls if method == "__init__" else partial(function, own)
            recorded.setdefault(name, Call(name, bound, given))
            return result

        return classmethod(record) if isinstance(raw, classmethod) else record

    finder = doctest.DocTestFinder()
    runner = doctest.DocTestRunner(verbose=False)
    modules = [import_module(f"mcutils.{name}") for name in mcutils.MODULES]
    originals: list[tuple[Any, str, Any]] = [
        (module, name, value) for module in modules for name, value in vars(module).items()
    ]
    for module, name, value in originals:
        if inspect.isfunction(value) and value in recorders:
            setattr(module, name, recorders[value])
    originals += [(cls, method, vars(cls)[method]) for cls, method in methods.values()]
    for name, (cls, method) in methods.items():
        setattr(cls, method, method_recorder(name, cls, method))
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(), mpl.rc_context():
            warnings.simplefilter("ignore")
            for module in modules:
                for test in finder.find(module):
                    runner.run(test)
    finally:
        for owner, name, value in originals:
            setattr(owner, name, value)
    return recorded


# examples on which every estimator is fitted: three classes, or the first two
X = np.array([[0.0, 1], [1, 0.5], [0.2, 0.3], [2, 2], [3, 1], [2.5, 2], [0.5, 3], [1.5, 4], [0.1, 4]])
Y = np.repeat([0, 1, 2], 3)


def fit_and_predict(
    model: Any, /, X: Any, y: Any, predict: Any, sample_weight: Any = None, **parameters: Any
) -> Any:
    model = clone(model).set_params(**parameters)
    more = {} if sample_weight is None else {"sample_weight": sample_weight}
    return model.fit(X, y, **more).predict(predict)


def call_of(model: Any, binary: bool = False) -> Call:
    """Fit and predict: every parameter, X, y and sample_weight of fit, and the X of predict can be spoilt."""
    m = 6 if binary else 9
    data = {"X": X[:m], "y": Y[:m], "predict": X[:m]}
    if has_fit_parameter(model, "sample_weight"):
        data["sample_weight"] = np.ones(m)
    arguments = {**data, **model.get_params(deep=False)}
    return Call(type(model).__name__, partial(fit_and_predict, model), arguments)


# ---- the answers ----


class Fault(NamedTuple):
    call: str
    argument: str
    value: str
    kind: str  # unclear, deep, nonsense, hang, leak
    answer: str

    def key(self) -> str:
        return f"{self.call}({self.argument}) {self.value}: {self.kind}"


class Endless(BaseException):
    """No end within the limit; no `except Exception` on the way may catch it."""


@contextlib.contextmanager
def limits() -> Iterator[None]:
    """A limit of time and of memory for what follows."""

    def ring(*_: Any) -> None:
        raise Endless

    old = signal.signal(signal.SIGALRM, ring)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, hard))
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def clear(error: Exception, blamed: list[str]) -> bool:
    """Whether it names an argument that is to blame; scikit-learn's own checks of X and y will do."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    if {"X", "y"} & set(blamed) and "/sklearn/utils/" in frame.filename:
        return True
    return any(re.search(rf"(?<!\w){re.escape(argument)}(?!\w)", str(error)) for argument in blamed)


def parameters(call: Call) -> dict[str, Any]:
    """What can be spoilt: the arguments given, and the defaults of the others."""
    signature = inspect.signature(call.function).parameters.values()
    named = [one for one in signature if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    defaults = {one.name: one.default for one in named if one.default is not one.empty}
    return {**defaults, **call.arguments}


def try_one(call: Call, argument: str, name: str, value: Any) -> list[Fault]:
    arguments = {**copy.deepcopy({k: v for k, v in call.arguments.items() if k != argument}), argument: value}
    blamed = list(parameters(call)) if name in OF_ANOTHER_SIZE else [argument]
    blamed += ["X"] * (argument == "predict")
    kind = answer = ""
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            with limits(), contextlib.redirect_stdout(io.StringIO()):
                result = call.function(**arguments)
                if inspect.isgenerator(result):
                    next(result, None)
            if name in NONSENSE or name in NEVER_AN_ARRAY:
                kind, answer = "nonsense", re.sub(r"\s+", " ", repr(result))[:80]
        except Endless:
            kind, answer = "hang", f"no end in {SECONDS} seconds"
        except Exception as error:
            if not isinstance(error, ValueError | TypeError):
                kind = "deep"
            elif not clear(error, blamed):
                kind = "unclear"
            answer = re.sub(r"\s+", " ", f"{type(error).__name__}: {error}")[:120]
    faults = [Fault(call.name, argument, name, kind, answer)] if kind else []
    for one in warned:
        if not one.category.__module__.startswith(("mcutils", "sklearn.exceptions")):
            text = re.sub(r"\s+", " ", f"{one.category.__name__}: {one.message}")[:120]
            return [*faults, Fault(call.name, argument, name, "leak", text)]
    return faults


def inputs(call: Call) -> Iterator[tuple[str, str, Any]]:
    for argument, present in parameters(call).items():
        for name, value in spoilt(present):
            if (argument, name) != ("n_jobs", "-1"):  # that is a value; starting workers takes its time
                yield argument, name, value


def lists() -> tuple[dict[str, str], list[str]]:
    """Why a pattern is allowed, and the faults that are known."""
    read = tomllib.loads(LISTS.read_text(encoding="utf-8"))
    return {pattern: group["why"] for group in read["allowed"] for pattern in group["inputs"]}, read["faults"]


def pattern_of(key: str, allowed: Iterable[str]) -> str | None:
    """The first pattern that covers the key; ``*`` stands for anything."""
    return next((pattern for pattern in allowed if fnmatchcase(key, pattern)), None)


@cache
def all_calls() -> dict[str, Call]:
    models = {
        name: call_of(clone(facts.configurations[0]), facts.binary) for name, facts in ESTIMATORS.items()
    }
    for name, model in models.items():
        # LIBLINEAR, the base learner in some of them, has no end for weights of 1e300
        if "estimator" in model.arguments and name != "WithProbabilities":
            model.arguments["estimator"] = GaussianNB()
    functions = calls()
    # drawing that of the default takes its time
    functions["display.RegionsDisplay.from_estimator"].arguments["grid_resolution"] = 20
    return {**functions, **models}


def main(wanted: list[str]) -> None:
    tried = 0
    for call in all_calls().values():
        if wanted and not {call.name, call.name.split(".")[0]} & set(wanted):
            continue
        for argument, name, value in inputs(call):
            tried += 1
            for fault in try_one(call, argument, name, value):
                if not pattern_of(fault.key(), lists()[0]):
                    print(fault.key(), "|", fault.answer)
    print(tried, "inputs", file=sys.stderr)


if __name__ == "__main__":
    mpl.use("agg")
    main(sys.argv[1:])
