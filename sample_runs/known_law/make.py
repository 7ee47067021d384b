"""Write runs.csv: 48 runs sampled from a known law with noise. Nothing here was trained.

    python sample_runs/known_law/make.py

The law is mixlaw's ``capacity`` with the parameters below; each run has one seed effect (0.2 % of its loss) and each
checkpoint a reading error (0.05 %). The seed is 20.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from mixlaw.laws import LAWS
from mixlaw.laws.base import Inputs

DOMAINS = ("web", "code", "math", "books")
SIZES = {"20M": (2e7, 16), "60M": (6e7, 14), "150M": (1.5e8, 10), "400M": (4e8, 8)}
TOKENS_PER_PARAMETER = 20
CHECKPOINTS = 8
NATURAL = np.array([0.7, 0.15, 0.05, 0.1])
#            E    b     a    g    worth of web, code, math, books      use of parameters
TRUTH = {
    "web": (0.9, 0.30, 0.32, 0.6, 0.9, 0.05, 0.1, 0.3, 9.0, 4.0, 4.0, 7.0),
    "code": (0.4, 0.34, 0.36, 0.5, 0.03, 2.0, 0.2, 0.02, 6.0, 16.0, 8.0, 4.0),
    "math": (0.7, 0.31, 0.34, 0.5, 0.04, 0.3, 1.8, 0.03, 6.0, 9.0, 14.0, 5.0),
    "books": (1.1, 0.29, 0.31, 0.6, 0.4, 0.02, 0.05, 1.2, 8.0, 3.0, 3.0, 9.0),
}


def main() -> None:
    rng = np.random.default_rng(20)
    rows = []
    for size, (params, count) in SIZES.items():
        mixtures = rng.dirichlet(4 * NATURAL**0.7, size=count)
        mixtures[0], mixtures[1] = NATURAL, np.full(4, 0.25)
        for number, mixture in enumerate(np.maximum(mixtures, 0.002)):
            mixture = mixture / mixture.sum()
            tokens = params * TOKENS_PER_PARAMETER * np.arange(1, CHECKPOINTS + 1) / CHECKPOINTS
            inputs = Inputs.build(DOMAINS, np.tile(mixture, (CHECKPOINTS, 1)), params, tokens)
            seed_effect = 0.002 * rng.standard_normal(len(TRUTH))
            frame = {"run": f"{size}-{number:02d}", "step": np.arange(1, CHECKPOINTS + 1) * 1000}
            frame |= {"tokens": tokens, "params": params}
            frame |= {f"mix/{d}": mixture[i] for i, d in enumerate(DOMAINS)}
            for index, (target, truth) in enumerate(TRUTH.items()):
                loss = LAWS["capacity"].predict(np.log(truth), inputs)
                noise = seed_effect[index] + 0.0005 * rng.standard_normal(CHECKPOINTS)
                frame[f"loss/{target}"] = loss * np.exp(noise)
            rows.append(pd.DataFrame(frame))
    path = Path(__file__).with_name("runs.csv")
    pd.concat(rows).to_csv(path, index=False, float_format="%.8g")


if __name__ == "__main__":
    main()
