"""Laws of a domain's own loss: which targets they serve, and one theta for all in the joint case."""

from __future__ import annotations

import numpy as np
import pytest

from mixlaw.dataset import Dataset
from mixlaw.errors import InputError
from mixlaw.fit import FitOptions, fit_law
from mixlaw.laws import EXAMPLES, LAWS, bound
from mixlaw.support import served, stacked
from mixlaw.units import Unit


def dataset(name: str, targets: tuple[str, ...], rng: np.random.Generator) -> Dataset:
    inputs = EXAMPLES[name].inputs(rng)
    theta = np.array(EXAMPLES[name].theta)
    log_y = np.array([np.log(bound(name, t if t in inputs.domains else "web").predict(theta, inputs)) for t in targets])
    runs = tuple(f"r{i}" for i in range(len(inputs)))
    return Dataset(inputs, targets, (Unit.named("nats/token"),) * len(targets), log_y, np.ones_like(log_y),
                   np.arange(len(inputs)), runs, "example")  # fmt: skip


@pytest.mark.parametrize("name", ["bimix", "competition"])
def test_targets_that_are_no_domains_get_no_fit(name: str, rng: np.random.Generator) -> None:
    data = dataset(name, ("math", "wiki", "web"), rng)
    assert served(LAWS[name], data) == ("math", "web")
    fits = fit_law(LAWS[name], data, FitOptions(starts=2))
    assert [f.target for f in fits] == ["math", "web"]
    assert [f.law.domain for f in fits] == ["math", "web"]


@pytest.mark.parametrize("name", ["bimix", "competition"])
def test_no_target_that_is_a_domain_is_an_error_that_names_both(name: str, rng: np.random.Generator) -> None:
    with pytest.raises(
        InputError, match=r"Expected losses on training domains \(web, code, math\).*Got losses on wiki"
    ):
        fit_law(LAWS[name], dataset(name, ("wiki",), rng))


def test_competition_holds_one_theta_for_all_targets(rng: np.random.Generator) -> None:
    data = dataset("competition", ("web", "code", "math"), rng)
    fits = fit_law(LAWS["competition"], data)
    assert len(fits[0].theta) == 5 * 3 + 1
    for index, fit in enumerate(fits):
        np.testing.assert_array_equal(fit.theta, fits[0].theta)
        np.testing.assert_allclose(np.log(fit.predict(data.inputs)), data.log_y[index], atol=1e-3)


def test_stacked_rows_know_their_domain(rng: np.random.Generator) -> None:
    data = dataset("competition", ("math", "web"), rng)
    whole = stacked(data)
    theta = np.array(EXAMPLES["competition"].theta)
    np.testing.assert_allclose(np.log(LAWS["competition"].predict(theta, whole.inputs)), whole.log_y[0], rtol=1e-12)


def test_one_token_count_leaves_bimix_its_share_alone(rng: np.random.Generator) -> None:
    data = dataset("bimix", ("web",), rng)
    one = data.rows(data.inputs.tokens == data.inputs.tokens[0])
    assert fit_law(LAWS["bimix"], one)[0].form == "bimix-mix"
