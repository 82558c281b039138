"""What words and tags go with labels: PMI, competency statistics, negators, linguistic tags."""

from __future__ import annotations

from goldlabel.audit import Audit
from goldlabel.messages import Word
from goldlabel.metrics import p_value
from goldlabel.report.audit.cards import label_of, shaped
from goldlabel.report.audit.findings import anchors
from goldlabel.report.language import comma, say, sentences, translate
from goldlabel.report.page import Section
from goldlabel.report.plots import draw_bars, shortened
from goldlabel.report.table import Cell, Column, Table

SHOWN = 15
LONGEST = 12


def word_cell(audit: Audit, word: str, label: str = "") -> Cell:
    """Return a word as a cell that leads to the finding about it, if there is one."""
    return Cell(f"{word} ({label_of(label)})" if label else word, link=anchors(audit).get(word, ""))


def words_section(audit: Audit) -> Section:
    """Return the words of the highest PMI, for each label as bars, for all as a table."""
    by_label = audit.words_by_label
    top = max([word.pmi.value or 0.0 for words in by_label.values() for word in words] or [1.0])
    drawings = [
        draw_bars(
            label_of(label),
            [
                (
                    shortened(word.word, LONGEST),
                    word.pmi.value or 0.0,
                    f"{word.pmi.value or 0:.2f}  {word.count:,}/{word.total:,}",
                )
                for word in words
            ],
            top=max(top, 0.1),
            shows=say(
                "Words of the highest PMI with {label}: {words}",
                label=label_of(label),
                words=comma().join(word.word for word in words),
            ),
        )
        for label, words in by_label.items()
        if words
    ]
    rows = [
        (word_cell(audit, word.word), shaped(word.label), word.pmi, word.count, word.total)
        for word in audit.whole.words
    ]
    columns = (say("word"), say("label"), Column("PMI", places=2), say("with the label"), say("of all"))
    return Section(
        heading=say("Words and labels"),
        text=say("Pointwise mutual information; beside it, hypotheses of the label with the word out of all with it."),
        figures=drawings,
        table=Table(name="pmi", columns=columns, rows=rows) if rows else None,
    )


def competency_section(audit: Audit) -> Section:
    """Return the features that go with a label more often than a task without shortcuts allows."""
    heading = say("Competency statistics")
    text = say(
        "Features that go with a label more often than chance, by z-score over premises or groups; the false-discovery "
        "rate is held at {rate:g} %.",
        rate=100 * audit.options.fdr,
    )
    if audit.competency.is_empty():
        return Section(heading=heading, text=sentences(text, say("None does.")))
    rows = [
        (
            word_cell(audit, row["feature"]),
            translate(Word(row["kind"])),
            shaped(row["label"]),
            row["z"],
            Cell(p_value(row["q_value"])),
            row["count"],
            row["total"],
        )
        for row in audit.competency.head(SHOWN).iter_rows(named=True)
    ]
    columns = (say("feature"), say("kind"), say("label"), "z", "q", say("with the label"), say("of all"))
    return Section(
        heading=heading, text=text, table=Table(name="competency", columns=columns, rows=rows, filtered=False)
    )


def negators_section(audit: Audit) -> Section:
    """Return how many hypotheses of each label carry a negator."""
    rows = [
        (language, say("all") if label == "all" else shaped(label), figure.n, figure)
        for language, negators in (audit.whole.negators or {}).items()
        for label, figure in (("all", negators.negated), *negators.by_label.items())
    ]
    columns = (say("language"), say("label"), say("pairs"), Column(say("negated"), percent=True))
    text = say("The share of hypotheses with a negator.")
    return Section(heading=say("Negators"), text=text, table=Table(name="negators", columns=columns, rows=rows))


def tags_section(audit: Audit) -> Section:
    """Return how many texts carry each tag, and of how many the language is not known."""
    tags, unknown = audit.whole.tags, audit.without_language
    text = say("The share of texts with each.")
    if unknown:
        text = sentences(
            text,
            say(
                "The language of {pairs:,} pairs is not known: they have no tags, no negators and no foreign text. "
                "Say it in the column language.",
                pairs=unknown,
            ),
        )
    if not tags:
        text = text if unknown else say("There are word lists for English and Chinese only; tags are undefined.")
        return Section(heading=say("Linguistic tags"), text=text)
    rows = [
        (
            Cell(translate(Word(name.replace("_", "-"))), link=anchors(audit).get(name, "")),
            part.premise,
            part.hypothesis,
        )
        for name, part in tags.items()
    ]
    columns = (say("tag"), Column(say("premises"), percent=True), Column(say("hypotheses"), percent=True))
    return Section(heading=say("Linguistic tags"), text=text, table=Table(name="tags", columns=columns, rows=rows))
