"""ms-swift: ``dataset`` and ``interleave_prob``, turned into words of a command line; probabilities per example.

``id#600`` would draw 600 examples of a set and ``id:part`` a subset, so names with either are refused. Numbers
are quoted: one version did not turn bare ones into text.
"""

from __future__ import annotations

from mixlaw.errors import InputError
from mixlaw.export.base import About, Meaning, Order, Reading, Written
from mixlaw.export.content import list_at, parse
from mixlaw.export.convert import LENGTH, probabilities
from mixlaw.export.digits import plain
from mixlaw.export.hf import read_interleave
from mixlaw.export.text import refuse, refuse_words
from mixlaw.files import to_yaml


class MsSwift:
    """The three keys of the configuration file."""

    about = About(
        "ms-swift",
        "ms-swift dataset, interleave_prob",
        Meaning.PROBABILITY,
        "ms-swift 4.6.0: argument code run",
        (LENGTH,),
    )

    def write(self, order: Order) -> Written:
        """Dataset ids (or paths) and quoted probabilities."""
        shares = probabilities(order, "ms-swift draws examples")
        paths = order.single_paths()
        refuse(paths, "#", "ms-swift takes what follows for a number of examples")
        refuse_words(paths)
        bare = {name: key for name, key in paths.items() if not order.domains.get(name).paths}
        refuse(bare, ":", "ms-swift takes what follows for a subset; give the id under paths if that is meant")
        content = {
            "dataset": [paths[name] for name in shares],
            "interleave_prob": [plain(share) for share in shares.values()],
            "stopping_strategy": "all_exhausted",
        }
        return Written(to_yaml(content))

    def read(self, text: str) -> Reading:
        """Read ids and probabilities; counts behind '#' change no probability."""
        content = parse(text)
        ids = list_at(content, "dataset")
        if "interleave_prob" not in content:
            raise InputError("interleave_prob", "none", hint="Without it the sizes of the sets alone set the mixture.")
        names = [str(name).partition("#")[0] for name in ids]
        reading = read_interleave(names, list_at(content, "interleave_prob"), content.get("stopping_strategy"))
        bare = any(not isinstance(value, str) for value in content["interleave_prob"])
        quote = ("bare numbers in interleave_prob break some versions: quote them",) if bare else ()
        return Reading(reading.phases, (*reading.warnings, *quote))
