"""What suites call things in their tables and notes, which come from a folder as English text, in a page's language.

A suite's texts are templates of ours with names and figures in their gaps; a text that has the form of one is said in
the language that is written, and any other, such as a user's own title, stays as it is.
"""

from __future__ import annotations

import re
from functools import cache

from goldlabel.report.language import N_, say, say_ranges, spoken

COLUMNS = (
    N_("model"),
    N_("data"),
    N_("pairs"),
    N_("level"),
    N_("reads"),
    N_("source"),
    N_("round"),
    N_("type"),
    N_("share"),
    N_("all rounds"),
    N_("exclusive"),
    N_("claim"),
    N_("first system"),
    N_("second system"),
    N_("judged on"),
    N_("points"),
    N_("set"),
    N_("split"),
    N_("units"),
    N_("accuracy"),
    N_("standard deviation"),
    N_("baseline"),
    N_("above the baseline"),
    N_("above it"),
    N_("parity"),
    N_("sentences"),
    N_("with neutral"),
    N_("tests"),
    N_("tuned"),
    N_("made of"),
    N_("test"),
    N_("compared"),
    N_("undisturbed"),
    N_("drop"),
    N_("heuristic"),
    N_("gold"),
    N_("category"),
    N_("paper"),
    N_("ours less the paper's"),
    N_("method"),
    N_("dataset"),
    N_("validation size"),
    N_("test size"),
    N_("mean accuracy"),
    N_("difference"),
    N_("low end"),
    N_("high end"),
    N_("answer"),
    N_("sets"),
    N_("other sets"),
    N_("as the authors report"),
    N_("improvement on SNLI (%)"),
    N_("improvement on other sets (%)"),
    N_("entailment"),
    N_("not_entailment"),
    N_("contradiction"),
    N_("neutral"),
    N_("antonym"),
    N_("numerical_reasoning"),
    N_("length_mismatch"),
    N_("negation"),
    N_("word_overlap"),
    N_("spelling_error"),
)
RENAMED = {
    "first": "first system",
    "second": "second system",
    "on": "judged on",
    "n": "pairs",
    "sd": "standard deviation",
    "above": "above the baseline",
    "beats": "above it",
    "with_neutral": "with neutral",
    "of": "made of",
    "off_paper": "ours less the paper's",
    "Model": "model",
    "Method": "method",
    "Dataset": "dataset",
    "Validation Size": "validation size",
    "Test Size": "test size",
    "Acc Mean": "mean accuracy",
    "Claim": "claim",
    "Difference": "difference",
    "Low": "low end",
    "High": "high end",
    "Answer": "answer",
    "Sets": "sets",
    "Cross": "other sets",
    "Reported": "as the authors report",
    "SNLI Impr (%)": "improvement on SNLI (%)",
    "Cross Impr (%)": "improvement on other sets (%)",
    "Entailment": "entailment",
    "Not-Entailment": "not_entailment",
    "Contradiction": "contradiction",
    "Neutral": "neutral",
}
"""Columns that stand for a word too short or too much of a paper's to be looked up as it is."""
ENDS = (
    (" (paper)", N_("{column} (paper)")),
    (" (difference)", N_("{column} (difference)")),
    ("_low", N_("{column}, low end")),
    ("_high", N_("{column}, high end")),
    (" errors", N_("{column}, errors")),
)
"""How columns end that belong to another."""
TABLES = (
    N_("Claims"),
    N_("Baseline"),
    N_("Gender parity"),
    N_("Stress"),
    N_("Hans"),
    N_("Categories"),
    N_("Efficiency"),
)
CAPTIONS = (N_("Table {number} label first"), N_("Table {number}"), N_("Figure {number}"))
IN_WORDS = ("source", "Answer", "gold", "level", "reads")
"""Columns whose cells are words of ours."""
CELLS = (
    N_("ours"),
    N_("paper"),
    N_("difference"),
    N_("yes"),
    N_("no, it is worse"),
    N_("cannot be told"),
    N_("all"),
    N_("easy"),
    N_("medium"),
    N_("hard"),
    N_("both"),
    N_("hypothesis"),
    N_("premise"),
)
CLAIMS = (
    N_("{first} is better than {second}"),
    N_("the dataset teaches more than the other set"),
    N_("alone it teaches more than together with the other"),
    N_("premises help"),
    N_("training pairs that share premises with those judged by help"),
    N_("shared premises help beyond the number of pairs"),
    N_("a condition is harder than the one before"),
    N_("later hypotheses are harder"),
    N_("a round is harder than the one before"),
    N_("exclusive writers make little difference"),
    N_("more rounds to learn from help (beside)"),
    N_("more rounds to learn from help"),
    N_("of equally many pairs these teach more (beside)"),
    N_("of equally many pairs these teach more"),
    N_("verified pairs teach more than unverified ones"),
    N_("the rounds teach more than as many plain pairs (beside)"),
    N_("the rounds teach more than as many plain pairs"),
)
NOTES = (
    N_("add it with 'goldlabel data add {name} PATH', or say where it lies with --data {again}=PATH"),
    N_(
        "add it with 'goldlabel data add {name} PATH', or recast it: 'goldlabel recast run {again} SOURCE -o PATH', "
        "then --data {set}=PATH"
    ),
    N_("add it with 'goldlabel data add {name} PATH'"),
    N_(
        "add the release with 'goldlabel data add {name} PATH', or recast it with 'goldlabel recast run {set} SOURCE "
        "-o PATH' and pass --data {again}=PATH"
    ),
    N_("{name} has no test labels here, so {split} is judged by"),
    N_("no pair of the condition {condition} of {name} was verified"),
    N_("{name} has no train split, so no model learns from it"),
    N_("{name} has no train split, so no model learns from its rounds"),
    N_("Tables 6 and 9 need one; give it with --train"),
    N_("dev judges, so a twentieth of {name}'s training pairs is kept back to stop on"),
    N_("{name} has no train split: all its pairs with a gold label are trained on"),
    N_("{name}: has no test pairs; judged by its {split} pairs"),
    N_("{name}: {pairs} pairs are left out of train and dev, as their units are judged or stopped on"),
    N_("{name}: stopped on {pairs} of its train pairs, a tenth of the units"),
    N_("nothing can be learnt from {sets}: majority is the label that most judged pairs have"),
    N_("{model} is not fine-tuned: it is no network whose training goes on"),
    N_("{name} is judged by its {split} split"),
    N_("{name} does not tell which of its {split} pairs are by writers that train has not"),
    N_("no {split} pair of {name} has a tag"),
    N_("the paper's Tables 3 and 6 are about test, so a difference is also one between splits"),
    N_("there are no two mixtures to compare; give --train, or a campaign with training rounds"),
    N_("there are no verified and unverified training pairs to compare"),
    N_("there are no training rounds and sets of --train to compare"),
    N_("no stress test is made of it; add it with 'goldlabel data add {name} PATH'"),
    N_("{model} is not tuned: it is no network whose training goes on"),
    N_("{name}: {pairs} pairs made of {used} of {all}; not of: {reasons}"),
    N_("{name}: {pairs} pairs made of {used} of {all}"),
    N_(
        "{name}: {near} of {pairs} pairs stand in {training} or are nearly the same as one there ({exact} "
        "exactly); left out"
    ),
    N_("{name}: {near} of {pairs} pairs stand in {training} or are nearly the same as one there ({exact} exactly)"),
)


def say_column(name: str) -> str:
    """Return what a suite's column is called."""
    if spoken() == "en":
        return name
    for end, template in ENDS:
        if name.endswith(end):
            return say(template, column=say_column(name.removesuffix(end)))
    return say(RENAMED.get(name, name))


def say_table(name: str) -> str:
    """Return the caption of a suite's table, which has the name of its file."""
    return _say_form(name.replace("-", " ").capitalize(), (*TABLES, *CAPTIONS))


def say_cell(column: str, text: str) -> str:
    """Return what a suite's table says in a cell: names stay as they are."""
    if column.lower() == "claim":
        return _say_form(text, CLAIMS)
    return _say_form(text, CELLS) if column in IN_WORDS else say_ranges(text)


def say_note(text: str) -> str:
    """Return what a suite says of its figures, or why something is missing."""
    return _say_form(text, NOTES)


def _say_form(text: str, templates: tuple[str, ...]) -> str:
    """Return a text in the language that is written by the first template whose form it has."""
    if spoken() == "en":
        return text
    for template in templates:
        if filled := _form(template).fullmatch(text):
            return say(template, **filled.groupdict())
    return text


@cache
def _form(template: str) -> re.Pattern[str]:
    """Return what matches a template with anything in its gaps."""
    parts = re.split(r"\{(\w+)\}", template)
    return re.compile(
        "".join(f"(?P<{part}>.+?)" if place % 2 else re.escape(part) for place, part in enumerate(parts)), re.DOTALL
    )
