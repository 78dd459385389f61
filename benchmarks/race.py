"""What a race is, and how it is run fairly."""

import platform
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from math import ceil
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from joblib import cpu_count
from threadpoolctl import threadpool_limits

REPEATS = 9

# A race in which both together take longer than this is repeated fewer times.
LONG_SECONDS, FEW = 5.0, 3

# What is over sooner is done several times over in a repetition: clocks and computers vary.
LEAST_SECONDS = 0.05


@dataclass(frozen=True)
class Race:
    """Two ways to the same result, and what is claimed of the ratio of their times."""

    id: str
    title: str
    condition: str
    ours: Callable[[], Any]
    peer: Callable[[], Any]
    peer_name: str
    threads: int | None
    """How many threads both may use; None: as many as they choose."""
    at_most: float
    """The claim: the median of our time over the peer's."""
    input_bytes: int
    """Size of what both are given, the unit of the memory that we need beside it."""
    surely: bool = False
    """Whether the claim is for the upper 95 % limit of the ratio of the total times instead."""
    group: str | None = None
    """Races of one group are repeated fewer times, and also summed up by the geometric mean of ratios."""


def run(race: Race) -> dict[str, Any]:
    """Run both turn by turn, so that whatever else the computer does slows both; then measure memory."""
    peer, ours = [], []
    with threadpool_limits(race.threads):
        race.ours()  # compiles, or reads what was compiled
        once = seconds(race.peer)
        times = ceil(LEAST_SECONDS / once)
        long = once + seconds(race.ours) >= LONG_SECONDS
        repeats = FEW if long or race.group else REPEATS
        for _ in range(repeats):
            peer.append(seconds(race.peer, times))
            ours.append(seconds(race.ours, times))
    ratios = [a / b for a, b in zip(ours, peer, strict=True)]
    limit = upper_limit(ours, peer)
    return {
        "id": race.id,
        "title": race.title,
        "ours": "mcutils",
        "peer": race.peer_name,
        "condition": race.condition,
        "ratio": {
            "median": rounded(median(ratios)),
            "low": rounded(min(ratios)),
            "high": rounded(max(ratios)),
            "upper_limit": rounded(limit),
        },
        "repeats": repeats,
        "claim": f"{'upper 95 % limit of the total times ' if race.surely else ''}at most {race.at_most}",
        "holds": (limit if race.surely else median(ratios)) <= race.at_most,
        "seconds": {"ours": rounded(median(ours)), "peer": rounded(median(peer))},
        # our peak beyond the input, as a multiple of the input
        "memory": rounded(peak_bytes(race.ours) / race.input_bytes),
    } | ({"group": race.group} if race.group else {})


def of_groups(races: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """How many races each group has, the geometric mean of their ratios, and the worst."""
    ratios: dict[str, list[float]] = {}
    for race in races:
        if "group" in race:
            ratios.setdefault(race["group"], []).append(race["ratio"]["median"])
    return {
        name: {
            "races": len(group),
            "mean": rounded(float(np.exp(np.mean(np.log(group))))),
            "worst": max(group),
        }
        for name, group in sorted(ratios.items())
    }


def upper_limit(ours: list[float], peer: list[float]) -> float:
    """95 % of bootstrap samples of the repetitions have a smaller ratio of total times."""
    draws = np.random.default_rng(0).integers(len(ours), size=(10_000, len(ours)))
    totals = np.array(ours)[draws].sum(axis=1) / np.array(peer)[draws].sum(axis=1)
    return float(np.quantile(totals, 0.95))


def seconds(work: Callable[[], Any], times: int = 1) -> float:
    start = perf_counter()
    for _ in range(times):
        work()
    return (perf_counter() - start) / times


def peak_bytes(work: Callable[[], Any]) -> int:
    """The most that is allocated at once, results included, beyond what exists before."""
    tracemalloc.start()
    try:
        result = work()  # kept alive: it is part of what the work needs
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    del result
    return peak


def rounded(value: float) -> float:
    return float(f"{value:.3g}")


def machine() -> dict[str, Any]:
    """What the times depend on, without anything that identifies the computer."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "cores": cpu_count(),
    }


def processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def versions() -> dict[str, str]:
    return (
        {"python": platform.python_version()}
        | {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")}
        | {"blas": np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]}
    )
