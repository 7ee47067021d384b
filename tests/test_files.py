from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from mixlaw.errors import InputError
from mixlaw.files import read_mapping, replacing, to_json, to_yaml, write_text


def test_yaml_floats_are_floats_to_every_reader() -> None:
    text = to_yaml({"a": 1e-5, "b": 1e300, "c": 0.1})
    assert yaml.safe_load(text) == {"a": 1e-5, "b": 1e300, "c": 0.1}


def test_json_has_null_for_what_json_cannot_say() -> None:
    assert json.loads(to_json({"a": [float("nan"), 1.0], "b": float("inf")})) == {"a": [None, 1.0], "b": None}


def test_broken_yaml_is_placed(tmp_path: Path) -> None:
    file = tmp_path / "m.yaml"
    file.write_text("a: 1\nb: [1, 2\n")
    with pytest.raises(InputError, match=r"m\.yaml, line 3"):
        read_mapping(file)


@pytest.mark.parametrize(("content", "message"), [("", "an empty file"), ("- 1\n", "a list")])
def test_other_top_levels_are_refused(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "m.yaml"
    file.write_text(content)
    with pytest.raises(InputError, match=message):
        read_mapping(file)


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    file = tmp_path / "out.txt"
    write_text(file, "old")
    with pytest.raises(RuntimeError), replacing(file) as temporary:
        temporary.write_text("half")
        raise RuntimeError
    assert file.read_text() == "old"
    assert list(tmp_path.iterdir()) == [file]


def test_a_device_is_not_replaced() -> None:
    write_text(Path("/dev/null"), "gone")
    assert Path("/dev/null").is_char_device()


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        write_text(tmp_path / "nowhere" / "out.txt", "text")
