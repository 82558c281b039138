"""Words for what the store names in code: labels, levels, roles, states; one place where they are translated."""

from __future__ import annotations

from gettext import NullTranslations

from goldlabel.collect.kinds import offered_kinds
from goldlabel.collect.kinds.kind import N_

__all__ = ["N_", "WORDS", "word"]

WORDS = {
    "entailment": N_("definitely true"),
    "neutral": N_("might be true"),
    "contradiction": N_("cannot be true"),
    "not_entailment": N_("not definitely true"),
    "very_likely": N_("very likely"),
    "likely": N_("likely"),
    "plausible": N_("plausible"),
    "technically_possible": N_("technically possible"),
    "impossible": N_("impossible"),
    "unrelated": N_("unrelated"),
    "incomprehensible": N_("incomprehensible"),
    "unknown": N_("unknown"),
    "-": N_("no gold label"),
    "easy": N_("easy"),
    "medium": N_("medium"),
    "hard": N_("hard"),
    "only": N_("one sentence"),
    "requester": N_("requester"),
    "writer": N_("writer"),
    "verifier": N_("verifier"),
    "expert": N_("expert"),
    "single": N_("single"),
    "multi": N_("multi"),
    "multi-encourage": N_("multi-encourage"),
    "multi-constraint": N_("multi-constraint"),
    **{kind.name: kind.title for kind in offered_kinds()},
    "verifying": N_("verifying"),
    "running": N_("running"),
    "paused": N_("paused"),
    "active": N_("active"),
    "base": N_("base pay"),
    "bonus": N_("bonus"),
    "penalty": N_("penalty"),
    "reversal": N_("reversal"),
    "written": N_("written here"),
    "imported": N_("imported"),
    "foreign": N_("foreign"),
    "gold": N_("known answer"),
    "counted": N_("counted"),
    "late": N_("late"),
    "undone": N_("undone"),
    "untrusted": N_("few known answers right"),
    "untrained": N_("failed the training"),
    "unusable": N_("unusable"),
    "genre": N_("genre"),
    "level": N_("level"),
    "state": N_("state"),
    "voted": N_("judged"),
    "voter": N_("judged by"),
    "vote": N_("judged as"),
    "first": N_("from number"),
    "last": N_("to number"),
    "overlap": N_("overlap from"),
    "none": N_("none"),
    "yes": N_("yes"),
    "accuracy": N_("majority gives the label"),
    "accuracy_individual": N_("single answers give the label"),
    "no_majority": N_("no majority"),
    "zh": N_("Chinese"),
    "en": N_("English"),
}


def word(name: str, messages: NullTranslations) -> str:
    """Return the word for a name in code; a name that is the user's own stays as it is."""
    return messages.gettext(WORDS[name]) if name in WORDS else name
