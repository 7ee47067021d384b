from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mixlaw.errors import InputError
from mixlaw.units import Unit, decimal, human, parse_number, parse_numbers, parse_positive, with_error


@pytest.mark.parametrize(
    ("text", "value"),
    [("20B", 2e10), ("410M", 4.1e8), ("1e21", 1e21), ("1,000", 1000.0), ("1.5T", 1.5e12), (" 3k ", 3e3), (7, 7.0)],
)
def test_numbers_as_people_write_them(text: str | int, value: float) -> None:
    assert parse_number(text) == value


@pytest.mark.parametrize("text", ["", "B", "20X", "twenty", "nan", "inf", "1e999", "1 2"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="Expected tokens"):
        parse_number(text, name="tokens")


def test_zero_is_not_positive() -> None:
    with pytest.raises(InputError, match="above zero"):
        parse_positive("0")


def test_lists_of_numbers() -> None:
    assert parse_numbers("60M,150M, 1B") == [6e7, 1.5e8, 1e9]


@given(st.floats(1e-2, 9e14))
def test_human_numbers_read_back_to_three_digits(value: float) -> None:
    assert parse_number(human(value)) == pytest.approx(value, rel=6e-3)


def test_plain_decimals_have_no_exponent() -> None:
    assert decimal(1e-9) == "0.000000001000"


def test_values_are_shown_to_two_digits_of_their_error() -> None:
    assert with_error(2.91834, 0.0123) == "2.918 ± 0.012"
    assert with_error(2.91834, 0.0) == "2.9183"


def test_units_have_aliases_and_unknown_ones_are_refused() -> None:
    assert Unit.named("BPB") is Unit.BITS_PER_BYTE
    with pytest.raises(InputError, match="nats/token"):
        Unit.named("furlongs")
