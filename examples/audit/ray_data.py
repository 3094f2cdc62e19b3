"""Audit a warehouse of recorded runs on Ray Data.

The audit of one conversation depends on that conversation alone, so that it is a plain function that an engine maps
over its rows. Each line of RUNS is one conversation; FOLDER gets a row for each of their numbers.

    pip install "ray[data]" gllint
    python ray_data.py RUNS.jsonl FOLDER
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from gllint_runtime import audit_run


def judged(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The numbers of the conversation on one line, each with its verdict and what it rests on."""
    for number in audit_run(json.loads(row["text"])).numbers:
        source = number.pop("source") or {}
        yield {
            **number,
            "unit": number["unit"] or "",
            "call_id": str(source.get("call_id") or ""),
            "path": str(source.get("path") or ""),
        }


def main(runs: str, folder: str, workers: int | None = None) -> dict[str, int]:
    """Audit all conversations of a file, or of a folder, and count the verdicts."""
    import ray

    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    try:
        numbers = ray.data.read_text(runs).flat_map(judged).materialize()
        numbers.write_json(folder)
        counts = numbers.groupby("verdict").count().take_all()
    finally:
        ray.shutdown()
    return {row["verdict"]: row["count()"] for row in counts}


if __name__ == "__main__":
    for verdict, count in sorted(main(*sys.argv[1:3]).items()):
        print(f"{count:>12,} {verdict}")
