"""English word forms, and the Treebank's way to cut text."""

from __future__ import annotations

import pytest

from goldlabel.recast.gerunds import accusative, forms, gerund, gerund_of_form, is_plural, lemma_of_form, nominative
from goldlabel.recast.treebank import join, tokenise


@pytest.mark.parametrize(
    ("lemma", "expected"),
    {
        "run": "running", "quit": "quitting", "quiz": "quizzing", "open": "opening", "admit": "admitting",
        "visit": "visiting", "travel": "travelling", "parallel": "paralleling", "reveal": "revealing", "be": "being",
        "see": "seeing", "agree": "agreeing", "dye": "dyeing", "singe": "singeing", "bake": "baking", "lie": "lying",
        "panic": "panicking", "fix": "fixing", "show": "showing", "play": "playing", "e-mail": "e-mailing",
        "Argue": "arguing", "have": "having", "go": "going", "ski": "skiing", "keep": "keeping", "use": "using",
        "prefer": "preferring", "offer": "offering", "bring": "bringing", "age": "aging", "hoe": "hoeing",
    }.items(),
)  # fmt: skip
def test_a_lemma_is_inflected(lemma: str, expected: str) -> None:
    assert gerund(lemma) == expected


@pytest.mark.parametrize(
    ("form", "expected"),
    {
        "drove": "driving", "driving": "driving", "sang": "singing", "brings": "bringing", "planned": "planning",
        "carried": "carrying", "tied": "tying", "watches": "watching", "agreed": "agreeing", "was": "being",
        "passed": "passing", "baked": "baking", "opened": "opening", "walked": "walking", "Told": "telling",
        "needed": "needing", "ring": "ringing",
    }.items(),
)  # fmt: skip
def test_a_form_in_a_text_is_inflected(form: str, expected: str) -> None:
    assert gerund_of_form(form) == expected


def test_what_is_no_word_does_not_break() -> None:
    assert gerund("%") == "%ing"
    assert gerund("") == "ing"
    assert lemma_of_form("🐦") == "🐦"


def test_the_forms_of_a_verb_are_known() -> None:
    assert forms("drive") == {"drive", "drives", "drove", "driven", "driving"}
    assert forms("carry") == {"carry", "carries", "carried", "carrying"}
    assert "tied" in forms("tie")


def test_case_and_number_are_told_from_the_words() -> None:
    assert (nominative("Them"), nominative("the crew")) == ("they", "the crew")
    assert (accusative("I"), accusative("a crew")) == ("me", "a crew")
    assert is_plural("the keys of the house")
    assert is_plural("Ilse and Mara")
    assert not is_plural("the master of the ships")
    assert not is_plural("the bus")


NASTY = [
    "They'll say it wasn't his, won't they?",
    'He said "no way" (twice), and left...',
    "It cost $3.50 -- 20% off; call A.B. at 4:30, gonna see.",
    "cannot gimme lemme gotta wanna see 'Tis more'n d'ye",
    "[brackets] {braces} <tags> & co. #1 @home",
    "Mr. Lund's dogs' bowls: 'empty'.",
    "two.\nlines. here.",
    "",
    '"',
    "日本語、です。 🐦 שלום.",
]


@pytest.mark.parametrize("text", NASTY)
def test_tokens_are_those_of_nltk(text: str) -> None:
    nltk = pytest.importorskip("nltk.tokenize", reason="nltk is not installed: nothing to compare with")
    assert tokenise(text) == nltk.TreebankWordTokenizer().tokenize(text)


def test_tokens_are_cut_by_the_rules_of_the_treebank() -> None:
    assert tokenise('"I can\'t," she said.') == ["``", "I", "ca", "n't", ",", "''", "she", "said", "."]
    assert tokenise("A. It ends.") == ["A.", "It", "ends", "."]
    assert tokenise("so , '' he") == ["so", ",", "''", "he"]


@pytest.mark.parametrize(
    "text",
    [
        "They didn't say (or sing) anything, did they?",
        '"Come in," said Ilse; "it is cold."',
        "The dogs' bowls cost $3 or 20% less: a bargain!",
        "I cannot see Mara's [old] boat...",
    ],
)
def test_joined_tokens_are_the_text_again(text: str) -> None:
    assert join(tokenise(text)) == text


def test_plain_quotes_and_brackets_are_joined_too() -> None:
    assert join(["He", "said", '"', "yes", '"', "-LRB-", "twice", "-RRB-", "."]) == 'He said "yes" (twice).'
