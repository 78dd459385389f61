"""The items of a node, and a question that divides them."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..._typing import Bools, Floats, Ints
from .._limits import ITEMS
from .._questions import OTHER


@dataclass(eq=False)
class Node:
    """Some items: their keys, column by column, and the weights of their classes."""

    keys: Ints
    total: Floats

    @cached_property
    def items(self) -> Ints:
        """The items, in ascending order."""
        return np.sort(self.keys[0] & (ITEMS - 1))

    def __len__(self) -> int:
        return int(self.keys.shape[1])


@dataclass(eq=False)
class Candidate:
    """A question, as it is searched for."""

    gain: float
    positive: Bools  # of the node's items, in ascending order
    feature: int = OTHER
    threshold: float = np.nan
    members: NDArray[np.uint8] | None = None
    question: Any = None
    ahead: float = 0.0
