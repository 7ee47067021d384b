"""What to do with a chosen mixture, in a sentence or two."""

from __future__ import annotations

from mixlaw.optimize import Choice

BASELINES = ("natural", "uniform", "incumbent", "best_observed")
"""Mixtures that a proposal is compared with, in the order of tables."""


def advice(choice: Choice) -> str:
    """What to do, in a sentence or two; a tie is called a tie."""
    if choice.keep:
        better = choice.standings["incumbent"].ahead
        why = "by the objective alone it is better than the proposal" if better else "the proposal is a tie with it"
        return f"Keep the incumbent: {why}."
    found = {name.replace("_", " "): choice.standings[name] for name in BASELINES if name in choice.baselines}
    ties = [name for name, s in found.items() if s.allowed and s.tie]
    beaten = [name for name, s in found.items() if s.allowed and not s.tie and not s.ahead]
    ahead = [name for name, s in found.items() if s.ahead]
    if not ties and not ahead:
        return f"Train with this mixture: it beats {in_words(beaten)}." if beaten else "Train with this mixture."
    text = f"A tie: this mixture cannot be told from {in_words(ties)}" if ties else "This is the best mixture allowed"
    text += f"; it beats {in_words(beaten)}." if beaten else "."
    text += f" If {ties[0] if len(ties) == 1 else 'one of them'} is in use, keep it." if ties else ""
    return text + (f" Better, but held back by limits: {in_words(ahead)}." if ahead else "")


def in_words(names: list[str]) -> str:
    """A list for a sentence."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
