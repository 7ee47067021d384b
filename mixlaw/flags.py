"""Doubts about a result, each with a name and a numeric definition."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Doubt(Enum):
    """The definition of each flag that a fit or a prediction can carry."""

    AT_BOUND = "a parameter lies on its bound"
    ILL_CONDITIONED = "condition number of the scaled Jacobian above 1e6"
    REDUNDANT = "directions in parameter space that the data do not see (singular values below 1e-8 of the first)"
    STARTS_DISAGREE = "fewer than 10 % of the starts end within 1 % of the best objective"
    TOO_FEW_RUNS = "fewer than 3 (K + 1) runs for K domains"
    FEWER_RUNS_THAN_PARAMETERS = "fewer runs than parameters of the law"
    SINGLE_SCALE = "one model size and one token count: only the mixture can be judged, at that scale"
    ONE_RATIO = "one ratio of tokens to parameters for all runs: the effects of N and D cannot be told apart"
    MISFIT = "median absolute residual on the training data above 5 %: the law does not describe these losses"
    MISSES_LARGEST_SIZE = (
        "fitted losses at the ends of the runs of the largest size are off to one side by more than 1 % on average and "
        "3 standard errors: the law does not follow the step to that size, and larger sizes will be off too"
    )
    SIZE_NOT_IN_LAW = "no law here has the model size in it: values hold at the sizes of the data only"
    TOKENS_NOT_IN_LAW = "no law here has the tokens in it: values hold at the token counts of the data only"
    EXTRAPOLATES_SIZE = "more than 10 times the largest size in the data"
    EXTRAPOLATES_TOKENS = "more than 10 times the most tokens in the data"
    BEYOND_TESTED_STEP = (
        "further above the largest size in the data than that is above the next smaller one: no error measured on "
        "these runs covers such a step, and their intervals rest on the form of the laws"
    )
    BELOW_DATA = "less than a tenth of the smallest size, or of the tokens of the shortest run, in the data"
    EXTRAPOLATES_MIXTURE = (
        "a share lies outside the range of the data by more than 0.02, or below half its smallest value there (of 0.01 "
        "or more)"
    )
    BASELINE_EXTRAPOLATES = (
        "a comparison mixture has a share outside the range of the data by more than 0.02, or below half its smallest "
        "value there (of 0.01 or more): its value, and the gain over it, are extrapolated"
    )
    MIXED_UNITS = "the objective adds losses in different units: those with the larger numbers decide"
    TIE = "the difference is smaller than its uncertainty"
    FLAT = "shares that can move by more than 0.1 while the objective stays within the noise of one run"
    FAR_FROM_RUNS = "further from every run than any run is from its nearest neighbour"
    REPEATS_MORE = "more than one epoch of a domain, and more than twice those of any run in the data"
    NO_BOOTSTRAP = "no bootstrap in the fit: uncertainty from parameter covariances, errors of all targets together"
    NOT_CALIBRATED = (
        "intervals and probabilities were not held against losses left out of the fit: they hold its noise and not "
        "what the law misses, and can be several times too narrow (mixlaw fit --bootstrap 200 widens them)"
    )
    SMALL_GAIN = "surely better, but by less than the scatter of one run: one run of each would not show it"
    SEARCH_UNFINISHED = "optimality conditions of the search hold to less than five digits"


@dataclass(frozen=True)
class Flag:
    """One doubt, a member of an enum of definitions, and what it was raised for."""

    doubt: Enum
    detail: str = ""

    @property
    def name(self) -> str:
        """Name in files and tables, as in ``at-bound``."""
        return self.doubt.name.lower().replace("_", "-")

    def __str__(self) -> str:
        return f"{self.name}: {self.detail}" if self.detail else f"{self.name}: {self.doubt.value}"
