"""Run the races, all or those of one topic, and write them to results/benchmarks.json."""

import argparse
import json
from datetime import date
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from benchmarks.race import machine, of_groups, run, versions

HERE = Path(__file__).parent
RESULTS = HERE.parent / "results" / "benchmarks.json"
NO_TOPICS = {"__main__", "keel", "race", "strangers"}
TOPICS = sorted({module.name for module in iter_modules([str(HERE)])} - NO_TOPICS)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("topic", nargs="?", choices=TOPICS, help="by default all")
    topic = parser.parse_args().topic
    # the results of one file are of one computer: a run of one topic rewrites the file when they are not
    known = json.loads(RESULTS.read_text(encoding="utf-8")) if topic and RESULTS.exists() else {}
    circumstances = {"machine": machine(), "versions": versions()}
    kept = []
    if circumstances.items() <= known.items():
        kept = [race for race in known["races"] if not race["id"].startswith(f"{topic}-")]
    found: list[dict[str, Any]] = []
    for name in [topic] if topic else TOPICS:
        for race in import_module(f"benchmarks.{name}").races():
            found.append(run(race))
            print(line(found[-1]), flush=True)
    races = sorted(kept + found, key=lambda race: race["id"])
    for name, group in of_groups(races).items():
        print(f"{name}: geometric mean {group['mean']:.2f}, worst {group['worst']:.2f} of {group['races']}")
    results = {
        "races": races,
        **circumstances,
        "date": date.today().isoformat(),
    }
    RESULTS.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def line(race: dict[str, Any]) -> str:
    ratio, taken = race["ratio"], race["seconds"]
    return (
        f"{race['id']:32} {taken['ours']:7.3f} s, {race['peer']} {taken['peer']:.3f} s: "
        f"ratio {ratio['median']:.2f} ({ratio['low']:.2f} to {ratio['high']:.2f}, "
        f"limit {ratio['upper_limit']:.2f}), {race['claim']}"
        f"{'' if race['holds'] else ' MISSED'}; "
        f"memory {race['memory']:.2f} of the input"
    )


if __name__ == "__main__":
    main()
