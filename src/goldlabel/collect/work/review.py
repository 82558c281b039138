"""Reviews: what the rules say of a set of hypotheses, worked out before anything is locked.

Measuring nine sentences takes longer than storing them. So whoever stores an answer may bring the review along, and it
is made again only if it was made for something else: another premise, condition or protocol than stands now.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from goldlabel.collect.protocols import Protocol
from goldlabel.collect.work.rules import Hypothesis, Violation, check_hypotheses, clean_text, meets_bonus


@dataclass(frozen=True)
class Review:
    """Hypotheses as they will be stored, the rules they break, and whether they earn the bonus of their condition."""

    subject: tuple[str, str, Protocol, tuple[Hypothesis, ...]]
    written: tuple[Hypothesis, ...]
    violations: tuple[Violation, ...]
    earns_bonus: bool


def review(premise: str, condition: str, protocol: Protocol, hypotheses: Sequence[Hypothesis]) -> Review:
    """Hold hypotheses against the rules."""
    cleaned = [Hypothesis(label=one.label, level=one.level, text=clean_text(one.text)) for one in hypotheses]
    violations = tuple(check_hypotheses(premise, cleaned, protocol, condition))
    written = tuple(one for one in cleaned if one.text)
    earns_bonus = not violations and protocol.condition(condition).bonus and meets_bonus(premise, written, protocol)
    return Review((premise, condition, protocol, tuple(hypotheses)), written, violations, earns_bonus)
