"""Throughput and memory of reading large tables, beside pandas on the same file in the same run.

Run on demand::

    python tests/bench/bench_ingest.py --megabytes 1000

Prints for a generated wide CSV and JSON-lines file of that size: CPU seconds, wall seconds, megabytes per second
and peak memory of ``pandas`` and of ``mixlaw.logs.read_runs``, each in a process of its own, and the ratio of the
CPU times. Targets: CSV at least half of ``pandas.read_csv``; JSON lines at least
``pandas.read_json(lines=True, chunksize=10_000)``; peak memory of mixlaw under 1 GB.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

DOMAINS, TARGETS, CHECKPOINTS = 6, 8, 200

READ = """
import json, resource, sys, time
import pandas as pd
from pathlib import Path
path, how = Path(sys.argv[1]), sys.argv[2]
from mixlaw.logs import read_runs
wall, cpu = time.perf_counter(), time.process_time()
if how == "mixlaw":
    rows = len(read_runs(path))
elif path.suffix == ".csv":
    rows = len(pd.read_csv(path))
else:
    rows = sum(len(chunk) for chunk in pd.read_json(path, lines=True, chunksize=10_000))
print(json.dumps({
    "rows": rows,
    "cpu": time.process_time() - cpu,
    "wall": time.perf_counter() - wall,
    "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
}))
"""


def generate(path: Path, megabytes: float, *, seed: int = 0) -> None:
    """Write runs of ``CHECKPOINTS`` rows until the file has the size, CSV or JSON lines by its suffix."""
    rng = np.random.default_rng(seed)
    names = ["run", "step", "tokens", "params"]
    names += [f"mix/domain{i}" for i in range(DOMAINS)] + [f"loss/target{i}" for i in range(TARGETS)]
    with path.open("w", encoding="utf-8") as file:
        if path.suffix == ".csv":
            file.write(",".join(names) + "\n")
        run = size = 0
        while size < megabytes * 1e6:
            shares = rng.dirichlet(np.ones(DOMAINS)).tolist()
            losses = (2 + rng.random((CHECKPOINTS, TARGETS))).tolist()
            rows = [
                [f"run{run:06d}", s, s * 524288, 125_000_000, *shares, *losses[s - 1]]
                for s in range(1, CHECKPOINTS + 1)
            ]
            if path.suffix == ".csv":
                text = "".join(",".join(map(str, row)) + "\n" for row in rows)
            else:
                text = "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in rows)
            size += file.write(text)
            run += 1


def measure(path: Path, how: str) -> dict[str, float]:
    """Read the file in a process of its own."""
    done = subprocess.run([sys.executable, "-c", READ, str(path), how], capture_output=True, text=True, check=True)
    result: dict[str, float] = json.loads(done.stdout)
    return result


def main() -> None:
    """Print the table of measurements."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--megabytes", type=float, default=1000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for suffix in (".csv", ".jsonl"):
            path = Path(folder) / f"runs{suffix}"
            generate(path, arguments.megabytes)
            size = path.stat().st_size / 1e6
            results = {how: measure(path, how) for how in ("pandas", "mixlaw")}
            for how, r in results.items():
                sys.stdout.write(
                    f"{suffix[1:]:6s} {how:7s} {size:6.0f} MB {r['rows']:9,} rows  cpu {r['cpu']:6.2f} s  "
                    f"wall {r['wall']:6.2f} s  {size / r['cpu']:5.0f} MB/s of cpu  peak {r['peak_mb']:5.0f} MB\n"
                )
            ratio = results["pandas"]["cpu"] / results["mixlaw"]["cpu"]
            sys.stdout.write(f"{suffix[1:]:6s} speed of mixlaw over pandas: {ratio:.2f}\n")
            sys.stdout.flush()
            path.unlink()


if __name__ == "__main__":
    main()
