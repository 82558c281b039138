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
    "annotator": N_("annotator"),
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
    "premise": N_("given sentence"),
    "hypothesis": N_("hypothesis"),
    "premises.shortest": N_("Shortest, in characters"),
    "premises.longest": N_("Longest, in characters"),
    "writing.overlap": N_("Overlap with the given sentence, at most"),
    "writing.longest": N_("Longest sentence, in characters"),
    "writing.writers_per_premise": N_("Writers per given sentence and condition"),
    "writing.batch": N_("Given sentences in a batch"),
    "writing.cap": N_("Most given sentences for one writer"),
    "writing.lease_seconds": N_("Seconds until an abandoned task goes to someone else"),
    "verifying.share": N_("Share of the pairs that is judged"),
    "verifying.verifiers": N_("Judgements per pair, besides the author's label"),
    "verifying.foreign": N_("Foreign pairs to mix in"),
    "verifying.sample": N_("Pairs to draw from those imported"),
    "verifying.lease_seconds": N_("Seconds until an abandoned task goes to someone else"),
    "qualification.training": N_("Training examples"),
    "qualification.threshold": N_("Share of them to get right"),
    "qualification.gold_rate": N_("Share of tasks that are questions with a known answer"),
    "qualification.trust": N_("Flag who gets fewer of these right"),
    "qualification.pause": N_("Pause who is flagged"),
    "pay.currency": N_("Currency"),
    "pay.pair": N_("Per written pair"),
    "pay.label": N_("Per judgement"),
    "pay.bonus": N_("Bonus per pair (multi-encourage)"),
    "pay.penalty": N_("Penalty per pair (multi-constraint)"),
    "splits.dev": N_("Pairs in dev, at most"),
    "splits.test": N_("Pairs in test, at most"),
}


def word(name: str, messages: NullTranslations) -> str:
    """Return the word for a name in code; a name that is the user's own stays as it is.

    A setting is named by its place in the protocol, ``protocol.pay.pair``.
    """
    known = WORDS.get(name.removeprefix("protocol."))
    return messages.gettext(known) if known is not None else str(name)
