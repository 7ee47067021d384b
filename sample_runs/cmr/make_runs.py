"""Write the sample logs: `python sample_runs/cmr/make_runs.py` from the root of the project.

Samples the curves of arXiv 2407.17467, table 4 (coefficients.csv) at T = 1 ... 100 units of 0.2B tokens for four model
sizes and six shares of finance data, and adds the base models' losses. `runs.csv.gz` holds the curves as printed,
`runs_noisy.csv.gz` the same with Gaussian noise on every reading. The same seed gives the same bytes.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
UNIT = 2e8
READINGS = 100
SEED = 20407
NOISE = 2e-4
PARAMS = {"460M": 460_000_000, "940M": 940_000_000, "1.6B": 1_600_000_000, "3.1B": 3_100_000_000}
# Final finance losses of the paper's table 2 less the printed curves at T = 100, mean over shares.
BASE_FINANCE = {"460M": 1.9212, "940M": 1.9212, "1.6B": 1.7262, "3.1B": 1.7954}
# The paper prints no base losses on general text; any value gives the same ratio, these are of the usual size.
BASE_GENERAL = {"460M": 2.86, "940M": 2.72, "1.6B": 2.63, "3.1B": 2.54}
COLUMNS = ["run", "step", "tokens", "params", "mix/general", "mix/finance", "loss/general", "loss/finance", "meta/lr"]


def curves(row: dict[str, str], t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Increments of general and finance loss."""
    c = {name: float(value) for name, value in row.items() if name != "model"}
    general = c["gen_a"] * t ** c["gen_p"] + c["gen_b"] * t ** c["gen_q"] + c["gen_c"]
    return general, c["dom_d"] * t ** c["dom_r"] + c["dom_e"]


def rows(noise: float, rng: np.random.Generator) -> Iterator[list[object]]:
    t = np.arange(1.0, READINGS + 1)
    seen = set()
    with (HERE / "coefficients.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            size = row["model"]
            if size not in seen:
                seen.add(size)
                yield [f"{size}-base", 0, 0, PARAMS[size], 1, 0, BASE_GENERAL[size], BASE_FINANCE[size], ""]
            share = 1 / 3 if row["domain_share"] == "0.333" else float(row["domain_share"])
            general, finance = (curve + noise * rng.standard_normal(READINGS) for curve in curves(row, t))
            for step, (g, f) in enumerate(zip(general, finance, strict=True), start=1):
                losses = [f"{BASE_GENERAL[size] + g:.7f}", f"{BASE_FINANCE[size] + f:.7f}"]
                mixture = [round(1 - share, 9), round(share, 9)]
                yield [f"{size}-r{100 * share:03.0f}", step, int(step * UNIT), PARAMS[size], *mixture, *losses, 1e-4]


def write(path: Path, noise: float, seed: int) -> None:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(rows(noise, np.random.default_rng(seed)))
    path.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--out", type=Path, default=HERE, help="folder to write to")
    parser.add_argument("--noise", type=float, default=NOISE, help="standard deviation of a reading, nats")
    parser.add_argument("--seed", type=int, default=SEED)
    arguments = parser.parse_args()
    write(arguments.out / "runs.csv.gz", 0.0, arguments.seed)
    write(arguments.out / "runs_noisy.csv.gz", arguments.noise, arguments.seed)


if __name__ == "__main__":
    main()
