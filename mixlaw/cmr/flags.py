"""Doubts about a critical mixture ratio, each with a name and a numeric definition."""

from __future__ import annotations

from enum import Enum

from mixlaw import flags


class Doubt(Enum):
    """The definition of each flag that an answer can carry."""

    TOLERANCE_IDLE = "every tested share keeps general loss within the tolerance at the budget: that test never binds"
    NO_FEASIBLE_SHARE = "at the budget general loss is still rising, or above the tolerance, at every share down to 0"
    NOT_BOUND = "every tested share passes both tests: the answer is the largest share tested, more may be safe"
    SHARE_EXTRAPOLATED = "the answer lies outside the tested shares"
    CLIPPED = "the law gives a share below 0 or above 1"
    SPLIT_SET = "the feasible shares are not one interval: a smaller share fails where a larger one passes"
    TOKENS_EXTRAPOLATED = "the budget is 1.01 to 2 times the longest run"
    TOKENS_BEYOND_2X = "the budget is more than 2 times the longest run: no answer is given"
    T0_EXTRAPOLATED = "T0 of a tested share is 1 to 2 times its longest run"
    T0_BEYOND_2X = "T0 of a tested share is more than 2 times its longest run: known only to be far"
    NO_TURNING = "general loss of a tested share shows no maximum"
    NOT_RECOVERED = (
        "past its peak is not recovered: at the answer general loss ends above the base model's in 95 % of draws"
    )
    BOTH_LOSSES_RISING = "in most runs both losses end above the base model's by 3 standard errors"
    LR_CHANGES_WITHIN_RUN = "learning rate varies by more than 1.2 times after the first 10 % of a run's tokens"
    LR_DIFFERS_BETWEEN_RUNS = "median learning rates of the runs differ by more than 1.05 times"
    LR_NOT_LOGGED = "no column meta/lr: a constant learning rate is taken on trust"
    FEW_SHARES = "fewer than 4 shares below 1: the interval leans on curves changing slowly with the share"
    FEW_READINGS = "fewer than 5 readings of general loss in the longest run of a share: its curve is left out"
    FULL_DOMAIN_LEFT_OUT = "runs without any replay (share 1) lie off the curve over shares and are left out of it"
    RUN_NOISE_UNSEEN = "fewer than 3 runs at a share: the interval covers noise of readings, not differences of runs"
    SPIKES_LEFT_OUT = "readings 8 robust standard deviations and 0.002 nats off the median of 5 neighbours are left out"
    POOR_FIT = "residuals exceed 1e-5 nats and 3 times the scatter of neighbouring readings: look at the picture first"
    SHAPE_MISFIT = (
        "answers with a fifth of each run left out scatter by more than noise gives in 95 % of cases (chi-squared): "
        "the law misses the curves' shape, and the interval is widened to what they show"
    )
    WIDE_INTERVAL = "the 90 % interval is wider than 20 points: the runs hardly constrain the answer"
    NO_NOISE = (
        "readings scatter by less than 1e-6 nats about their curves (smoothed logs?): the interval holds no noise"
    )
    CORRELATED_READINGS = (
        "neighbouring residuals correlate by more than 0.2 (slow noise or a poor fit): noise counts as larger"
    )
    FORMS_DISAGREE = (
        "turning shares of the three forms, as far as the tolerance lets them count, differ by more than 2 points and "
        "by more than the 90 % interval"
    )
    DOMAIN_LOSS_MISSING = "no domain loss: only the turning point of general loss can be judged"
    NOT_MONOTONE = "the fitted D-CPT law falls somewhere as the domain share grows"
    FEW_POINTS = "no more readings than parameters of the law: it interpolates"


class Flag(flags.Flag):
    """One doubt about an answer; as text it carries its definition."""

    def __str__(self) -> str:
        """Name, what it was raised for, and the definition."""
        return f"{self.name} ({self.detail}): {self.doubt.value}" if self.detail else f"{self.name}: {self.doubt.value}"
