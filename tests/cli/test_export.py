"""``mixlaw export``: stdout holds the config alone, remarks go to stderr, mistakes are sentences with an exit code."""

from __future__ import annotations

import json

import pytest

from mixlaw.cli import main
from mixlaw.export import EXPORTERS, REFUSED


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mixture.yaml").write_text("mixture: {web: 0.6, code: 0.3, math: 0.1}\ntokens: 1e9\n")
    (tmp_path / "domains.yaml").write_text(
        "domains:\n"
        "  web: {available_tokens: 2B, mean_tokens_per_document: 500}\n"
        "  code: {available_tokens: 100M, mean_tokens_per_document: 1500}\n"
        "  math: {available_tokens: 50M, mean_tokens_per_document: 200}\n"
    )
    return tmp_path


def test_the_config_goes_to_stdout_and_remarks_to_stderr(folder, capsys):
    assert main(["export", "mixture.yaml", "--format", "megatron"]) == 0
    out, err = capsys.readouterr()
    assert out == "0.6 web\n0.3 code\n0.1 math\n"
    assert "the domain's name stands in" in err


def test_the_config_goes_to_a_file(folder, capsys):
    assert main(["export", "mixture.yaml", "--format", "megatron", "-o", "blend.txt"]) == 0
    assert (folder / "blend.txt").read_text() == "0.6 web\n0.3 code\n0.1 math\n"
    assert capsys.readouterr().out == ""


def test_json_holds_text_and_remarks(folder, capsys):
    assert main(["export", "mixture.yaml", "--format", "lingua", "--domains", "domains.yaml", "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["format"] == "lingua" and "web: 0.631578947368" in content["text"] and content["remarks"]


def test_list_names_every_format(folder, capsys):
    assert main(["export", "--list"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in (*EXPORTERS, *REFUSED))
    assert main(["export", "--list", "--json"]) == 0
    rows = {row["format"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["hf"]["class"] == "B" and rows["hf"]["needs"] == ["mean_tokens_per_document"]
    assert rows["dolma"]["class"] == "C" and rows["megatron"]["class"] == "A"
    assert all(rows[name]["checked"] for name in EXPORTERS)


def test_check_compares_a_config_with_the_mixture(folder, capsys):
    (folder / "lingua.yaml").write_text("data: {sources: {web: 60, code: 30, math: 10}}\n")
    words = ["export", "mixture.yaml", "--check", "lingua.yaml", "--format", "lingua", "--domains", "domains.yaml"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    web = next(line.split() for line in out.splitlines() if line.startswith("web"))
    assert web == ["web", "60", "0.38961", "0.6", "-0.21", "0.195"]
    assert "warning: code: 5.84 epochs, above max_epochs 4" in err
    assert main([*words, "--json"]) == 0
    content = json.loads(capsys.readouterr().out)
    assert content["tokens"] == 1e9
    assert content["domains"][1]["share"] == pytest.approx(450 / 770)


def test_check_shows_stages(folder, capsys):
    (folder / "stages.yaml").write_text(
        "stages:\n  - {tokens: 1B, mixture: {web: 1}}\n  - {tokens: 1B, mixture: {web: 0.5, code: 0.5}}\n"
    )
    run = ["--sequence-length", "1000", "--batch-size", "1000"]
    assert main(["export", "stages.yaml", "--format", "nanotron", "-o", "n.yaml", *run]) == 0
    capsys.readouterr()
    assert main(["export", "--check", "n.yaml", "--format", "nanotron", "--tokens", "2B", *run]) == 0
    out = capsys.readouterr().out
    assert "from step 1000" in out
    assert next(line.split() for line in out.splitlines() if line.startswith("code"))[2] == "0.25"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["export"], 2, "--format"),
        (["export", "--format", "megatron"], 2, "a mixture file"),
        (["export", "mixture.yaml", "--format", "axolotl"], 2, "fraction of that one set"),
        (["export", "mixture.yaml", "--format", "hf"], 3, "mean_tokens_per_document"),
        (["export", "none.yaml", "--format", "hf"], 3, "none.yaml"),
        (["export", "mixture.yaml", "--format", "megatron", "--tokens", "-3"], 2, "--tokens"),
        (["export", "mixture.yaml", "--format", "megatron", "--batch-size", "0"], 2, "--batch-size"),
        (["export", "--check", "none.txt", "--format", "megatron"], 3, "none.txt"),
        (["export", "--check", "mixture.yaml", "--format", "megatron"], 3, "mixture.yaml: Expected weight and prefix"),
    ],
)
def test_mistakes_are_sentences(folder, capsys, words, code, said):
    assert main(words) == code
    out, err = capsys.readouterr()
    assert out == "" and said in err
