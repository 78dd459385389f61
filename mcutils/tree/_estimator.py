"""The estimator, which grows a tree, and the search at a single node."""

import heapq
from collections.abc import Sequence
from functools import partial
from math import ceil
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import ClassifierMixin, clone
from sklearn.utils import Bunch, Tags, check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from .._base import Estimator
from .._checks import entries, in_memory, integer, number, one_of, or_name, or_none, seed
from .._typing import Criterion, Floats, Ints
from .._weights import example_weights, times_class_weight
from ._columns import Columns, categorical_columns, levels_are_declared
from ._impurity import check_cost, check_criterion, impurities
from ._limits import CLASSES, DEEPEST, ENTRIES, ITEMS, MOST
from ._questions import OTHER, Split, check_families, make_question, question_text
from ._search.measure import Measure
from ._search.node import Candidate
from ._search.search import Search
from ._tree import Tree


class DecisionTree(ClassifierMixin, Estimator):
    r"""A decision tree: one question after the other (def-tree-tree, alg-tree-greedy).

    Parameters
    ----------
    criterion : {"gini", "entropy", "log_loss", "misclassification"} or callable
        The impurity; "log_loss" is the entropy. A callable takes class distributions, the rows of an array,
        and returns their impurities; it must be concave.
    questions : str, callable, or several of them in a tuple
        The families of questions, of which each node takes the best. "numerical": :math:`X_j \le a`, with
        thresholds half-way between neighbouring values. "categorical": :math:`X_j \in A`; with two classes at
        the node by the order of the levels, else through all subsets, up to 20 levels. "oblique":
        :math:`\sum_j \alpha_j X_j \le b`, climbing from the best of some directions, the axes among them, so
        that it is never worse than a numerical question; the best of all is not promised. "sphere":
        :math:`\|X - a_0\| \le r` with :math:`a_0` a mean of a class or one of at most 256 items, and every r.
        A function is given the items of a node, their class codes and their weights, and returns
        questions: objects with a method ``answer``, from rows to booleans. (Levels are numbers there.) Of
        equal questions the numerical and categorical win over others, and among others the family named
        first.
    priority : {"weighted", "unweighted"}
        Which node is split next: that of the largest :math:`|n| \tilde F`, or :math:`\tilde F`. It matters
        where ``max_leaf_nodes`` ends the growth.
    max_leaf_nodes : int, optional
        The largest number of leaves.
    max_depth : int, optional
        The largest depth of a leaf.
    min_samples_split : int or float
        A node with fewer items is a leaf. A float is a part of all items, rounded upwards, and at least 2.
    min_samples_leaf : int or float
        The least number of items on each side of a question. A float is a part of all items, rounded upwards.
    min_weight_fraction_leaf : float
        A question must leave this part of the weight of all items on either side; from 0 to 0.5.
    min_impurity_decrease : float
        A node is split only if :math:`\frac{|n|}{m} \tilde F` is at least this; with weights, of these.
    min_impurity_split : float, optional
        A node whose impurity :math:`F(n)` is at most this is pure enough, and a leaf. By default only a node
        of a single class is. With "misclassification", 0.1 stops where one class has nine items in ten.
    max_features : int, float, "sqrt", "log2" or None
        How many columns, drawn for each node, are asked about: of d columns this number, this part,
        :math:`\sqrt d` or :math:`\log_2 d`, rounded down, at least 1; None for all. While no question about
        these divides the node, another column is drawn. Only with questions about one column, and with
        ``lookahead=1``.
    random_state : int, RandomState or None
        Draws these columns. Nothing else is random: of equal questions the same one is always taken.
    ccp_alpha : float
        The grown tree is pruned at this penalty of a leaf (thm-pruning-sequence), for the criterion, and
        with risks divided by the weight of all items; 0 leaves it as it is.
        :func:`mcutils.pruning.prune_cv` chooses a penalty.
    lookahead : int
        d: choose the question with which a tree of depth d from here decreases the impurity most; ties go to
        the larger decrease at once. The time is that of all trees of depth d - 1, so keep it small: 2 or 3.
    categorical_features : "from_dtype", None, or array-like
        Which columns hold levels: those whose type says so, category in pandas, Categorical or Enum in polars
        (with scikit-learn from 1.9 on); none; or indices, names or a mask.
    class_weight : dict or "balanced", optional
        Factors of the weights, by class.
    cost : (k, k) array-like, optional
        The cost of predicting the class of a column where that of a row is true, in the order of
        ``classes_``. Leaves predict the cheapest class, and "misclassification" is the cost of that. Gini and
        entropy do not see costs.

    Attributes
    ----------
    classes_ : (k,) array
        The labels, sorted.
    n_classes_ : int
        k.
    tree_ : Tree
        The tree. Its arrays have other names than scikit-learn's, and who answers yes,
        :math:`X_j \le a`, goes to the right.
    max_features_ : int
        How many columns are drawn for each node.
    feature_importances_ : (d,) array
        What the questions about each column decreased the total impurity by, in sum 1 (0 for a single leaf).
    n_features_in_ : int
        Number of features seen in ``fit``.
    feature_names_in_ : (d,) array of str
        Their names, where ``X`` had names.

    Notes
    -----
    Weights that are whole numbers mean that many equal items, but for the limits on numbers of items, which
    count rows. An item of weight 0 is not there.

    Sparse matrices become dense ones, up to :math:`2^{27}` entries: the search keeps 16 bytes for each entry
    in any case.

    Examples
    --------
    >>> from mcutils.data import load
    >>> penguins = load("penguins")
    >>> model = DecisionTree(max_leaf_nodes=3).fit(penguins.X, penguins.y)
    >>> model.get_n_leaves(), round(model.score(penguins.X, penguins.y), 3)
    (3, 0.949)
    """

    classes_: NDArray[Any]
    tree_: Tree
    n_features_in_: int

    def __init__(
        self,
        criterion: Criterion = "gini",
        *,
        questions: Any = ("numerical", "categorical"),
        priority: str = "weighted",
        max_leaf_nodes: int | None = None,
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        min_impurity_decrease: float = 0.0,
        min_impurity_split: float | None = None,
        max_features: int | float | str | None = None,
        random_state: int | np.random.RandomState | None = None,
        ccp_alpha: float = 0.0,
        lookahead: int = 1,
        categorical_features: Any = "from_dtype",
        class_weight: dict[Any, float] | str | None = None,
        cost: ArrayLike | None = None,
    ):
        self.criterion = criterion
        self.questions = questions
        self.priority = priority
        self.max_leaf_nodes = max_leaf_nodes
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.min_impurity_split = min_impurity_split
        self.max_features = max_features
        self.random_state = random_state
        self.ccp_alpha = ccp_alpha
        self.lookahead = lookahead
        self.categorical_features = categorical_features
        self.class_weight = class_weight
        self.cost = cost

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : (m, d) array-like, sparse matrix or data frame
            Numbers may be missing (NaN), not infinite; columns of levels hold anything that can be hashed.
        y : (m,) array-like
            Labels.
        sample_weight : (m,) array-like, optional
            Weights of the items, at least 0.

        Returns
        -------
        DecisionTree
        """
        self._check_parameters()
        search, _ = self._prepare(X, y, sample_weight)
        of_one_column = {"numerical", "categorical"}.issuperset(search.families)
        fast = search.measure.code >= 0 and self.lookahead == 1 and of_one_column
        some = self.max_features_ < self.n_features_in_
        self.tree_ = self._grow_fast(search) if fast and not some else self._grow(search)
        if self.ccp_alpha:
            self._prune()
        return self

    def cost_complexity_pruning_path(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Bunch:
        """The penalties at which ``ccp_alpha`` changes the tree, and its impurity from there on.

        It is :func:`mcutils.pruning.sequence` of the tree that is grown, divided by the weight of all items.
        scikit-learn's has an entry for each node that is collapsed; here equal penalties are one.

        Parameters
        ----------
        X : (m, d) array-like or data frame
        y : (m,) array-like
        sample_weight : (m,) array-like, optional

        Returns
        -------
        Bunch
            ``ccp_alphas``, increasing from 0, and ``impurities``: the weighted mean of those of the leaves.

        Examples
        --------
        >>> path = DecisionTree().cost_complexity_pruning_path([[1.0], [2.0], [3.0]], ["a", "b", "a"])
        >>> path.ccp_alphas.round(3), path.impurities.round(3)
        (array([0.   , 0.222]), array([0.   , 0.444]))
        """
        from ..pruning import sequence

        grown = clone(self).set_params(ccp_alpha=0.0).fit(X, y, sample_weight)
        path, weight = sequence(grown), grown.tree_.counts[0].sum()
        return Bunch(ccp_alphas=path.penalties / weight, impurities=path.risks / weight)

    def _check_parameters(self) -> None:
        check_criterion(self.criterion)
        families = check_families(self.questions)
        one_of(self.priority, "priority", ("weighted", "unweighted"))
        for name, least in (("max_leaf_nodes", 1), ("max_depth", 0)):
            or_none(integer, getattr(self, name), name, least, feasible=MOST)
        for name, least in (("min_samples_split", 2), ("min_samples_leaf", 1)):
            number_or_part(getattr(self, name), name, least)
        integer(self.lookahead, "lookahead", 1, feasible=DEEPEST)
        number(self.min_impurity_decrease, "min_impurity_decrease", least=0)
        or_none(number, self.min_impurity_split, "min_impurity_split", least=0)
        number(self.min_weight_fraction_leaf, "min_weight_fraction_leaf", least=0, most=0.5)
        number(self.ccp_alpha, "ccp_alpha", least=0)
        seed(self.random_state)
        named = partial(or_name, "log2", partial(or_none, number_or_part))
        or_name("sqrt", named, self.max_features, "max_features", 1)
        of_columns = {"numerical", "categorical"}.issuperset(families)
        if self.max_features is not None and (self.lookahead > 1 or not of_columns):
            raise ValueError(
                "max_features draws columns for each node: questions must be 'numerical' or 'categorical' "
                f"then, and lookahead 1, found {self.questions!r} and {self.lookahead}"
            )
        climbing = [family for family in families if family in ("oblique", "sphere")]
        if self.lookahead > 1 and climbing:
            raise ValueError(
                "lookahead above 1 tries every question of a family, which are too many of "
                f"{climbing}; allowed are 'numerical', 'categorical' and functions"
            )

    def _columns_of_a_node(self) -> int:
        d = self.n_features_in_
        if self.max_features is None:
            return d
        if isinstance(self.max_features, str):
            return max(1, int(np.sqrt(d) if self.max_features == "sqrt" else np.log2(d)))
        whole = isinstance(self.max_features, Integral)
        return min(d, int(self.max_features)) if whole else max(1, int(self.max_features * d))

    def _prune(self) -> None:
        """Collapse what is not worth ``ccp_alpha`` times the weight of all items."""
        from ..pruning import sequence

        path = sequence(self)
        alphas = path.penalties / self.tree_.counts[0].sum()
        last = int(np.searchsorted(alphas, self.ccp_alpha, side="right")) - 1
        self.tree_ = self.tree_.restricted(path.kept(last))

    def _prepare(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> tuple[Search, Ints]:
        """The search for questions among the items of positive weight, and which items these are."""
        X, y = in_memory(X), in_memory(y)
        data, labels = self._validate(X, y, fitting=True)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        k = len(self.classes_)
        if k > CLASSES or data.shape[0] > ITEMS:
            raise ValueError(
                f"y must have at most {CLASSES} classes and {ITEMS} items, found {k} and {data.shape[0]}"
            )
        self.max_features_ = self._columns_of_a_node()
        costs = check_cost(self.cost, k)
        weights = self._weights(data, codes, sample_weight)
        rows = np.arange(len(labels)) if weights is None else np.flatnonzero(weights)
        if len(rows) == 0:
            raise ValueError("sample_weight and class_weight must not be zero for all items")
        columns = Columns(data.shape[1], categorical_columns(self.categorical_features, X, data.shape[1]))
        columns.learn(data, rows)
        with levels_are_declared(X):
            encoded = columns.encode(data)
        if len(rows) < len(labels):
            encoded, codes = encoded[rows], codes[rows]
        if weights is not None:
            weights = weights[rows]
        codes = codes.astype(np.int64)
        measure = Measure(check_criterion(self.criterion), costs, weights, codes, k)
        families = check_families(self.questions)
        names = getattr(self, "feature_names_in_", None)
        fewest = as_number(self.min_samples_leaf, len(rows))
        light = float(self.min_weight_fraction_leaf)
        pure = self.min_impurity_split
        purest = None if pure is None else float(pure)
        return Search(encoded, codes, columns, measure, families, fewest, light, names, purest), rows

    def _validate(self, X: Any, y: ArrayLike | None = None, *, fitting: bool = False) -> tuple[Any, Any]:
        """X as a table with a shape, of numbers if no column holds levels; and the labels, in fit."""
        if issparse(X):
            X = dense(X)
        frame = hasattr(X, "columns")
        if not fitting:
            mixed = bool(self.tree_._columns.categorical.any())
        elif frame:
            mixed = bool(categorical_columns(self.categorical_features, X, X.shape[1]).any())
        else:
            mixed = not (self.categorical_features is None or isinstance(self.categorical_features, str))
        if not mixed:
            options: dict[str, Any] = {
                "dtype": np.float64,
                "order": "C",
                "ensure_all_finite": "allow-nan" if fitting else False,
                "reset": fitting,
            }
            with levels_are_declared(X):
                if fitting:
                    data, labels = validate_data(self, X, y, **options)
                    return data, labels
                return validate_data(self, X, **options), None
        if not hasattr(X, "iloc"):
            data = np.asarray(X)
            if data.dtype.kind not in "fiub":
                data = np.asarray(X, dtype=object)
            if data.ndim != 2:
                raise ValueError(
                    f"X must be a table. Expected 2D array, got shape {data.shape}. Reshape your data"
                )
        else:
            data = X
        labels = validate_data(self, X="no_validation", y=y) if fitting else None
        validate_data(self, X if frame else data, skip_check_array=True, reset=fitting)
        if data.shape[0] == 0 or data.shape[1] == 0:
            raise ValueError(f"X must have rows and columns, found shape {data.shape}")
        if fitting:
            check_consistent_length(data, labels)
        return data, labels

    def _weights(self, X: Any, codes: NDArray[Any], sample_weight: ArrayLike | None) -> Floats | None:
        """The weights of the items, None if all are 1."""
        if sample_weight is None and self.class_weight is None:
            return None
        weights = example_weights(sample_weight, len(codes))
        return times_class_weight(weights, self.class_weight, self.classes_, codes)

    def _grow_fast(self, search: Search) -> Tree:
        """By compiled loops: numerical and categorical questions, and an impurity known by name."""
        from ..jit import tree as jit

        measure, unlimited = search.measure, 2**62
        # a column without questions is as good as constant
        used = np.flatnonzero(search.left_out == 0)
        root = search.root()
        keys, values, n_levels = root.keys, search.values, search.n_levels
        if len(used) < len(n_levels):
            keys, values, n_levels = keys[used], values[used], n_levels[used]
        if len(used) == 0:
            keys, values, n_levels = root.keys[:1], search.values[:1] * 0, np.zeros(1, dtype=np.int64)
            keys &= 2**40 - 1
        most_leaves = unlimited if self.max_leaf_nodes is None else int(self.max_leaf_nodes)
        room = 2 * min(keys.shape[1], most_leaves) - 1
        links = np.empty((5, room), dtype=np.int64)
        # pages of these that no node needs are never touched
        threshold, gains, counts = np.empty(room), np.zeros(room), np.zeros((room, measure.k))
        members = np.zeros((room, int(n_levels.max())), dtype=np.uint8)
        constant = np.zeros((room, len(keys)), dtype=np.uint8)
        counts[0] = measure.total
        nodes, column = jit.grow(
            keys,
            values,
            n_levels,
            measure.code,
            measure.exact,
            measure.weighted,
            measure.weights,
            measure.table,
            measure.scale,
            measure.costs,
            self.priority == "unweighted",
            most_leaves,
            unlimited if self.max_depth is None else int(self.max_depth),
            max(2, as_number(self.min_samples_split, keys.shape[1])),
            search.fewest,
            search.lightest,
            float(self.min_impurity_decrease) * float(measure.total.sum()),
            -1.0 if search.purest is None else search.purest,
            links,
            threshold,
            gains,
            counts,
            members,
            constant,
        )
        if nodes < 0:
            search.refuse_levels(int(used[column]), -nodes)
        left, parent, depth, feature, items = (row[:nodes].copy() for row in links)
        threshold, gains = threshold[:nodes].copy(), gains[:nodes].copy()
        counts, members = counts[:nodes].copy(), members[:nodes].copy()
        if len(used) < len(search.n_levels) and len(used):
            feature = np.where(feature >= 0, used[feature], -1)
        if members.shape[1] < search.width:
            members = np.zeros((len(left), search.width), dtype=np.uint8)
        return self._tree(search, left, parent, depth, feature, threshold, items, counts, gains, members, {})

    def _grow(self, search: Search) -> Tree:
        """The same, node by node, for any question and any impurity."""
        from ..jit import tree as jit

        measure = search.measure
        most_leaves = np.inf if self.max_leaf_nodes is None else self.max_leaf_nodes
        most_depth = np.inf if self.max_depth is None else self.max_depth
        least = self.min_impurity_decrease * measure.total.sum() * (1 - 1e-12)
        random = check_random_state(self.random_state)
        nodes = [search.root()]
        fewest_split = max(2, as_number(self.min_samples_split, len(nodes[0])))
        left, parent, depth, gains = [-1], [-1], [0], [0.0]
        splits: dict[int, Candidate] = {}
        heap: list[tuple[float, int]] = []
        fresh = [0]
        leaves = 1
        while True:
            for n in fresh:
                node = nodes[n]
                if not search.is_open(node, fewest_split) or depth[n] >= most_depth:
                    continue
                if leaves >= most_leaves:
                    continue
                best = (
                    search.best(node, int(min(self.lookahead, most_depth - depth[n])))
                    if self.max_features_ >= self.n_features_in_
                    else search.best_of_some(node, self.max_features_, random)
                )
                if best is None or best.gain < least:
                    continue
                splits[n] = best
                mean = jit.rounded(best.ahead / node.total.sum(), 1.0)
                heapq.heappush(heap, (-mean if self.priority == "unweighted" else -best.ahead, n))
            if not heap or leaves >= most_leaves:
                break
            _, n = heapq.heappop(heap)
            leaves += 1
            left[n], gains[n] = len(nodes), splits[n].gain
            fresh = [len(nodes), len(nodes) + 1]
            nodes += search.children(nodes[n], splits[n].positive)
            left += [-1, -1]
            parent += [n, n]
            depth += [depth[n] + 1] * 2
            gains += [0.0, 0.0]
        split = [n for n in range(len(nodes)) if left[n] >= 0]
        feature, threshold = np.full(len(nodes), -1), np.full(len(nodes), np.nan)
        members = np.zeros((len(nodes), search.width), dtype=np.uint8)
        others = {}
        for n in split:
            feature[n], threshold[n] = splits[n].feature, splits[n].threshold
            chosen = splits[n].members
            if chosen is not None:
                members[n] = chosen
            if splits[n].feature == OTHER:
                others[n] = splits[n].question
        return self._tree(
            search,
            np.array(left),
            np.array(parent),
            np.array(depth),
            feature,
            threshold,
            np.array([len(node) for node in nodes]),
            np.array([node.total for node in nodes]),
            np.array(gains),
            members,
            others,
        )

    def _tree(
        self,
        search: Search,
        left: Ints,
        parent: Ints,
        depth: Ints,
        feature: Ints,
        threshold: Floats,
        items: Ints,
        counts: Floats,
        gains: Floats,
        members: NDArray[np.uint8],
        others: dict[int, Any],
    ) -> Tree:
        costs = check_cost(self.cost, counts.shape[1])
        members[(feature < 0) | (search.n_levels[np.maximum(feature, 0)] == 0)] = 0
        shares = counts / counts.sum(axis=1, keepdims=True)
        unit = search.measure.unit
        return Tree(
            left=left,
            right=np.where(left >= 0, left + 1, -1),
            parent=parent,
            depth=depth,
            counts=counts * unit,
            items=items,
            impurity=impurities(shares, check_criterion(self.criterion), costs),
            decrease=gains * unit,
            predictions=np.argmin(counts @ costs, axis=1) if len(costs) else np.argmax(counts, axis=1),
            feature=feature,
            threshold=threshold,
            _members=members,
            _others=others,
            _columns=search.columns,
        )

    def apply(self, X: Any) -> Ints:
        """The leaf that each row of X reaches, as a number of a node.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n,) int array
        """
        check_is_fitted(self)
        X = in_memory(X)
        data, _ = self._validate(X)
        columns = self.tree_._columns
        if columns.categorical.any():
            with levels_are_declared(X):
                data = columns.encode(data)
        return self.tree_.reach(data)

    def decision_path(self, X: Any) -> csr_array:
        """Which nodes each row of X goes through.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n, nodes) sparse array of 0 and 1
        """
        return self.tree_.paths(self.apply(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the leaf of each row.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n,) array
        """
        reached = self.apply(X)
        labels: NDArray[Any] = self.classes_[self.tree_.predictions][reached]
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """The shares of the classes in the leaf of each row, with weights.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n, k) array
        """
        reached = self.apply(X)
        counts = self.tree_.counts
        return np.asarray((counts / counts.sum(axis=1, keepdims=True))[reached])

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithms of :meth:`predict_proba`, minus infinity for a class that the leaf has not.

        Parameters
        ----------
        X : (n, d) array-like, sparse matrix or data frame

        Returns
        -------
        (n, k) array
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @property
    def n_classes_(self) -> int:
        """The number of classes."""
        check_is_fitted(self)
        return len(self.classes_)

    @property
    def feature_importances_(self) -> Floats:
        """What the questions about each column decreased the total impurity by, in sum 1."""
        check_is_fitted(self)
        tree = self.tree_
        if tree._others:
            raise AttributeError("feature_importances_ needs questions about one column each, some are not")
        inner = tree.feature >= 0
        sums = np.bincount(tree.feature[inner], tree.decrease[inner], minlength=self.n_features_in_)
        return np.asarray(sums / sums.sum() if sums.sum() > 0 else sums)

    def get_depth(self) -> int:
        """The largest number of questions above a leaf."""
        check_is_fitted(self)
        return int(self.tree_.depth.max())

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    def text(
        self, feature_names: Sequence[str] | None = None, class_names: Sequence[str] | None = None
    ) -> str:
        """The tree in lines of text: questions, then leaves with their label and number of items.

        Parameters
        ----------
        feature_names : sequence of str, optional
            By default those of the data frame, or x1, x2, ...
        class_names : sequence of str, optional
            By default the labels.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        features, classes = self._names(feature_names, class_names)
        tree, lines = self.tree_, []
        waiting = [(0, "", "")]
        while waiting:
            n, first, rest = waiting.pop()
            if tree.left[n] < 0:
                lines.append(f"{first}{classes[tree.predictions[n]]} ({tree.items[n]})")
                continue
            lines.append(f"{first}{question_text(tree.questions[n], features)} ?")
            waiting.append((int(tree.right[n]), f"{rest}`-- yes: ", f"{rest}    "))
            waiting.append((int(tree.left[n]), f"{rest}|-- no: ", f"{rest}|   "))
        return "\n".join(lines)

    def _names(
        self, feature_names: Sequence[str] | None, class_names: Sequence[str] | None
    ) -> tuple[Sequence[str] | None, Sequence[str]]:
        if feature_names is None:
            feature_names = getattr(self, "feature_names_in_", None)
        elif len(feature_names := entries(feature_names, "feature_names", "a list")) != self.n_features_in_:
            raise ValueError(
                f"feature_names has {len(feature_names)} entries, the tree has {self.n_features_in_} features"
            )
        if class_names is None:
            class_names = [str(label) for label in self.classes_.tolist()]
        elif len(class_names := entries(class_names, "class_names", "a list")) != len(self.classes_):
            raise ValueError(
                f"class_names has {len(class_names)} entries, the tree has {len(self.classes_)} classes"
            )
        return feature_names, class_names

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


def number_or_part(value: Any, name: str, least: int) -> None:
    """A number of things, or as a float the part of all of them."""
    if isinstance(value, Integral):
        integer(value, name, least, feasible=MOST)
    elif not (isinstance(value, Real) and 0 < float(value) <= 1):
        raise ValueError(
            f"{name} must be an integer, at least {least}, or a float above 0 and at most 1, found {value!r}"
        )


def as_number(value: int | float, m: int) -> int:
    """This number of m things, or this part of them, rounded upwards."""
    return int(value) if isinstance(value, Integral) else ceil(value * m)


def dense(X: Any) -> NDArray[Any]:
    """A sparse matrix as an array."""
    if X.shape[0] * X.shape[1] > ENTRIES:
        raise ValueError(
            f"X must have at most {ENTRIES} entries if it is sparse, as it becomes dense, "
            f"found the shape {X.shape}"
        )
    table: NDArray[Any] = X.toarray()
    return table


def best_question(
    X: Any,
    y: ArrayLike,
    *,
    criterion: Criterion = "gini",
    questions: Any = ("numerical", "categorical"),
    sample_weight: ArrayLike | None = None,
    categorical_features: Any = "from_dtype",
    min_samples_leaf: int = 1,
    lookahead: int = 1,
    cost: ArrayLike | None = None,
) -> Split | None:
    r"""The question with the largest decrease of the impurity of these items, taken as one node.

    Parameters
    ----------
    X : (m, d) array-like or data frame
        The items of the node.
    y : (m,) array-like
        Their labels. ``cost`` has them in sorted order.
    criterion, questions, categorical_features, min_samples_leaf, lookahead, cost
        As in :class:`DecisionTree`.
    sample_weight : (m,) array-like, optional
        Weights of the items, at least 0; an item of weight 0 is not there.

    Returns
    -------
    Split or None
        None if no question divides the items with ``min_samples_leaf`` on either side.

    Examples
    --------
    >>> split = best_question([[1.0], [2.0], [3.0], [4.0]], ["a", "b", "b", "b"])
    >>> split.question, split.decrease, split.positive
    (Numerical(feature=0, threshold=1.5), 1.5, array([ True, False, False, False]))
    >>> best_question([["red"], ["blue"], ["red"]], [0, 1, 0], categorical_features=[0]).question
    Categorical(feature=0, levels=('blue',))
    """
    classifier = DecisionTree(
        criterion,
        questions=questions,
        categorical_features=categorical_features,
        min_samples_leaf=min_samples_leaf,
        lookahead=lookahead,
        cost=cost,
    )
    classifier._check_parameters()
    search, rows = classifier._prepare(X, y, sample_weight)
    root = search.root()
    if len(root) < 2 * search.fewest:
        return None
    best = search.best(root, lookahead)
    if best is None:
        return None
    positive = np.zeros(len(np.asarray(y)), dtype=np.bool_)
    positive[rows] = best.positive
    question = make_question(best.feature, best.threshold, best.members, search.columns, best.question)
    unit = search.measure.unit
    return Split(question, best.gain * unit, positive, best.ahead * unit)
