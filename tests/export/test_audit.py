"""Configs written by hand: the token mixture they mean, epochs at the budget, warnings."""

from __future__ import annotations

import pytest

from mixlaw.domains import Domain, Domains
from mixlaw.errors import InputError, MissingFactError
from mixlaw.export import ExportOptions, check


def test_percentages_are_normalised_where_the_trainer_does():
    assert check("megatron", "60 web 40 code").shares == {"web": 0.6, "code": 0.4}


def test_one_prefix_needs_no_weight():
    assert check("megatron", "web_text_document\n").shares == {"web_text_document": 1.0}


def test_a_prefix_listed_twice_adds_up():
    assert check("megatron", "0.3 web 0.4 code 0.3 web").shares == pytest.approx({"web": 0.6, "code": 0.4})


def test_paths_are_matched_to_domains_and_strangers_are_named(domains):
    audit = check("megatron", "0.6 /data/web 0.4 /data/other", domains=domains)
    assert audit.shares == {"web": 0.6, "/data/other": 0.4}
    assert audit.warnings == ("not in the domains file: /data/other",)


def test_epochs_beyond_the_limit_warn(domains):
    audit = check("megatron", "0.5 /data/web 0.5 /data/code", domains=domains, options=ExportOptions(tokens=1e9))
    assert audit.epochs == {"web": 0.25, "code": 5.0}
    assert audit.warnings == ("code: 5 epochs, above max_epochs 4",)


def test_probabilities_need_the_length_of_documents():
    with pytest.raises(MissingFactError, match=r"mean_tokens_per_document.*none for web"):
        check("lingua", "data: {sources: {web: 1, code: 1}}")


def test_passes_set_their_own_budget(domains):
    text = "source_prefixes: [{prefix: /data/web, sample_rate: 0.5}, {prefix: /data/code, sample_rate: 2}]"
    audit = check("dolma", text, domains=domains, options=ExportOptions(tokens=2e9))
    assert audit.shares == pytest.approx({"web": 1e9 / 1.2e9, "code": 0.2e9 / 1.2e9})
    assert audit.warnings == ("the config draws 1.2B tokens, the run asks for 2B",)
    assert check("dolma", text, domains=domains).tokens == 1.2e9


def test_open_instruct_tells_fractions_from_counts(domains):
    audit = check("open-instruct", 'dataset_mixer_list: [/data/web, "1.0", /data/code, "1"]', domains=domains)
    assert audit.tokens == 2e9 + 1500
    assert [meaning.name for meaning in audit.meanings.values()] == ["PASSES", "COUNT"]


def test_open_instruct_mapping_is_read_too(domains):
    audit = check("open-instruct", "dataset_mixer: {/data/web: 300, /data/code: 100}", domains=domains)
    assert audit.shares == {"web": 0.5, "code": 0.5}


def test_streaming_without_a_weight_is_one_pass(domains):
    audit = check("streaming", "streams: {web: {local: x}, code: {local: y, repeat: 2}}", domains=domains)
    assert audit.shares == pytest.approx({"web": 2 / 2.2, "code": 0.2 / 2.2})


def test_energon_repetitions_are_passes(domains):
    text = (
        "{__module__: megatron.energon, __class__: MetadatasetV2, splits: {train: {blend_epochized: "
        "[{repetitions: 1, path: /data/web}, {repetitions: 5, path: /data/code}]}}}"
    )
    assert check("energon", text, domains=domains).shares == pytest.approx({"web": 0.8, "code": 0.2})


def test_bridge_blend_is_read_too():
    assert check("megatron-bridge", "dataset: {blend: [[web, code], [3, 1]]}").shares == {"web": 0.75, "code": 0.25}


def test_megatron_split_of_one_text():
    text = '{"train": "0.6 web 0.4 code", "valid": ["held_out"], "test": null}'
    assert check("megatron-split", text).shares == {"web": 0.6, "code": 0.4}


def test_nemo_2_by_split():
    assert check("nemo", "paths: {train: [1, web, 1, code], validation: [held]}").shares == {"web": 0.5, "code": 0.5}


def test_table_yaml_and_csv_are_read_by_column():
    assert check("table", "share,domain,note\n0.5,web,x\n0.5,code,\n").shares == {"web": 0.5, "code": 0.5}


@pytest.mark.parametrize("form", ["lingua", "levanter", "streaming", "nanotron", "olmo-core", "hf", "dolma", "energon"])
@pytest.mark.parametrize(
    "text", ["", "[]", "1", "a: [", "data: 3", "sources: {}", "{data: {sources: [1]}}", "x: 2024-13-45", "? [a]\n: b"]
)
def test_nonsense_is_refused_with_a_sentence(form, text):
    with pytest.raises(InputError, match=r"hand\.yaml.*Expected .* Got"):
        check(form, text, where="hand.yaml")


@pytest.mark.parametrize(
    "weight", ["yes", "[1]", "{a: 1}", "null", "abc", ".nan", ".inf", "1.0e+300", "-1", "2020-01-01"]
)
def test_weights_that_are_no_numbers_are_refused(weight):
    facts = Domains({"web": Domain(mean_tokens_per_document=10)})
    with pytest.raises(InputError, match="a number of at least 0 for 'web'"):
        check("lingua", f"data: {{sources: {{web: {weight}}}}}", domains=facts)


def test_only_zeros_mean_nothing():
    facts = Domains({"web": Domain(mean_tokens_per_document=10)})
    with pytest.raises(InputError, match="only zeros"):
        check("lingua", "data: {sources: {web: 0}}", domains=facts)


def test_exponents_that_yaml_reads_as_text_are_numbers(domains):
    assert check("lingua", "data: {sources: {/data/web: 1e-05, /data/code: 0.0}}", domains=domains).shares["web"] == 1


def test_a_name_that_is_there_twice_is_refused():
    with pytest.raises(InputError, match="the name 'web' twice"):
        check("lingua", "data: {sources: {web: 1, web: 2}}")


def test_a_negative_number_in_a_module_is_refused():
    with pytest.raises(InputError, match="computed"):
        check("hf-python", "PROBABILITIES = {'web': -1}")
    with pytest.raises(InputError, match="a Python module"):
        check("hf-python", "PROBABILITIES = {\0")
    with pytest.raises(InputError, match="none"):
        check("hf-python", "P = {}")
