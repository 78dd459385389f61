"""Names of types that several modules share."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]
Bools: TypeAlias = NDArray[np.bool_]
RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None
