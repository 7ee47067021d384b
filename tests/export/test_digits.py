from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mixlaw.errors import InputError
from mixlaw.export.digits import as_float, exact_shares, plain, rounded, trimmed

weights = st.lists(st.floats(1e-9, 1), min_size=1, max_size=300)


@settings(derandomize=True, max_examples=50, deadline=None)
@given(weights)
def test_printed_shares_sum_to_exactly_one_and_keep_twelve_digits(values):
    shares = exact_shares({str(i): value for i, value in enumerate(values)})
    printed = [plain(share) for share in shares.values()]
    assert sum(map(Decimal, printed)) == 1
    assert not any("e" in text.lower() for text in printed)
    total = sum(values)
    for text, value in zip(printed, values, strict=True):
        assert float(text) == pytest.approx(value / total, rel=1e-11)


def test_thirds_put_the_remainder_on_the_largest():
    assert [plain(s) for s in exact_shares({"a": 1, "b": 1, "c": 1}).values()] == [
        "0.333333333334",
        "0.333333333333",
        "0.333333333333",
    ]


def test_short_shares_stay_short():
    assert [plain(s) for s in exact_shares({"a": 60, "b": 30, "c": 10}).values()] == ["0.6", "0.3", "0.1"]


def test_tiny_shares_are_plain_decimals():
    assert plain(exact_shares({"a": 1 - 1e-9, "b": 1e-9})["b"]) == "0.000000001"


def test_shares_that_floats_lose_are_refused_by_name():
    with pytest.raises(InputError, match=r"1e-20 for 'b'"):
        exact_shares({"a": 1.0, "b": 1e-20})


def test_rounded_and_trimmed_keep_a_point():
    assert [plain(rounded(v)) for v in (3, 2.5, 1e-7, 1e20)] == ["3.0", "2.5", "0.0000001", "100000000000000000000.0"]
    assert plain(trimmed(Decimal("10.20"))) == "10.2"


@pytest.mark.parametrize("text", ["1", "-.5", "1e-5", "1_000.0_1", "NaN", "-Infinity", "1.", "٣", " 2 ", "1e999"])
def test_what_float_reads_is_a_number(text):
    assert repr(as_float(text)) == repr(float(text))


@given(st.text(st.sampled_from("0123456789._eE+-naifty \u0663")))
@settings(derandomize=True, max_examples=500)
def test_everything_that_float_refuses_is_none(text):
    if as_float(text) is None:
        with pytest.raises(ValueError, match="could not convert"):
            float(text)
    else:
        float(text)
