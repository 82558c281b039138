"""The recipes of the stress tests, by hand-written sentences of which we know what has to become of them."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import goldlabel as gl
from goldlabel.errors import InputError
from goldlabel.evaluate.stress import STRESS_TESTS, Antonym, BasePair, UnsuitableError, make_stress, read_antonyms
from goldlabel.evaluate.stress.recipe import Variant
from goldlabel.pairs.lexicon import lexicon
from goldlabel.pairs.units import units_of
from goldlabel.seeds import random_state

PREMISES = [
    "Two young gardeners water 40 roses before lunch.",
    "An early train left the quiet station.",
    "Nobody saw the tall sailor.",
    "The baker sold three loaves to a happy customer.",
]
HYPOTHESES = [
    "Roses get water.",
    "A late train stood in the station.",
    "The sailor was seen by all!",
    "The baker sold bread",
]
LABELS = ["entailment", "contradiction", "contradiction", "neutral"]


def base(
    premises: list[str] | None = None,
    hypotheses: list[str] | None = None,
    labels: list[str] | None = None,
    *,
    language: str | None = "en",
    space: str = "nli3",
) -> gl.Pairs:
    """Pairs in memory, the invented ones where none are given."""
    premises = premises or PREMISES
    frame = pl.DataFrame(
        {
            "id": [f"p{number}" for number in range(len(premises))],
            "premise": premises,
            "hypothesis": hypotheses or (HYPOTHESES if premises is PREMISES else ["It rained."] * len(premises)),
            "label": labels or (LABELS if premises is PREMISES else ["entailment"] * len(premises)),
            "language": pl.Series([language] * len(premises), dtype=pl.String),
        }
    )
    return gl.Pairs.from_frame(frame, gl.Card(name="own", label_space=gl.label_space(space)))


def vary(test: str, premise: str, hypothesis: str = "It rained.", language: str = "en", seed: int = 0) -> list[Variant]:
    return STRESS_TESTS.get(test).vary(BasePair(premise, hypothesis, language), lambda text: random_state(seed))


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("It rained.", "en", "It rained and true is true."),
        ("It rained", "en", "It rained and true is true"),
        ("It rained . ", "en", "It rained and true is true."),
        ("Is it so?!", "en", "Is it so and true is true?!"),
        ('She said "go."', "en", 'She said "go." and true is true'),
        ("It rained. It poured...", "en", "It rained. It poured and true is true..."),
        ("下雨了。", "zh", "下雨了，而且真的就是真的。"),
        ("下雨了", "zh", "下雨了，而且真的就是真的"),
    ],
)
def test_a_tautology_stands_before_the_signs_that_end_the_hypothesis(text: str, language: str, expected: str) -> None:
    [variant] = vary("word_overlap", "Clouds came.", text, language)
    assert variant == Variant("Clouds came.", expected)


def test_negation_denies_nothing_and_length_grows_the_premise_five_times() -> None:
    [negation] = vary("negation", "Clouds came.", "It rained.")
    assert negation == Variant("Clouds came.", "It rained and false is not true.")
    [length] = vary("length_mismatch", "Clouds came.", "It rained.")
    assert length == Variant("Clouds came" + " and true is true" * 5 + ".", "It rained.")
    [chinese] = vary("negation", "云来了。", "下雨了。", "zh")
    assert chinese.hypothesis == "下雨了，而且假的不是真的。"


def test_an_antonym_contradicts_on_either_side() -> None:
    variants = vary("antonym", "An early bus was loud.", "The bus was large.")
    assert [(variant.premise, variant.hypothesis, variant.kind) for variant in variants] == [
        ("An early bus was loud.", "A late bus was loud.", "of the premise"),
        ("An early bus was loud.", "An early bus was quiet.", "of the premise"),
        ("The bus was small.", "The bus was large.", "of the hypothesis"),
    ]
    assert {variant.label for variant in variants} == {"contradiction"}


@pytest.mark.parametrize(
    ("sentence", "changed"),
    [
        ("Young sailors sang.", "Old sailors sang."),
        ("A tall ship sailed.", "A short ship sailed."),
        ("A bad idea won.", "A good idea won."),
        ("New York was loud.", "New York was quiet."),
        ("They met in the Western Hotel.", None),
        ("The young and the old danced.", None),
        ("A big dog met a big cat.", None),
        ("It was a dirty-looking pond.", None),
    ],
)
def test_which_words_are_replaced(sentence: str, changed: str | None) -> None:
    if changed is None:
        with pytest.raises(UnsuitableError, match="no word with a known antonym"):
            vary("antonym", sentence)
    else:
        assert [variant.hypothesis for variant in vary("antonym", sentence)] == [changed]


@pytest.mark.parametrize(
    ("premise", "language"),
    [
        ("The sailor isn’t tall.", "en"),
        ("If the sailor is tall, he hits his head on two beams.", "en"),
        ("Was the tall sailor at sea for 12 days?", "en"),
        ("The tall sailor or two cooks sang.", "en"),
        ("他不是一个高大的水手，有3个孩子。", "zh"),
        ("如果水手很高大，他会有3个孩子。", "zh"),
        ("水手高大吗？", "zh"),
    ],
)
@pytest.mark.parametrize("test", ["antonym", "numerical_reasoning"])
def test_what_denies_supposes_or_asks_is_not_taken(premise: str, language: str, test: str) -> None:
    with pytest.raises(UnsuitableError, match="a negation, a condition"):
        vary(test, premise, premise, language)


def test_chinese_antonyms_are_words_not_characters() -> None:
    [variant] = vary("antonym", "这个大学很安静。", "天亮了。", "zh")
    assert variant.hypothesis == "这个大学很吵闹。"


def test_a_users_antonyms_take_the_place_of_ours(tmp_path: Path) -> None:
    file = tmp_path / "antonyms.tsv"
    file.write_text("Salty\tsweet\n\n", encoding="utf-8")
    made = make_stress(base(["The salty soup was hot."]), Antonym(read_antonyms(file)))
    assert made.pairs.collect()["hypothesis"].to_list() == ["The sweet soup was hot."]
    for text, complaint in (("hot cold\n", "line 1: is not a word"), ("\n", "holds no antonyms")):
        file.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=complaint):
            read_antonyms(file)
    with pytest.raises(InputError, match="cannot be read"):
        read_antonyms(tmp_path / "none.tsv")


def reading(text: str, language: str) -> tuple[str, int]:
    """The comparison and the number that a sentence with one number states."""
    numerals: list[str] = lexicon(f"stress-{language}")["numerals"]
    less, more = {"en": ("less than ", "more than "), "zh": ("不到", "超过")}[language]
    match = re.search(rf"({less}|{more})?(\d+|{'|'.join(numerals)})", text, re.IGNORECASE)
    assert match is not None
    number = match.group(2).lower()
    value = int(number) if number.isdecimal() else numerals.index(number) + 2
    return {less: "<", more: ">"}.get((match.group(1) or "").lower(), "="), value


def numbers_that_fit(text: str, language: str) -> set[int]:
    sign, value = reading(text, language)
    return {n for n in range(1000) if (n < value if sign == "<" else n > value if sign == ">" else n == value)}


@pytest.mark.parametrize(
    ("sentence", "language"),
    [
        ("Three cooks sang.", "en"),
        ("She counted 87 boats.", "en"),
        ("The farm has twelve hens.", "en"),
        ("院子里有三只鸡。", "zh"),
        ("她数了87条船。", "zh"),
    ],
)
@pytest.mark.parametrize("seed", range(8))
def test_labels_of_numerical_reasoning_follow_from_the_numbers(sentence: str, language: str, seed: int) -> None:
    for variant in vary("numerical_reasoning", sentence, language=language, seed=seed):
        premise, hypothesis = (numbers_that_fit(text, language) for text in (variant.premise, variant.hypothesis))
        truth = (
            "entailment" if premise <= hypothesis else "contradiction" if premise.isdisjoint(hypothesis) else "neutral"
        )
        assert variant.label == truth, variant


def test_numerical_reasoning_keeps_the_sentence_around_the_number() -> None:
    entailed, _, neutral = vary("numerical_reasoning", "Three cooks sang.")
    assert re.fullmatch(r"(Less|More) than \w+ cooks sang\.", entailed.hypothesis)
    assert (neutral.premise, neutral.hypothesis) == (entailed.hypothesis, entailed.premise)
    kinds = {vary("numerical_reasoning", "Three cooks sang.", seed=seed)[1].kind for seed in range(8)}
    assert kinds == {"changed", "compared"}


@pytest.mark.parametrize(
    "sentence",
    [
        "In 1987 sailors met.",
        "The two cooks sang.",
        "More than 30 hens ran.",
        "It cost $5 then.",
        "He ran 3.5 miles.",
        "They met at 7 yesterday.",
        "It was a two-hour show.",
        "She read Chapter Two aloud.",
        "One cook sang.",
        "They walked two or three miles.",
        "Apollo 11 flew.",
        "Two of them sang.",
    ],
)
def test_what_is_no_bare_count_is_not_taken(sentence: str) -> None:
    with pytest.raises(UnsuitableError):
        vary("numerical_reasoning", sentence)


@pytest.mark.parametrize(
    "sentence", ["第三个人来了。", "2008年他来了。", "他三点来。", "二十三个人来了。", "超过5个人来了。"]
)
def test_what_is_no_bare_count_in_chinese_is_not_taken(sentence: str) -> None:
    with pytest.raises(UnsuitableError, match="no number"):
        vary("numerical_reasoning", sentence, language="zh")


@pytest.mark.parametrize("seed", range(12))
def test_a_spelling_error_is_in_one_content_word(seed: int) -> None:
    hypothesis = "None of the Gardeners watered three roses."
    [variant] = vary("spelling_error", "It was hot.", hypothesis, seed=seed)
    pairs = list(zip(hypothesis.split(), variant.hypothesis.split(), strict=True))
    [(before, after)] = [(before, after) for before, after in pairs if before != after]
    assert before in ("Gardeners", "watered", "roses.")
    assert [letter.isupper() for letter in before] == [letter.isupper() for letter in after]
    changed = [place for place in range(len(before)) if before[place] != after[place]]
    if variant.kind == "swap":
        assert sorted(before.lower()) == sorted(after.lower())
        assert changed[-1] - changed[0] == 1
    else:
        assert variant.kind == "keyboard"
        [place] = changed
        rows = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
        assert any(abs(row.find(before[place].lower()) - row.find(after[place].lower())) == 1 for row in rows)
    assert variant.label is None


def test_a_chinese_spelling_error_sounds_alike() -> None:
    groups = list(lexicon("stress-zh")["homophones"].values())
    for seed in range(6):
        [variant] = vary("spelling_error", "天热。", "他不去学校。", "zh", seed=seed)
        [(before, after)] = [
            pair for pair in zip("他不去学校。", variant.hypothesis, strict=True) if pair[0] != pair[1]
        ]
        assert before in "去学校"
        assert any(before in group and after in group for group in groups)


def test_no_character_stands_in_two_groups_of_homophones() -> None:
    signs = "".join(lexicon("stress-zh")["homophones"].values())
    assert len(signs) == len(set(signs))


def test_without_a_content_word_there_is_nothing_to_misspell() -> None:
    with pytest.raises(UnsuitableError, match="no content word"):
        vary("spelling_error", "It was hot.", "He is not there.")
    with pytest.raises(UnsuitableError, match="no character"):
        vary("spelling_error", "天热。", "OK!", "zh")


def test_what_was_made_and_what_could_not_be_is_counted() -> None:
    made = make_stress(base(labels=["entailment", "contradiction", "-", "neutral"]), "antonym")
    assert made.unsuitable == {"no gold label": 1}
    assert (made.base_pairs, len(made.pairs)) == (4, 4)
    assert made.title == "antonym: 4 pairs made of 3 of 4; not of: no gold label (1)"
    numbers = make_stress(base(), "numerical_reasoning")
    assert numbers.unsuitable == {
        "no number in the premise that counts something": 1,
        "a negation, a condition, a choice or a question": 1,
    }
    assert numbers.pairs.collect()["id"][0] == "p0/numerical_reasoning/1"


def test_an_equal_premise_is_used_once() -> None:
    made = make_stress(base(["Three cooks sang."] * 2), "numerical_reasoning")
    assert len(made.pairs) == 3
    assert made.unsuitable == {"made already of an equal text": 1}


@pytest.mark.parametrize("test", list(STRESS_TESTS))
def test_what_becomes_of_a_text_hangs_on_the_seed_alone(test: str) -> None:
    whole, part = make_stress(base(), test).pairs.collect(), make_stress(base().limit(2), test).pairs.collect()
    assert part.equals(whole.head(len(part)))
    other = make_stress(base(), test, seed=1).pairs.collect()
    assert other.equals(whole) == (test not in ("numerical_reasoning", "spelling_error"))


def test_made_pairs_are_the_same_on_any_machine() -> None:
    made = make_stress(base(), "spelling_error").pairs.collect()
    assert made["hypothesis"].to_list() == [
        "Roses fet water.",
        "A late train stood in the staiton.",
        "The saolor was seen by all!",
        "The baker osld bread",
    ]
    numbers = make_stress(base(), "numerical_reasoning").pairs.collect()
    assert numbers["hypothesis"][3:5].to_list() == [
        "The baker sold less than nine loaves to a happy customer.",
        "The baker sold eleven loaves to a happy customer.",
    ]


@pytest.mark.parametrize("test", list(STRESS_TESTS))
def test_what_is_made_of_one_unit_is_one(test: str) -> None:
    pairs = base([text for text in PREMISES for _ in range(2)], HYPOTHESES * 2)
    made = make_stress(pairs, test).pairs.collect()
    base_units = dict(zip(pairs.collect()["id"], units_of(pairs.collect()), strict=True))
    of_base = [base_units[identifier] for identifier in made["meta"].str.json_path_match("$.base")]
    seen = set(zip(of_base, units_of(made), strict=True))
    assert len(seen) == len(set(of_base)) == made.select(pl.struct("group").n_unique()).item()


def test_labels_are_mapped_to_the_bases_own() -> None:
    labels = ["entailment", "not_entailment", "not_entailment", "not_entailment"]
    made = make_stress(base(labels=labels, space="nli2"), "numerical_reasoning").pairs.collect()
    assert made["label"].to_list() == ["entailment", "not_entailment", "not_entailment"] * 2
    two_way = base(labels=["entailment", "neutral", "neutral", "neutral"], space="scitail")
    assert make_stress(two_way, "antonym").unsuitable == {
        "a label that scitail does not have": 3,
        "no word with a known antonym": 1,
    }
    assert set(make_stress(two_way, "numerical_reasoning").pairs.collect()["label"]) == {"entailment", "neutral"}


def test_pairs_without_a_language_have_to_be_told_one() -> None:
    nameless = base(language=None)
    with pytest.raises(InputError, match="own: its pairs name no language; say which, of en, zh"):
        make_stress(nameless, "negation")
    assert len(make_stress(nameless, "negation", language="en").pairs) == 4
    assert make_stress(base(language="de"), "negation").unsuitable == {"no recipe for the language de": 4}


TEXTS = st.text(min_size=1).filter(str.strip)


@given(premise=TEXTS, hypothesis=TEXTS, language=st.sampled_from(["en", "zh"]))
def test_any_text_is_changed_or_refused(premise: str, hypothesis: str, language: str) -> None:
    for name in STRESS_TESTS:
        try:
            variants = vary(name, premise, hypothesis, language)
        except UnsuitableError:
            continue
        assert variants
        for variant in variants:
            assert (variant.premise, variant.hypothesis) != (premise, hypothesis)
            assert variant.premise.strip()
            assert variant.hypothesis.strip()


def test_long_and_right_to_left_text() -> None:
    long = "A young cook sang. " * 600
    [variant] = vary("length_mismatch", long, "שלום 🙂")
    assert variant.premise.endswith("sang" + " and true is true" * 5 + ".")
    assert vary("negation", long, "שלום 🙂")[0].hypothesis == "שלום 🙂 and false is not true"
    assert len(vary("spelling_error", "x", long)[0].hypothesis) == len(long)
