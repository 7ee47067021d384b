"""Every format: the documented shape, what it refuses, and back to the same shares."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from itertools import pairwise

import pytest
import yaml

from mixlaw.domains import Domain, Domains
from mixlaw.errors import InputError, MissingFactError, UsageError
from mixlaw.export import EXPORTERS, REFUSED, ExportOptions, check, render
from mixlaw.mixture import Mixture, Recipe

SHARES = {"web": 0.6, "code": 0.3, "math": 0.1}
P = [0.631578947368, 0.105263157895, 0.263157894737]  # 12/19, 2/19, 5/19
WORDS = ["0.6", "/data/web", "0.3", "/data/code", "0.1", "/data/math"]
FOLDERS = ["/data/web", "/data/code", "/data/math"]


def sources(**columns):
    """Three mappings from three values per key."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def streams(**numbers):
    (kind, values), names = next(iter(numbers.items())), list(SHARES)
    found = sources(local=FOLDERS, **{kind: values})
    return {"train_loader": {"dataset": {"streams": dict(zip(names, found, strict=True))}}}


SHAPES = {
    "megatron-split": {"train": WORDS, "valid": None, "test": None},
    "megatron-bridge": {"dataset": {"data_path": WORDS}},
    "nemo": {"model": {"data": {"data_prefix": WORDS}}},
    "olmo-core": {
        "sources": [
            {"source_name": "web", "target_ratio": 0.6, "paths": ["/data/web"]},
            {"source_name": "code", "target_ratio": 0.3, "paths": ["/data/code"], "max_repetition_ratio": 3.06},
            {"source_name": "math", "target_ratio": 0.1, "paths": ["/data/math"], "max_repetition_ratio": 2.04},
        ]
    },
    "streaming": streams(proportion=[0.6, 0.3, 0.1]),
    "streaming-text": streams(proportion=P),
    "streaming-repeat": streams(repeat=[0.3, 3.0, 2.0]),
    "streaming-choose": streams(choose=[1_200_000, 200_000, 500_000]),
    "levanter": {
        "data": {
            "components": {n: {"source": {"type": "url", "train_urls": [f"/data/{n}"]}} for n in SHARES},
            "train_weights": SHARES,
            "mixture_block_size": 2048,
        }
    },
    "levanter-configs": {
        "data": {
            "configs": {n: {"train_urls": [f"/data/{n}"]} for n in SHARES},
            "train_weights": SHARES,
            "mixture_block_size": 2048,
        }
    },
    "gpt-neox": {"train-data-paths": FOLDERS, "train-data-weights": [0.6, 0.3, 0.1]},
    "nanotron": {
        "data_stages": [
            {
                "name": "stage_1",
                "start_training_step": 1,
                "data": {
                    "seed": 42,
                    "num_loading_workers": 1,
                    "dataset": {"dataset_folder": FOLDERS, "dataset_weights": [0.6, 0.3, 0.1]},
                },
            }
        ]
    },
    "hf": {"names": list(SHARES), "paths": FOLDERS, "probabilities": P, "stopping_strategy": "all_exhausted"},
    "lingua": {"data": {"sources": dict(zip(FOLDERS, P, strict=True))}},
    "llama-factory": {
        "dataset": "web,code,math",
        "mix_strategy": "interleave_over",
        "interleave_probs": "0.631578947368,0.105263157895,0.263157894737",
    },
    "ms-swift": {"dataset": FOLDERS, "interleave_prob": [str(p) for p in P], "stopping_strategy": "all_exhausted"},
    "energon": {
        "__module__": "megatron.energon",
        "__class__": "MetadatasetV2",
        "splits": {"train": {"blend": sources(weight=P, path=FOLDERS)}},
    },
    "open-instruct": {"dataset_mixer_list": ["/data/web", "1200000", "/data/code", "200000", "/data/math", "500000"]},
    "bridge-sft": {"dataset": {"sources": FOLDERS, "source_weights": [0.3, 3.0, 2.0]}},
    "dolma": {"source_prefixes": sources(prefix=FOLDERS, sample_rate=[0.3, 3.0, 2.0])},
    "table-yaml": {
        "domains": sources(
            domain=list(SHARES),
            share=[0.6, 0.3, 0.1],
            tokens=[600_000_000, 300_000_000, 100_000_000],
            epochs=[0.3, 3.0, 2.0],
            documents=[1.2e6, 2e5, 5e5],
        )
    },
}
OTHER_TEXT = {"megatron", "hf-python", "table"}


def test_every_format_has_its_shape_here():
    assert SHAPES.keys() | OTHER_TEXT == EXPORTERS.keys()
    assert all(exporter.about.name == name for name, exporter in EXPORTERS.items())


@pytest.mark.parametrize("form", SHAPES)
def test_documented_shape(form, recipe, domains):
    assert yaml.safe_load(render(form, recipe, domains=domains).text) == SHAPES[form]


def test_megatron_is_words_without_anything_else(recipe, domains):
    assert render("megatron", recipe, domains=domains).text == "0.6 /data/web\n0.3 /data/code\n0.1 /data/math\n"


def test_per_split_file_is_json(recipe, domains):
    assert json.loads(render("megatron-split", recipe, domains=domains).text)["test"] is None


def test_table_is_csv_with_empty_cells_for_what_is_unknown(recipe):
    rows = list(csv.DictReader(io.StringIO(render("table", recipe).text)))
    assert rows[0] == {"domain": "web", "share": "0.6", "tokens": "600000000", "epochs": "", "documents": ""}


@pytest.mark.parametrize("form", EXPORTERS)
def test_round_trip(form, recipe, domains):
    text = render(form, recipe, domains=domains).text
    audit = check(form, text, domains=domains, options=ExportOptions(tokens=1e9))
    assert audit.shares == pytest.approx(SHARES, abs=1e-9)
    assert audit.epochs == pytest.approx({"web": 0.3, "code": 3, "math": 2}, rel=1e-9)
    assert not audit.warnings


@pytest.mark.parametrize("form", EXPORTERS)
def test_same_bytes_again(form, recipe, domains):
    assert render(form, recipe, domains=domains) == render(form, recipe, domains=domains)


@pytest.mark.parametrize("form", [name for name, e in EXPORTERS.items() if e.about.needs])
def test_a_missing_fact_is_named_and_never_guessed(form, recipe, domains):
    needs = EXPORTERS[form].about.needs
    for fact in needs:
        if fact == "tokens":
            broken, without = domains, replace(recipe, tokens=None)
        else:
            code = replace(domains.get("code"), **{fact: None})
            broken, without = Domains({**domains.by_name, "code": code}), recipe
        with pytest.raises(MissingFactError) as refusal:
            render(form, without, domains=broken)
        assert ("--tokens" if fact == "tokens" else fact) in str(refusal.value)
        assert ("code" in str(refusal.value)) == (fact != "tokens")


@pytest.mark.parametrize("form", [name for name, e in EXPORTERS.items() if not e.about.needs])
def test_token_share_formats_need_no_facts(form):
    audit = check(form, render(form, Recipe(Mixture(SHARES))).text)
    assert audit.shares == pytest.approx(SHARES, abs=1e-12)


@pytest.mark.parametrize("form", REFUSED)
def test_refused_trainers_say_why_and_what_works(form, recipe):
    with pytest.raises(UsageError) as refusal:
        render(form, recipe)
    assert REFUSED[form].why in str(refusal.value) and "--format" in REFUSED[form].instead


@pytest.mark.parametrize("form", REFUSED)
def test_the_nearest_thing_that_works_is_a_format(form):
    words = REFUSED[form].instead.replace(";", " ").replace(":", " ").replace(".", " ").split()
    named = [after for word, after in pairwise(words) if word == "--format"]
    assert named and set(named) <= EXPORTERS.keys()


def test_unknown_format_lists_the_known():
    with pytest.raises(UsageError, match=r"megatron, .*'megatrn'"):
        render("megatrn", Recipe(Mixture(SHARES)))


@pytest.mark.parametrize(
    ("form", "path"),
    [
        ("megatron", "my data/web"),
        ("megatron", "a,b"),
        ("megatron", "2024"),
        ("megatron", "nan"),
        ("megatron", "1_000"),
        ("megatron", "web.bin"),
        ("megatron-split", "my data/web"),
        ("megatron-bridge", "2024"),
        ("nemo", "a,b"),
        ("gpt-neox", "2024"),
        ("ms-swift", "web#600"),
        ("ms-swift", "--web"),
        ("lingua", " web"),
        ("open-instruct", "-web"),
    ],
)
def test_paths_that_would_be_misread_are_refused_by_name(form, path, recipe, domains):
    broken = Domains({**domains.by_name, "web": replace(domains.get("web"), paths=(path,))})
    with pytest.raises(InputError) as refusal:
        render(form, recipe, domains=broken)
    assert "'web'" in str(refusal.value) and repr(path) in str(refusal.value)


def test_megatron_says_where_it_draws_more_than_asked(domains):
    tiny = Recipe(Mixture({"web": 1 - 1e-9, "code": 1e-9}))
    written = render("megatron", tiny, domains=domains, options=ExportOptions(tokens=1e9, sequence_length=4096))
    assert written.remarks[0] == "code: 1 tokens are less than a sequence; Megatron draws one"
    assert written.text.splitlines()[1] == "0.000000001 /data/code"


def test_ms_swift_subsets_are_for_the_user_to_ask_for(domains):
    recipe = Recipe(Mixture({"org/set:part": 1.0}))
    facts = Domain(mean_tokens_per_document=10)
    with pytest.raises(InputError, match="for a subset"):
        render("ms-swift", recipe, domains=Domains({"org/set:part": facts}))
    meant = Domains({"org/set:part": replace(facts, paths=("org/set:part",))})
    assert "- org/set:part" in render("ms-swift", recipe, domains=meant).text


def test_llama_factory_splits_names_at_commas(domains):
    facts = Domains({"a,b": Domain(mean_tokens_per_document=1), "c": Domain(mean_tokens_per_document=1)})
    with pytest.raises(InputError, match="splits names at commas"):
        render("llama-factory", Recipe(Mixture({"a,b": 0.5, "c": 0.5})), domains=facts)


def test_llama_factory_needs_no_probabilities_for_one_set(domains):
    text = render("llama-factory", Recipe(Mixture({"web": 1.0})), domains=domains).text
    assert text == "dataset: web\n"


@pytest.mark.parametrize("form", ["megatron", "hf", "streaming", "nanotron", "dolma"])
def test_several_paths_are_not_split_by_guessing(form, recipe, domains):
    broken = Domains({**domains.by_name, "web": replace(domains.get("web"), paths=("a", "b"))})
    with pytest.raises(InputError, match="one path for each domain"):
        render(form, recipe, domains=broken)


def test_olmo_core_and_levanter_take_several_paths(recipe, domains):
    broad = Domains({**domains.by_name, "web": replace(domains.get("web"), paths=("a", "b"))})
    assert yaml.safe_load(render("olmo-core", recipe, domains=broad).text)["sources"][0]["paths"] == ["a", "b"]
    data = yaml.safe_load(render("levanter", recipe, domains=broad).text)["data"]
    assert data["components"]["web"]["source"]["train_urls"] == ["a", "b"]


def test_two_domains_on_one_path_are_refused(recipe, domains):
    broken = Domains({name: replace(facts, paths=("same",)) for name, facts in domains.by_name.items()})
    with pytest.raises(InputError, match="a different path for each domain"):
        render("megatron", recipe, domains=broken)


def test_supply_and_places_are_remarked_on(recipe, domains):
    written = render("megatron", recipe, domains=domains, options=ExportOptions(tokens=1e10))
    assert written.remarks == (
        "code: 30 epochs of 100M tokens, above max_epochs 4",
        "math: 20 epochs of 50M tokens, above max_epochs 4",
    )
    assert "the domain's name stands in: web, code, math" in render("megatron", recipe).remarks[0]


def test_rescaled_shares_are_remarked_on():
    assert render("table", Recipe(Mixture({"web": 0.602, "code": 0.4}))).remarks == (
        "shares that did not sum to 1 were rescaled",
    )


def test_remote_streams_get_a_cache_of_their_own(recipe):
    facts = {"a b": Domain(paths=("s3://x/a",)), "a/b": Domain(paths=("s3://x/b",))}
    text = render("streaming", Recipe(Mixture({"a b": 0.5, "a/b": 0.5})), domains=Domains(facts)).text
    found = yaml.safe_load(text)["train_loader"]["dataset"]["streams"]
    assert [stream["local"] for stream in found.values()] == ["cache/0-a-b", "cache/1-a-b"]


def test_streaming_epoch_is_the_run(recipe, domains):
    options = ExportOptions(sequence_length=1000)
    text = render("streaming", recipe, domains=domains, options=options).text
    assert yaml.safe_load(text)["train_loader"]["dataset"]["epoch_size"] == 1_000_000


def test_levanter_enlarges_the_block_for_small_shares_and_refuses_what_it_cannot_draw(domains):
    small = render("levanter", Recipe(Mixture({"web": 0.875, "code": 0.125})), domains=domains)
    assert yaml.safe_load(small.text)["data"]["mixture_block_size"] == 2048
    smaller = render("levanter", Recipe(Mixture({"web": 1 - 2**-12, "code": 2**-12})), domains=domains)
    assert yaml.safe_load(smaller.text)["data"]["mixture_block_size"] == 4096
    coarse = render("levanter", Recipe(Mixture({"web": 0.9999, "code": 0.0001})), domains=domains)
    assert coarse.remarks == ("code: 3.28 sequences in blocks of 32768 become about 3",)
    with pytest.raises(InputError, match="half a sequence in Levanter's largest block"):
        render("levanter", Recipe(Mixture({"web": 1 - 1e-9, "code": 1e-9})), domains=domains)


def test_neox_numbers_sources_in_one_byte():
    many = Recipe(Mixture.uniform(f"d{i}" for i in range(255)))
    with pytest.raises(InputError, match="at most 254 domains"):
        render("gpt-neox", many)


def test_counts_below_one_document_are_refused(domains):
    tiny = Recipe(Mixture({"web": 1 - 1e-9, "code": 1e-9}), tokens=1e9)
    with pytest.raises(InputError, match=r"documents of 'code'"):
        render("open-instruct", tiny, domains=domains)


def test_counts_show_what_rounding_does(domains):
    recipe = Recipe(Mixture({"web": 0.7, "code": 0.3}), tokens=1e6)
    written = render("open-instruct", recipe, domains=domains)
    assert written.remarks == ()
    uneven = render("open-instruct", replace(recipe, tokens=1.0004e6), domains=domains)
    assert "whole numbers move the token share of" in uneven.remarks[0]


def test_python_module_runs_and_holds_names_of_any_kind():
    names = ["it's", 'say "hi"', "back\\slash", "{brace}"]
    facts = Domains({name: Domain(mean_tokens_per_document=10) for name in names})
    text = render("hf-python", Recipe(Mixture.uniform(names)), domains=facts).text
    assert check("hf-python", text, domains=facts).shares == pytest.approx(dict.fromkeys(names, 0.25), abs=1e-12)
    compile(text, "mixture.py", "exec")


@pytest.mark.parametrize("name", ["no", "2024", "1e5", "0.5", "null", "~", "12:30", "- x", "# x", "a: b", "*", "é"])
@pytest.mark.parametrize("form", ["olmo-core", "streaming", "levanter", "table-yaml", "hf"])
def test_names_that_yaml_could_misread_come_back_as_text(form, name):
    facts = Domains({n: Domain(mean_tokens_per_document=10) for n in (name, "other")})
    text = render(form, Recipe(Mixture({name: 0.5, "other": 0.5})), domains=facts).text
    assert check(form, text, domains=facts).shares == {name: 0.5, "other": 0.5}
    assert not (name == "1e5" and "1e5" in text.replace("'1e5'", ""))
