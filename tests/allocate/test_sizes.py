from __future__ import annotations

import pytest

from mixlaw.allocate.sizes import Scale, Size, build_sizes, parse_pairs, parse_size
from mixlaw.errors import UsageError


def build(names: str, **options: object) -> tuple[Size, ...]:
    given = {"per_param": [20.0], "tokens": {}, "prices": {}} | options
    return build_sizes(names.split(","), **given)  # type: ignore[arg-type]


def test_flops_are_six_n_d() -> None:
    (size,) = build("150M")
    assert size.tokens == (3e9,)
    assert size.flops == size.cost == 6 * 1.5e8 * 3e9


def test_experts_pay_for_active_parameters() -> None:
    (size,) = build("7B-A1B")
    assert (size.params, size.active, size.tokens, size.flops) == (7e9, 1e9, (2e10,), 6 * 1e9 * 2e10)
    assert size.label == "7B-A1B"
    assert Scale(7e9, 1e11, 1e9).effective == 1e9


def test_several_token_counts_are_checkpoints_of_the_longest() -> None:
    (size,) = build("100M", per_param=[20.0, 5.0, 10.0])
    assert size.tokens == (5e8, 1e9, 2e9)
    assert size.flops == 6 * 1e8 * 2e9


def test_tokens_and_prices_by_size() -> None:
    small, large = build("1B,60M", tokens={"60M": "1B/3B"}, prices={"60M": "12", "1B": "900"})
    assert (small.tokens, small.cost) == ((1e9, 3e9), 12.0)
    assert (large.tokens, large.cost) == ((2e10,), 900.0)
    assert large.flops == 6 * 1e9 * 2e10


def test_sizes_of_runs_that_are_there_are_meant_where_they_are_near() -> None:
    small, middle, far = build("60k,110k,310k", known=[58_240.0, 111_488.0, 24_900.0], tokens={"110k": "2M"})
    assert (small.params, small.tokens) == (58_240, (20 * 58_240,))
    assert (middle.params, middle.tokens) == (111_488, (2e6,))
    assert far.params == 310_000
    assert build("64k", known=[58_240.0])[0].params == 64_000  # 10 % apart
    assert build("7B-A1B", known=[1.01e9, 7.01e9])[0].params == 7e9
    with pytest.raises(UsageError, match="different sizes"):
        build("58k,60k", known=[58_240.0])


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        ("60M", {"tokens": {"70M": "1B"}}, "70M"),
        ("60M,1B", {"prices": {"60M": "3"}}, "none for 1B"),
        ("60M,60M", {}, "different sizes"),
        ("60M-A1B", {}, "active"),
    ],
)
def test_slips_are_named(names: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        build(names, **options)


def test_words_that_are_no_sizes() -> None:
    with pytest.raises(UsageError, match="--sizes"):
        parse_size("big")
    with pytest.raises(UsageError, match="size=number"):
        parse_pairs("60M:3", name="--price")
    assert parse_pairs(" 60M=3, 1B=4 ", name="--price") == {"60M": "3", "1B": "4"}
    assert parse_pairs(None, name="--price") == {}
