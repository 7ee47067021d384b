"""Time of a plan with about 40 runs over 4 sizes and 20 domains (target: 30 s on two cores).

Run: OMP_NUM_THREADS=1 python tests/bench/bench_allocate.py
"""

from __future__ import annotations

import sys
import time

from mixlaw.allocate.plan import PlanRequest, make_plan
from mixlaw.allocate.sizes import Scale, Size
from mixlaw.domains import Domain, Domains
from mixlaw.mixture import Group


def main() -> None:
    weights = [1 / (i + 1) for i in range(20)]
    facts = {f"domain-{i:02d}": Domain(prior=w / sum(weights), max=0.6) for i, w in enumerate(weights)}
    groups = (Group("tail", tuple(facts)[10:], 0.05, 0.5),)
    sizes = tuple(Size(n, (10 * n, 20 * n)) for n in (6e7, 1.5e8, 4e8, 1e9))
    request = PlanRequest(sizes, Scale(7e9, 1.5e11), 4.97e20, tuple(facts), Domains(facts, groups))
    start, cpu = time.perf_counter(), time.process_time()
    plan = make_plan(request)
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    sys.stdout.write(
        f"{int(plan.chosen.counts.sum())} runs {plan.chosen.counts.tolist()}, {wall:.1f} s, CPU {cpu:.1f} s\n"
    )
    for name, outcome in sorted(plan.outcomes.items(), key=lambda item: item[1].error):
        sys.stdout.write(f"{name:12s} {outcome.counts.tolist()!s:20s} error {100 * outcome.error:.2f} %\n")


if __name__ == "__main__":
    main()
