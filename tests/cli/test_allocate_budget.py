"""The command as a person uses it: a plan, its file, the next runs, a replay, and slips."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd
import pytest
import yaml

from mixlaw.cli import main

DOMAINS = """
domains:
  web: {prior: 0.7, available_tokens: 1e12, max: 0.8}
  code: {prior: 0.2, available_tokens: 1e11, min: 0.05}
  math: {prior: 0.1, available_tokens: 5e9, max: 0.4}
groups:
  technical: {members: [code, math], min: 0.15, max: 0.7}
"""
WORDS = ["--sizes", "60M,150M,400M", "--tokens-per-param", "10,20", "--target-params", "2B", "--target-tokens", "40B"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "domains.yaml").write_text(DOMAINS)
    return tmp_path


@pytest.fixture
def runs(here: Path) -> str:
    """Twelve runs at each of two sizes, whose losses follow a known law."""
    rows = []
    for params in (6e7, 1.5e8):
        for number in range(12):
            web, code = 0.2 + 0.05 * (number % 6), 0.1 + 0.1 * (number // 3)
            math_share = 1 - web - code
            for part in (0.5, 1.0):
                tokens = 20 * params * part
                worth = {"web": web + 0.3 * code, "code": code + 0.3 * web}
                loss = {t: 1 + (params / 1e8) ** -0.2 + (tokens * w / 1e9) ** -0.3 for t, w in worth.items()}
                rows.append(
                    {"run": f"{params:.0e}-{number}", "tokens": tokens, "params": params, "mix/web": web,
                     "mix/code": code, "mix/math": math_share, **{f"loss/{t}": v for t, v in loss.items()}}
                )  # fmt: skip
    pd.DataFrame(rows).to_csv(here / "runs.csv", index=False)
    return "runs.csv"


def allocate(*words: str) -> int:
    return main(["allocate-budget", *words])


def test_a_plan_is_printed_and_written(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert allocate("--flops", "1e20", *WORDS, "--domains", "domains.yaml", "-o", "plan.yaml") == 0
    out, err = capsys.readouterr()
    for word in ("optimal *", "hourglass", "pyramid", "uniform", "of budget", "regret"):
        assert word in out
    assert "wrote plan.yaml" in err and "law: default prior" in err
    plan = yaml.safe_load((here / "plan.yaml").read_text())
    assert plan["spent"] <= plan["budget"] == 1e20
    assert plan["spent"] == pytest.approx(math.fsum(r["flops"] for r in plan["runs"]))
    for run in plan["runs"]:
        mixture = {"code": 0, "math": 0, "web": 0, **run["mixture"]}
        assert mixture["web"] <= 0.8 + 1e-9 and mixture["code"] >= 0.05 - 1e-9 and mixture["math"] <= 0.4 + 1e-9
        assert 0.15 - 1e-9 <= mixture["code"] + mixture["math"] <= 0.7 + 1e-9


def test_what_a_plan_leaves_of_the_budget_is_said(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert allocate("--flops", "1e21", *WORDS, "--domains", "domains.yaml", "-o", "plan.yaml") == 0
    out, err = capsys.readouterr()
    plan = yaml.safe_load((here / "plan.yaml").read_text())
    assert plan["unspent"]["left"] == pytest.approx(plan["budget"] - plan["spent"])
    assert f"{100 * plan['unspent']['left'] / plan['budget']:.1f}% of the budget is left: " in err
    assert f"{100 * plan['spent'] / plan['budget']:.1f}%" in out
    assert allocate("--flops", "1e21", *WORDS, "--domains", "domains.yaml", "--strategy", "uniform") == 0
    assert "of the budget is left" not in capsys.readouterr().err


def test_the_same_seed_gives_the_same_bytes(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts = []
    for seed in ("3", "3", "4"):
        assert allocate("--flops", "5e18", *WORDS, "--domains", "domains.yaml", "--seed", seed, "--json") == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] != texts[2]
    data = json.loads(texts[0])
    assert {"budget", "spent", "strategy", "target", "predicted", "runs", "sizes", "warnings", "prior"} <= set(data)
    assert sum(s["share"] for s in data["sizes"]) == pytest.approx(data["spent"] / data["budget"])


def test_hours_instead_of_flops(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    price = ["--price", "60M=2,150M=7,400M=40", "--hours", "120"]
    assert allocate(*price, *WORDS, "--domains", "domains.yaml", "--strategy", "hourglass", "-o", "plan.csv") == 0
    out, _ = capsys.readouterr()
    assert "GPU-hours" in out and "hourglass *" in out
    table = pd.read_csv(here / "plan.csv")
    cost = table["params"].map({6e7: 2, 1.5e8: 7, 4e8: 40}).sum()
    assert 80 < cost <= 120
    assert table.filter(like="mix/").sum(axis=1).to_numpy() == pytest.approx(1, abs=1e-9)


def test_the_written_plan_is_a_sheet_for_ingest(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert allocate("--flops", "2e19", *WORDS, "--domains", "domains.yaml", "--strategy", "ends", "-o", "p.yaml") == 0
    plan = yaml.safe_load((here / "p.yaml").read_text())
    logs = pd.DataFrame(
        [{"run": r["name"], "tokens": t, "loss/web": 3.0} for r in plan["runs"] for t in r["checkpoints"]]
    )
    logs.to_csv(here / "logs.csv", index=False)
    assert main(["ingest", "logs.csv", "--mixtures", "p.yaml", "-o", "table.csv"]) == 0
    table = pd.read_csv(here / "table.csv")
    assert set(table["params"]) <= {6e7, 4e8}
    first = plan["runs"][0]
    row = table[table["run"] == first["name"]].iloc[0]
    assert all(row[f"mix/{d}"] == pytest.approx(s, abs=1e-9) for d, s in first["mixture"].items())


def test_runs_that_are_done_are_the_prior(here: Path, runs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert allocate(runs, "--flops", "2e19", *WORDS, "--domains", "domains.yaml", "--json") == 0
    out, err = capsys.readouterr()
    assert "fits of the law capacity to 24 runs, 2 targets" in json.loads(out)["prior"]
    assert "fits of the law capacity" in err


def test_next_runs(here: Path, runs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert allocate(runs, "--next", "3", *WORDS, "-o", "next.yaml") == 0
    out, err = capsys.readouterr()
    assert "Run next" in out and "regret left" in out
    assert "warning no-priors: no natural mixture is known" in err  # RUNS alone say nothing about natural shares
    plan = yaml.safe_load((here / "next.yaml").read_text())
    assert len(plan["runs"]) == 3 and "budget" not in plan
    left = [plan["predicted"]["regret_now"], *plan["predicted"]["regret_after"]]
    assert left[-1] <= left[0]
    assert allocate(runs, "--next", "2", "--flops", "5e18", *WORDS, "--json") == 0
    bounded = json.loads(capsys.readouterr().out)
    assert bounded["spent"] <= bounded["budget"] == 5e18
    assert any(line.startswith("no-priors") for line in bounded["warnings"])
    assert "regret left, in nats" in err and "planned as those" not in err
    assert allocate(runs, "--next", "1", "--sizes", "58M,151M,400M", *WORDS[2:], "--json") == 0
    out, err = capsys.readouterr()
    assert "58M as 60M (3.4% apart), 151M as 150M (0.7% apart)" in err
    assert json.loads(out)["runs"][0]["params"] in (6e7, 1.5e8, 4e8)
    assert allocate(runs, "--next", "2", *WORDS[:-3], "20B", "--target-tokens", "400B") == 0
    assert "warning far-target: 20B is 133 times the largest proxy, 150M" in capsys.readouterr().err


def test_without_priors_no_mixture_is_called_natural(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "domains.yaml").write_text("domains:\n  web: {}\n  code: {}\n  math: {}\n")
    assert allocate("--flops", "2e19", *WORDS, "--domains", "domains.yaml", "--strategy", "uniform") == 0
    out, err = capsys.readouterr()
    assert "natural" not in out and "uniform" in out
    assert "warning no-priors" in err


def test_nesting_says_whether_it_helps(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--flops", "1e19", *WORDS, "--domains", "domains.yaml", "--strategy", "hourglass", "--nested"]
    assert allocate(*words) == 0
    assert "nested: sharing mixtures across sizes" in capsys.readouterr().err


def test_help_names_every_strategy(capsys: pytest.CaptureFixture[str]) -> None:
    assert allocate("--help") == 0
    out = capsys.readouterr().out
    assert all(word in out for word in ("hourglass", "pyramid", "--replay", "--nested", "--price", "--next"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--flops", "1e20", "--domains", "domains.yaml"], "--sizes 60M,400M,1B"),
        ([*WORDS, "--domains", "domains.yaml"], "a budget"),
        (["--flops", "1e20", *WORDS], "--domains FILE"),
        (["--hours", "10", *WORDS, "--domains", "domains.yaml"], "--price"),
        (["--flops", "1e20", *WORDS, "--domains", "domains.yaml", "--strategy", "best"], "'best'"),
        (["--flops", "1e20", *WORDS, "--domains", "domains.yaml", "--design", "odd"], "'odd'"),
        (["--next", "2", *WORDS, "--domains", "domains.yaml"], "RUNS with --next"),
        (["--replay"], "RUNS with --replay"),
        (["--flops", "1e20", *WORDS, "--domains", "domains.yaml", "--json", "-o", "-"], "both"),
    ],
)
def test_slips_are_usage_errors(here: Path, words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert allocate(*words) == 2
    out, err = capsys.readouterr()
    assert message in err and out == ""


def test_a_budget_that_buys_nothing_is_an_input_error(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert allocate("--flops", "1e10", *WORDS, "--domains", "domains.yaml") == 3
    assert "at least one run" in capsys.readouterr().err


@pytest.mark.data
def test_replay_of_the_public_table(shared: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two seeds at a tenth of the FLOPs: optimal against equal FLOPs (more seeds: see the README)."""
    table = shared / "apple_dmsl" / "dmsl_llm_slimpajama.csv"
    words = ["--replay", "--seeds", "2", "--budgets", "0.1", "--strategies", "optimal,equal-flops", "--json"]
    assert allocate(str(table), *words) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["held_out"] == 9.37e8 and data["sizes"] == [1.22e8, 3.1e8, 6.8e8]
    cells = {c["strategy"]: c for c in data["cells"]}
    assert cells["optimal"]["error"]["mean"] < min(0.0085, cells["equal-flops"]["error"]["mean"])
    assert all(c["spent"] <= 0.1 * data["flops"] for c in cells.values())
    assert data["all_runs"]["error"] == pytest.approx(0.0047, abs=4e-4)
