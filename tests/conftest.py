"""Settings of all tests; they must stand before the first import of SciPy or scikit-learn."""

import os

from hypothesis import settings

# scikit-learn's own checks of an estimator are complete only with SciPy's array API switched on.
os.environ["SCIPY_ARRAY_API"] = "1"

# A law is not broken by a slow machine.
settings.register_profile("patient", parent=settings.default, deadline=None)
settings.load_profile("patient")
