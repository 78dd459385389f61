"""Data sets that differ in size, features, classes and noise, for the question what others may expect.

The thresholds of :mod:`mcutils.solver` were chosen with a look at them.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from sklearn.datasets import load_wine, make_classification, make_gaussian_quantiles

from benchmarks.race import Race
from mcutils import data


def sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Names, points and labels: 2 to 784 features, 3 to 26 classes, 178 to 10,000 examples."""
    yield "wine", *load_wine(return_X_y=True)
    for name in ("vehicle", "vowel"):
        known = data.load(name)
        yield name, known.X, np.unique(known.y, return_inverse=True)[1]
    yield "rings", *make_gaussian_quantiles(n_samples=3000, n_features=2, n_classes=4, random_state=0)
    noisy = {"n_informative": 12, "n_classes": 8, "flip_y": 0.1, "class_sep": 1.5, "random_state": 0}
    yield "noisy", *make_classification(4000, 20, **noisy)
    yield "apart", *mixture(10_000, 16, 10, 4, spread=1.8)
    yield "uneven", *mixture(6000, 9, 7, 3, spread=1.2, uneven=True)
    yield "letters", *mixture(6000, 16, 26, 4, spread=1.3)
    yield "bands", *mixture(5000, 36, 6, 5, spread=0.8)
    yield "pixels", *mixture(2000, 784, 10, 5, spread=1.5)


def in_group(race: Race, group: str, at_most: float) -> Race:
    """A race on one of these sets, which is summed up with the others."""
    topic, _, rest = race.id.partition("-")
    return replace(race, id=f"{topic}-strange-{rest}", group=f"{group}, strange sets", at_most=at_most)


def mixture(
    m: int, d: int, k: int, parts: int, *, spread: float, uneven: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Gaussians, some for each class; uneven classes have shares as 1, 1/2, 1/3 and so on."""
    rng = np.random.default_rng(m + d + k)
    centres = 3 * spread * rng.normal(size=(k, parts, d)) / np.sqrt(d)
    shares = 1 / np.arange(1, k + 1) if uneven else np.ones(k)
    y = rng.choice(k, size=m, p=shares / shares.sum())
    y[:k] = np.arange(k)
    return centres[y, rng.integers(parts, size=m)] + rng.normal(size=(m, d)), y
