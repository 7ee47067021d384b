#!/usr/bin/env bash
# Put mixlaw and the trainers that its configs are tried on into a virtual environment of their own (CPU only, 1.7 GB).
# Usage: tests/clients/install.sh VENV
# Safe to run again. A client that cannot be installed is named and its tests are skipped: that is no failure.
set -u
venv=${1:?usage: tests/clients/install.sh VENV}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
missing=()

install() { "$venv/bin/python" -m pip install --quiet --quiet --disable-pip-version-check "$@"; }

client() { # NAME ARGUMENTS... : install a client, or remember that it is missing
    local name=$1
    shift
    install --constraint "$venv/constraints.txt" "$@" || missing+=("$name")
}

[ -x "$venv/bin/python" ] || "${PYTHON:-python3}" -m venv "$venv" || exit 1
install --editable "$root[test]" || exit 1

# PyTorch first and pinned, so that no client replaces it by another build.
echo "torch==2.13.0" > "$venv/constraints.txt"
install "torch==2.13.0" || missing+=("torch")
client megatron-core "megatron-core==0.16.1"
client datasets "datasets==5.2.0"
client ai2-olmo-core "ai2-olmo-core==3.0.0"
# mosaicml-streaming asks for torchvision, which it uses for images alone: install it without, then the rest by hand.
# (pip then lists what else it would have liked; none of that is needed for local shards.)
client mosaicml-streaming --no-deps "mosaicml-streaming==0.13.0"
client mosaicml-streaming numpy pyyaml tqdm requests xxhash zstd brotli python-snappy catalogue transformers pillow

if [ ${#missing[@]} -gt 0 ]; then
    printf 'clients that could not be installed: %s\n' "$(printf '%s\n' "${missing[@]}" | sort -u | paste -sd ' ')"
else
    echo "clients: all installed"
fi
exit 0
