from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from mixlaw.allocate.designs import DesignOptions
from mixlaw.allocate.exchange import ExchangeOptions
from mixlaw.allocate.manifest import manifest, planned_runs, printed, to_csv
from mixlaw.allocate.plan import Plan, PlanRequest, make_plan
from mixlaw.allocate.sizes import Scale, Size
from mixlaw.files import to_yaml
from mixlaw.logs.sheet import Sheet
from mixlaw.optimize.region import Region


@pytest.fixture
def plan(request_for: PlanRequest) -> Plan:
    quick = ExchangeOptions(trials=40, late=40, early=10, steps=3)
    return make_plan(replace(request_for, exchange=quick, designs=DesignOptions(count=30), budget=1e20))


def test_contract(plan: Plan) -> None:
    content = yaml.safe_load(to_yaml(manifest(plan, planned_runs(plan))))
    assert {"budget", "spent", "strategy", "target", "predicted", "prior", "runs"} <= set(content)
    assert content["target"] == {"params": 2e9, "tokens": 4e10}
    assert content["spent"] == pytest.approx(math.fsum(r["flops"] for r in content["runs"]), rel=1e-12)
    assert content["spent"] <= content["budget"]
    assert content["predicted"]["optimal"]["relative_error"] == pytest.approx(plan.chosen.error)
    for run in content["runs"]:
        assert {"name", "params", "tokens", "flops", "seed", "mixture"} <= set(run)
        assert run["flops"] == 6 * run["params"] * run["tokens"]
        assert abs(math.fsum(run["mixture"].values()) - 1) <= 1e-12
        assert run["checkpoints"][-1] == run["tokens"]
    assert (
        len({r["name"] for r in content["runs"]}) == len({r["seed"] for r in content["runs"]}) == len(content["runs"])
    )
    assert all(isinstance(r["params"], int) for r in content["runs"])


def test_printed_mixtures_obey_the_limits(plan: Plan) -> None:
    names = plan.request.names
    region = Region.of(plan.request.domains.constraints(names, tokens=8e9))
    for run in planned_runs(plan):
        vector = [run.mixture.get(n, 0.0) for n in names]
        assert region.violation(pytest.importorskip("numpy").array(vector)) <= 1e-9


def test_rounding_goes_to_the_largest_share() -> None:
    import numpy as np

    shares = printed(("a", "b", "c"), np.array([1 / 3, 1 / 3, 1 / 3]))
    assert math.fsum(shares.values()) == 1 and shares["b"] == 0.333333333333
    assert printed(("a", "b"), np.array([1.0, 0.0])) == {"a": 1.0}


@pytest.mark.parametrize("form", ["yaml", "csv"])
def test_ingest_reads_it_as_a_run_sheet(plan: Plan, tmp_path: Path, form: str) -> None:
    content = manifest(plan, planned_runs(plan))
    path = tmp_path / f"plan.{form}"
    path.write_text(to_csv(content["runs"], plan.request.names) if form == "csv" else to_yaml(content))
    sheet = Sheet.load(path)
    for run in content["runs"]:
        assert sheet.facts(run["name"])["params"] == run["params"]
        read = {k: v for k, v in sheet.mixture(run["name"]).items() if v > 0}
        assert read == pytest.approx(run["mixture"], abs=1e-12)


def test_experts_and_prices_are_written(request_for: PlanRequest) -> None:
    sizes = (Size(1e9, (4e9,), 2e8, 10.0), Size(4e9, (1.6e10,), 8e8, 90.0))
    quick = ExchangeOptions(trials=10, late=10, early=5, steps=2)
    plan = make_plan(
        replace(request_for, sizes=sizes, budget=400.0, unit="cost", exchange=quick, target=Scale(5e10, 1e11, 8e9)),
        "hourglass",
    )
    content = manifest(plan, planned_runs(plan))
    assert content["unit"] == "cost" and content["target"]["params_active"] == 8e9
    first = content["runs"][0]
    assert (first["params"], first["params_active"], first["flops"], first["cost"]) == (1e9, 2e8, 6 * 2e8 * 4e9, 10.0)
    assert content["spent"] == math.fsum(r["cost"] for r in content["runs"]) <= 400
    assert to_csv(content["runs"], plan.request.names).splitlines()[0].startswith("name,params,params_active,tokens")
