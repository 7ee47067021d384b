"""Every reader by name; a new format is a file here, a line in ``READERS`` and a line in ``mixlaw.logs.detect``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from mixlaw.logs.options import IngestOptions
from mixlaw.logs.part import Part
from mixlaw.logs.readers.composer import read_composer
from mixlaw.logs.readers.data_mixing_laws import read_data_mixing_laws
from mixlaw.logs.readers.dclm import read_dclm
from mixlaw.logs.readers.hf_trainer import read_hf_trainer
from mixlaw.logs.readers.keyvalue import read_keyvalue
from mixlaw.logs.readers.levanter import read_levanter
from mixlaw.logs.readers.lighteval import read_lighteval
from mixlaw.logs.readers.lingua import read_lingua
from mixlaw.logs.readers.litgpt import read_litgpt
from mixlaw.logs.readers.llmc import read_llmc
from mixlaw.logs.readers.lm_eval import read_lm_eval
from mixlaw.logs.readers.megatron import read_megatron
from mixlaw.logs.readers.megatron_golden import read_golden
from mixlaw.logs.readers.nanogpt import read_nanogpt
from mixlaw.logs.readers.nanotron import read_nanotron
from mixlaw.logs.readers.nemo import read_nemo
from mixlaw.logs.readers.olmes import read_olmes
from mixlaw.logs.readers.olmo import read_olmo
from mixlaw.logs.readers.olmo_metrics import read_olmo_metrics
from mixlaw.logs.readers.open_lm import read_open_lm
from mixlaw.logs.readers.table_csv import read_csv
from mixlaw.logs.readers.table_json import read_json
from mixlaw.logs.readers.table_parquet import read_parquet
from mixlaw.logs.readers.tensorboard import read_tb_events
from mixlaw.logs.readers.tensorboard_csv import read_tb_csv
from mixlaw.logs.readers.torchtitan import read_torchtitan
from mixlaw.logs.readers.wandb_folder import read_wandb_folder
from mixlaw.logs.readers.wandb_history import read_wandb_history
from mixlaw.logs.readers.wandb_panel import read_wandb_panel
from mixlaw.logs.readers.wandb_runs import read_wandb_runs
from mixlaw.logs.source import Source


class Reader(Protocol):
    """Reads one file, in one part or several."""

    def __call__(self, source: Source, options: IngestOptions, *, paired: bool = False) -> Iterator[Part]:
        """Yield the parts of a file; ``paired`` when other files are read with it."""


READERS: Mapping[str, Reader] = {
    "csv": read_csv,
    "json": read_json,
    "parquet": read_parquet,
    "wandb_panel": read_wandb_panel,
    "wandb_runs": read_wandb_runs,
    "wandb_history": read_wandb_history,
    "wandb_folder": read_wandb_folder,
    "tensorboard_csv": read_tb_csv,
    "tensorboard": read_tb_events,
    "hf_trainer": read_hf_trainer,
    "megatron": read_megatron,
    "nemo": read_nemo,
    "nanotron": read_nanotron,
    "torchtitan": read_torchtitan,
    "nanogpt": read_nanogpt,
    "llmc": read_llmc,
    "olmo": read_olmo,
    "olmo_metrics": read_olmo_metrics,
    "composer": read_composer,
    "lingua": read_lingua,
    "levanter": read_levanter,
    "litgpt": read_litgpt,
    "keyvalue": read_keyvalue,
    "lm_eval": read_lm_eval,
    "lighteval": read_lighteval,
    "olmes": read_olmes,
    "dclm": read_dclm,
    "open_lm": read_open_lm,
    "megatron_golden": read_golden,
    "data_mixing_laws": read_data_mixing_laws,
}
"""``detect`` returns one of these names."""
