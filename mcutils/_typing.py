"""Names of types that several modules share."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]
Bools: TypeAlias = NDArray[np.bool_]
Criterion: TypeAlias = str | Callable[[Floats], ArrayLike]
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None
