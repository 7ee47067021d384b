"""What names of columns are taken for."""

from __future__ import annotations

import pandas as pd
import pytest

from mixlaw.errors import InputError
from mixlaw.logs.metrics import TRAIN_LOSS, metric
from mixlaw.logs.names import align, recognise
from mixlaw.logs.options import IngestOptions
from mixlaw.units import Unit

BPB, PPL = Unit.BITS_PER_BYTE, Unit.PERPLEXITY


@pytest.mark.parametrize(
    ("name", "column", "unit"),
    [
        ("arxiv_loss", "loss/arxiv", None),
        ("loss_arxiv", "loss/arxiv", None),
        ("loss/arxiv", "loss/arxiv", None),
        ("arxiv/loss", "loss/arxiv", None),
        ("metric/the_pile_arxiv_val_loss", "loss/the_pile_arxiv", None),
        ("metrics/eval/web/LanguageCrossEntropy", "loss/web", None),
        ("eval/paloma/c4_en/bpb", "loss/paloma/c4_en", BPB),
        ("eval/downstream/arc_easy (BPB v2)", "loss/arc_easy", BPB),
        ("eval/downstream/arc_easy (CE loss)", "loss/arc_easy", None),
        ("eval/downstream/arc_easy (accuracy)", "bench/arc_easy", None),
        ("eval/lm/c4_en/PPL", "loss/c4_en", PPL),
        ("eval/a, b@c (x)/loss", "loss/a, b@c (x)", None),
        ("web_loss_nats", "loss/web", Unit.NATS),
        ("loss/web (nats/token)", "loss/web", Unit.NATS),
        ("loss/web [nats/token]", "loss/web", Unit.NATS),
        ("loss/web [bits/byte]", "loss/web", BPB),
        ("loss/web (bits / byte)", "loss/web", BPB),
        ("loss/web[BPB]", "loss/web", BPB),
        ("val_loss_web (bits per byte)", "loss/web", BPB),
        ("loss/web [bits/token]", "loss/web", Unit.BITS),
        ("loss/web (nats/byte)", "loss/web", Unit.NATS_PER_BYTE),
        ("loss/web [perplexity]", "loss/web", PPL),
        ("web bpb [bits/byte]", "loss/web", BPB),
        ("loss/web [held out]", "loss/web [held out]", None),
        ("train/loss [bits/byte]", TRAIN_LOSS, None),
        ("val_loss", "loss/val", None),
        ("validation_loss_web", "loss/web", None),
        ("val/loss/web", "loss/web", None),
        ("final_loss", "loss/final", None),
        ("loss", "loss/loss", None),
        ("lm loss validation", "loss/validation", None),
        ("web/val/nll_per_token", "loss/web", None),
        ("acc_hellaswag", "bench/hellaswag", None),
        ("hellaswag/acc_norm", "bench/hellaswag", None),
        ("train/loss", TRAIN_LOSS, None),
        ("train/CE loss", TRAIN_LOSS, None),
        ("lm loss", TRAIN_LOSS, None),
        ("reduced_train_loss", TRAIN_LOSS, None),
        ("loss_metrics/global_avg_loss", TRAIN_LOSS, None),
    ],
)
def test_metric_names(name: str, column: str, unit: Unit | None) -> None:
    found = metric(name)
    assert found is not None
    assert (found.name, found.unit) == (column, unit)


def test_brackets_that_contradict_the_name() -> None:
    with pytest.raises(InputError, match=r"'web_bpb \[nats/token\]'. Got bits/byte and nats/token"):
        metric("web_bpb [nats/token]")


def test_two_units_of_a_target_stay_two_columns() -> None:
    columns = ["run", "loss/web [bits/byte]", "loss/web [nats/token]", "loss/web (BPB)"]
    frame = pd.DataFrame([["a", 0.9, 2.9, 0.9]], columns=columns)
    found = {c.source: c for c in recognise(frame, IngestOptions()).used}
    assert [found[name].name for name in columns[1:]] == [
        "loss/web [bits/byte]", "loss/web", "loss/web (BPB)"
    ]  # fmt: skip
    assert [found[name].unit for name in columns[1:]] == [BPB, Unit.NATS, BPB]


@pytest.mark.parametrize(
    "name",
    [
        "lr",
        "grad_norm",
        "loss scale",
        "load_balancing_loss",
        "z_loss",
        "moe/aux_loss",
        "loss_tokens_lower_95",
        "close",
        "accumulate",
        "train_ppl",
        "word_perplexity",
        "byte_perplexity",
        "acc_stderr",
        "web_nll_per_char",
        "tokens_per_second",
    ],
)
def test_names_that_are_no_metric(name: str) -> None:
    assert metric(name) is None


def names_of(columns: dict[str, list[object]], **options: object) -> dict[str, str]:
    plan = recognise(pd.DataFrame(columns), IngestOptions.build(**options))  # type: ignore[arg-type]
    return {c.source: c.name for c in plan.used}


@pytest.mark.parametrize(
    "form", ["weight_{}", "w_{}", "mix/{}", "ratio_{}", "train_{}", "mixture.{}", "{}_share", "{}_pct"]
)
def test_shares_by_name(form: str) -> None:
    web, code = form.format("web"), form.format("code")
    found = names_of({"run": ["a", "b"], web: [0.6, 0.1], code: [0.4, 0.9], "web_loss": [3.0, 3.1]})
    assert found == {"run": "run", web: "mix/web", code: "mix/code", "web_loss": "loss/web"}


def test_words_that_only_look_like_shares_are_left_out() -> None:
    found = names_of(
        {
            "weight_decay": [0.1, 0.1],
            "warmup_ratio": [0.01, 0.02],
            "train_batch_size": [0.5, 0.5],
            "train_runtime": [0.5, 0.5],
            "web_loss": [3.0, 3.0],
        }
    )
    assert found == {"web_loss": "loss/web"}


def test_weak_words_need_rows_that_sum_to_one() -> None:
    assert names_of({"train_a": [0.5, 0.9], "train_b": [0.9, 0.9], "x_loss": [1.0, 2.0]}) == {"x_loss": "loss/x"}


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("model_size", "params"),
        ("N", "params"),
        ("n_params", "params"),
        ("Model Size", "params"),
        ("D", "tokens"),
        ("n_tokens", "tokens"),
        ("throughput/total_tokens", "tokens"),
        ("global_step", "step"),
        ("iteration", "step"),
        ("run_name", "run"),
        ("active_params", "params_active"),
        ("Training FLOP", "flops"),
    ],
)
def test_scalars(name: str, column: str) -> None:
    assert names_of({name: [1.0, 2.0], "web_loss": [3.0, 3.1]})[name] == column


@pytest.mark.parametrize("name", ["n", "d", "no", "dn"])
def test_one_letter_names_count_in_capitals_only(name: str) -> None:
    assert name not in names_of({name: [1.0, 2.0], "web_loss": [3.0, 3.1]})


def test_loss_beside_a_validation_loss_is_of_training() -> None:
    found = names_of({"loss": [3.0], "val_loss": [3.1]})
    assert found == {"loss": TRAIN_LOSS, "val_loss": "loss/val"}
    assert names_of({"loss": [3.0], "web_loss": [3.1]})["loss"] == "loss/loss"


def test_two_measures_of_one_target_keep_apart() -> None:
    plan = recognise(
        pd.DataFrame({"eval/web/loss": [3.0], "eval/web/bpb": [1.0], "eval/web/ppl": [20.0]}), IngestOptions()
    )
    assert {c.source: (c.name, c.unit) for c in plan.used} == {
        "eval/web/loss": ("loss/web", None),
        "eval/web/bpb": ("loss/web/bpb", BPB),
    }
    found = names_of({"val_web_loss": [3.0], "test_web_loss": [3.1]})
    assert sorted(found.values()) == ["loss/test_web_loss", "loss/val_web_loss"]


def test_common_parts_are_cut_only_where_names_do_not_meet() -> None:
    domains, targets = align(["pile_web", "pile_code"], ["val_web", "val_code", "val_math"])
    assert domains == {"pile_web": "web", "pile_code": "code"}
    assert targets == {"val_web": "web", "val_code": "code", "val_math": "math"}
    assert align(["x_web", "x_code"], ["x_web", "x_math"]) == ({}, {})
    assert align(["web_en", "web_de"], ["books", "code"]) == ({}, {})
