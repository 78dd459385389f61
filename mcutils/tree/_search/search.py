"""The search for the best question at a node."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..._typing import Bools, Floats, Ints
from .._columns import Columns
from .._limits import ITEMS, LEVELS, TIE
from . import axis, custom, oblique, sphere
from .measure import Measure
from .node import Candidate, Node


class Search:
    """The search for the best question at a node, of any family, by any impurity."""

    def __init__(
        self,
        X: Floats,
        codes: Ints,
        columns: Columns,
        measure: Measure,
        families: tuple[Any, ...],
        fewest: int,
        lightest: float = 0.0,
        names: Sequence[str] | None = None,
        purest: float | None = None,
    ):
        self.X, self.codes, self.columns, self.measure = X, codes, columns, measure
        # of equal questions the numerical and categorical win
        self.families = tuple(sorted(families, key=lambda family: family not in ("numerical", "categorical")))
        self.names, self.purest = names, purest
        self.fewest, self.lightest = fewest, lightest * float(measure.total.sum()) * (1.0 - 1e-12)
        self.n_levels = columns.n_levels
        self.width = int(self.n_levels.max(initial=0))
        self.values = np.ascontiguousarray(X.T)
        self.inside = np.zeros(len(X), dtype=np.bool_)
        named = {family for family in families if family in ("numerical", "categorical")}
        used = np.where(self.n_levels > 0, "categorical" in named, "numerical" in named)
        self.left_out = (~used).astype(np.uint8)
        self.numerical = np.flatnonzero(~columns.categorical)

    def root(self) -> Node:
        """All items, every column sorted."""
        from ...jit import tree as jit

        d, m = self.values.shape
        keys = np.empty((d, m), dtype=np.int64)
        for j in range(d):
            if not jit.count_sort(self.values[j], self.codes, keys[j]):
                jit.pack(self.values[j], np.argsort(self.values[j]), self.codes, keys[j])
        return Node(keys, self.measure.total)

    def counts(self, items: Ints) -> Floats:
        """The weights of the classes among some items."""
        weights = self.measure.weights[items] if self.measure.weighted else None
        return np.bincount(self.codes[items], weights, minlength=self.measure.k).astype(np.float64)

    def children(self, node: Node, positive: Bools) -> tuple[Node, Node]:
        """The items that answer no, and those that answer yes."""
        sides = []
        self.inside[node.items] = positive
        mask = self.inside[node.keys & (ITEMS - 1)]
        for side, chosen in ((node.items[~positive], ~mask), (node.items[positive], mask)):
            sides.append(Node(node.keys[chosen].reshape(len(node.keys), -1), self.counts(side)))
        return sides[0], sides[1]

    def is_open(self, node: Node, fewest_split: int = 2) -> bool:
        """Whether a node is impure and large enough."""
        large = len(node) >= max(fewest_split, 2 * self.fewest) and node.total.sum() >= 2 * self.lightest
        if not large or (node.total > 0).sum() < 2:
            return False
        return self.purest is None or self.measure.impurity(node.total) > self.purest * (1 + 1e-12)

    def best(self, node: Node, ahead: int = 1) -> Candidate | None:
        """The best question, looking ``ahead`` levels ahead."""
        if ahead > 1:
            return self._best_ahead(node, ahead)
        best: Candidate | None = None
        done = False
        for family in self.families:
            if family in ("numerical", "categorical"):
                if done:
                    continue
                done = True
                candidates = axis.best_question(self, node)
            elif family == "oblique":
                candidates = oblique.best_question(self, node)
            elif family == "sphere":
                candidates = sphere.best_question(self, node)
            else:
                candidates = custom.best_question(self, node, family)
            if candidates is not None and (best is None or candidates.gain > best.gain):
                best = candidates
        if best is not None:
            best.ahead = best.gain
        return best

    def best_of_some(self, node: Node, most: int, random: np.random.RandomState) -> Candidate | None:
        """The best question about some columns, drawn; more of them until a question divides the node."""
        drawn, every = random.permutation(np.flatnonzero(self.left_out == 0)), self.left_out
        best = None
        for end in range(most, max(most, len(drawn)) + 1):
            self.left_out = np.ones_like(every)
            self.left_out[drawn[:most] if end == most else drawn[end - 1 : end]] = 0
            best = self.best(node)
            if best is not None:
                break
        self.left_out = every
        return best

    def _best_ahead(self, node: Node, ahead: int) -> Candidate | None:
        best: tuple[int, float] | None = None
        chosen: Candidate | None = None
        unit = 2 * TIE * float(node.total.sum())
        for outcomes in self._all(node):
            outcomes.ahead = outcomes.gain
            for child in self.children(node, outcomes.positive):
                if self.is_open(child):
                    following = self.best(child, ahead - 1)
                    outcomes.ahead += 0.0 if following is None else following.ahead
            value = round(outcomes.ahead / unit), outcomes.gain
            if best is None or value > best:
                best, chosen = value, outcomes
        return chosen

    def _all(self, node: Node) -> Iterator[Candidate]:
        """Every question of the families, for looking ahead."""
        done = False
        for family in self.families:
            if callable(family):
                yield from custom.all_questions(self, node, family)
            elif not done:
                done = True
                yield from axis.all_questions(self, node)

    def mask(self, node: Node, items: Ints) -> Bools:
        """Which items of a node are among these."""
        self.inside[node.items] = False
        self.inside[items] = True
        return self.inside[node.items]

    def gain(self, node: Node, positive: Bools) -> float:
        """The total decrease of the impurity if these items of a node answer yes."""
        return self.measure.gain(self.counts(node.items[~positive]), self.counts(node.items[positive]))

    def outcome(self, node: Node, question: Any, rows: Floats) -> Candidate | None:
        """What a question does at a node; None if it does not divide it, or by too little."""
        positive = np.asarray(question.answer(rows))
        if positive.shape != (len(rows),) or positive.dtype != np.bool_:
            raise ValueError(
                f"answer of {question!r} must be {len(rows)} booleans, "
                f"found {positive.dtype} of shape {positive.shape}"
            )
        if min(positive.sum(), (~positive).sum()) < self.fewest:
            return None
        light = min(self.counts(node.items[side]).sum() for side in (positive, ~positive))
        if light < self.lightest:
            return None
        return Candidate(self.gain(node, positive), positive, question=question)

    def refuse_levels(self, j: int, L: int) -> None:
        """Refuse too many levels."""
        name = str(j) if self.names is None else repr(str(self.names[j]))
        barred = self.fewest > 1 or self.lightest > 0
        small = ", or small sets barred by min_samples_leaf or min_weight_fraction_leaf" if barred else ""
        raise ValueError(
            f"column {name} has {L} levels at a node with more than two classes{small}: all subsets are "
            f"searched, which is allowed up to {LEVELS} levels. Join rare levels, or give it as numbers."
        )

    def cumulated_counts(self, node: Node, j: int) -> tuple[Floats, Floats, Bools]:
        """The counts on both sides of every place of a column, and which places may divide it."""
        row, n = node.keys[j], len(node)
        counts = np.zeros((n, self.measure.k))
        items = row & (ITEMS - 1)
        counts[np.arange(n), self.codes[items]] = (
            self.measure.weights[items] if self.measure.weighted else 1.0
        )
        some = counts.cumsum(axis=0)[:-1]
        places = np.arange(1, n)
        allowed = (row[1:] >> 40) != (row[:-1] >> 40)
        allowed &= (places >= self.fewest) & (n - places >= self.fewest)
        rest = np.maximum(node.total - some, 0.0)
        allowed &= np.minimum(some.sum(axis=1), rest.sum(axis=1)) >= self.lightest
        return rest, some, allowed

    def best_threshold(self, node: Node, values: Floats) -> tuple[float, float] | None:
        """The best threshold of values of the items, and the decrease; what is missing answers no."""
        from ...jit import tree as jit

        measure, items = self.measure, node.items
        keys = np.empty(len(items), dtype=np.int64)
        order = np.argsort(values, kind="stable")
        jit.pack(values, order, self.codes[items], keys)
        if measure.code < 0:
            local = Node(items[order][None] | (keys & ~np.int64(ITEMS - 1))[None], node.total)
            best = measure.first_best(*self.cumulated_counts(local, 0))
            place = -1 if best is None else best[0]
        else:
            weights = measure.weights[items] if measure.weighted else measure.weights
            size = node.total.sum()
            place, *_ = jit.scan(
                keys,
                0,
                len(keys),
                measure.code,
                measure.exact,
                measure.weighted,
                weights,
                node.total,
                size,
                measure.table,
                measure.costs,
                self.fewest,
                self.lightest,
                -np.inf,
                0,
                0,
            )
        if place < 0:
            return None
        threshold = jit.between(values[order[place]], values[order[place + 1]])
        return threshold, self.gain(node, values <= threshold)
