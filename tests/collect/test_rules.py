from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goldlabel.collect.messages import ENGLISH
from goldlabel.collect.protocols import LEVELS, ORDER, Protocol, make_protocol
from goldlabel.collect.work.rules import (
    Hypothesis,
    Measure,
    Violation,
    check_hypotheses,
    clean_text,
    measure_hypotheses,
    meets_bonus,
    script_parameters,
)
from goldlabel.errors import InputError
from goldlabel.pairs.labels import NLI3

ZH, EN = make_protocol("multi-constraint,single", "zh"), make_protocol("multi-constraint,single", "en")
PREMISE_ZH = "老王昨天在公园里看见两只白色的猫。"
PREMISE_EN = "Two old sailors don’t drink tea on Sundays."


ENGLAND = "\N{WAVING BLACK FLAG}" + "".join(chr(0xE0000 + ord(letter)) for letter in "gbeng") + "\U000e007f"


def given_texts(**texts: str) -> list[Hypothesis]:
    """Build hypotheses from ``entailment_easy="…"``."""
    return [Hypothesis(label=slot.split("_")[0], level=slot.split("_")[1], text=text) for slot, text in texts.items()]


def single(text: str, protocol: Protocol = ZH, premise: str = PREMISE_ZH) -> list[Violation]:
    """Check a text for entailment, beside two that break no rule."""
    fine = {"zh": ("湖边有人唱歌", "他家养了一条鱼"), "en": ("A choir sings near us.", "My cousin owns a canoe.")}
    neutral, contradiction = fine[protocol.language]
    hypotheses = given_texts(entailment_only=text, neutral_only=neutral, contradiction_only=contradiction)
    return check_hypotheses(premise, hypotheses, protocol, "single")


def measure(premise: str, text: str, protocol: Protocol = ZH) -> Measure:
    return measure_hypotheses(premise, [Hypothesis(label="entailment", level="easy", text=text)], protocol)[0]


def full_set(protocol: Protocol) -> list[Hypothesis]:
    texts = {
        "zh": ["他出过门", "动物出现了", "有人喂鸟", "天气晴朗", "猫饿了", "他很高兴",
               "公园关着", "他整日睡觉", "猫是黑的"],
        "en": ["Men exist.", "Some abstain.", "It happens weekly.", "They like coffee.", "A cat sat.", "Rain fell.",
               "They gulp it daily.", "Babies sail.", "Every week has six days."],
    }[protocol.language]  # fmt: skip
    slots = [(label, level) for label in ORDER["nli3"] for level in LEVELS]
    return [Hypothesis(label=a, level=b, text=text) for (a, b), text in zip(slots, texts, strict=True)]


@pytest.mark.parametrize(("protocol", "premise"), [(ZH, PREMISE_ZH), (EN, PREMISE_EN)])
def test_good_hypotheses_break_nothing(protocol: Protocol, premise: str) -> None:
    assert check_hypotheses(premise, full_set(protocol), protocol, "multi-constraint") == []


def test_the_third_may_be_left_out_and_the_others_may_not() -> None:
    without_third = [one for one in full_set(ZH) if one.level != "hard"]
    assert check_hypotheses(PREMISE_ZH, without_third, ZH, "multi-constraint") == []
    blank = [replace(one, text=" \n") if one.level == "medium" else one for one in full_set(ZH)]
    found = check_hypotheses(PREMISE_ZH, blank, ZH, "multi-constraint")
    assert [(one.rule, one.label, one.level) for one in found] == [
        ("missing", label, "medium") for label in ORDER["nli3"]
    ]
    assert len(check_hypotheses(PREMISE_ZH, [], ZH, "multi-constraint")) == 6


def test_an_optional_slot_is_missing_before_a_filled_one() -> None:
    lax = replace(EN, conditions=(replace(EN.condition("multi-constraint"), optional=("medium", "hard")),))
    hypotheses = [one for one in full_set(EN) if not (one.label == "neutral" and one.level == "medium")]
    found = check_hypotheses(PREMISE_EN, hypotheses, lax, "multi-constraint")
    assert [(one.rule, one.label, one.level) for one in found] == [("missing", "neutral", "medium")]


def test_overlap_is_told_with_its_figure_and_places() -> None:
    (found,) = single("老王在公园里看见猫了")
    assert found.rule == "overlap"
    assert found.parameters == {"percent": 90, "allowed": 70, "shared": "老王在公园里看见猫"}
    assert found.spans == tuple((place, place + 1) for place in range(9))
    assert str(found.message) == (
        "entailment only: shares 90 % with the given sentence, and 70 % are allowed: "
        "老王在公园里看见猫; use other words"
    )
    (english,) = single("Old SAILORS don't drink juice", EN, PREMISE_EN)
    assert (english.parameters["percent"], english.parameters["shared"]) == (80, "Old SAILORS don't drink")
    assert english.spans == ((0, 3), (4, 11), (12, 17), (18, 23))


def test_exactly_the_share_is_allowed() -> None:
    assert measure("一二三四五六七", "一二三四五六七八九十").overlap == 0.7
    assert single("一二三四五六七八九十", premise="一二三四五六七") == []
    assert single("一二三四五六七八九", premise="一二三四五六七")[0].parameters["percent"] == 78


def test_each_token_of_the_premise_is_found_once() -> None:
    found = measure("猫来了", "猫猫猫")
    assert (found.overlap, found.shared) == (1 / 3, ((0, 1),))


@pytest.mark.parametrize(
    ("text", "protocol", "rule"),
    [
        ("。。。？！", ZH, "empty"),
        ("🙂🙂", EN, "empty"),
        ("The cat sat here", ZH, "language"),
        ("Кот спит дома", ZH, "language"),
        ("他昨天买了iPhone和MacBook Pro", ZH, None),
        ("3 + 4 = 7", ZH, None),
        ("他喜欢喝茶", EN, "language"),
        ("سفينة في البحر", EN, "language"),
        ("I ate 拉面 and phở with Zoë", EN, None),
        ("I", EN, "short"),
        ("Rain.", EN, "short"),
        ("It rains", EN, None),
        ("雨", ZH, "short"),
        ("½", ZH, "short"),
        ("下雨", ZH, None),
        ("字" * 1001, ZH, "long"),
        ("字" * 1000, ZH, None),
    ],
)
def test_single_rules(text: str, protocol: Protocol, rule: str | None) -> None:
    assert [one.rule for one in single(text, protocol)] == ([rule] if rule else [])


def test_ten_thousand_characters_are_measured_to_the_end() -> None:
    (found,) = single("字" * 10_000)
    assert found.parameters == {"characters": 10_000, "longest": 1000}
    assert measure("长" * 10_000, "长" * 9_999 + "短").overlap == 0.9999


def test_repeating_the_premise_or_another_is_told_once() -> None:
    (found,) = single("老王 昨天在公园里，看见两只白色的猫！")
    assert found.rule == "same_as_premise"
    hypotheses = given_texts(
        entailment_only="He SINGS well.", neutral_only="he sings, well", contradiction_only="All is well."
    )
    (twin,) = check_hypotheses(PREMISE_EN, hypotheses, EN, "single")
    assert (twin.rule, twin.label) == ("same_as_other", "neutral")
    assert twin.parameters == {"other_label": "entailment", "other_level": "only"}


@pytest.mark.parametrize(
    ("protocol", "premise", "texts", "marked"),
    [
        (ZH, PREMISE_ZH, ("猫没有颜色", "他非常不高兴", "谁都别走"), ["不", "别"]),
        (EN, PREMISE_EN, ("Nobody rows.", "They cannot swim.", "We don’t and won't sail"), ["cannot", "don’t won't"]),
    ],
)
def test_negators_past_the_first_contradiction(
    protocol: Protocol, premise: str, texts: tuple[str, ...], marked: list[str]
) -> None:
    kept = [one for one in full_set(protocol) if one.label != "contradiction"]
    negated = [Hypothesis(label="contradiction", level=a, text=b) for a, b in zip(LEVELS, texts, strict=True)]
    found = check_hypotheses(premise, kept + negated, protocol, "multi-constraint")
    assert [(one.rule, one.level, one.parameters) for one in found] == [
        ("negator", level, {"negators": words, "allowed": 1}) for level, words in zip(LEVELS[1:], marked, strict=True)
    ]
    start, end = found[0].spans[0]
    assert texts[1][start:end] == marked[0]


def test_words_that_only_look_like_negators_are_none() -> None:
    assert measure("一", "他非常特别，分别和别人去了非洲").negators == ()
    assert measure("a", "The notary knows a nobleman in Nottingham", EN).negators == ()
    assert measure("a", "cannot NOT isn’t", EN).negators == ((0, 6), (7, 10), (11, 16))


@pytest.mark.parametrize(
    "text",
    ["It is nоt so", "It is ｎｏｔ so", "It is ⓝⓞⓣ so", "It is 𝐧𝐨𝐭 so", "It is n\u2060ot so",
     "It is n\u0335o\u0335t so", "It is ΝΟΤ so", "It is nöt so", "It isn‘t so", "It isnʼt so", "NОВОDY is",
     "NІL or nоne"],
)  # fmt: skip
def test_a_negator_in_disguise_is_one(text: str) -> None:
    assert len(measure("a", text, EN).negators) == 1


def test_the_premise_in_disguise_is_the_premise() -> None:
    disguised = PREMISE_EN.replace("o", "о").replace("d", "d\u200b").replace("S", "Ｓ")
    assert [one.rule for one in single(disguised, EN, PREMISE_EN)] == ["same_as_premise"]
    assert [one.rule for one in single("Two оld sailors dance", EN, PREMISE_EN)] == ["overlap"]
    assert measure("a", "Two оld saіlors", EN).to_dict()["tokens"] == 3
    found = measure(PREMISE_EN, "é Two оld", EN)
    assert found.words(found.shared) == "Two оld"


def test_what_looks_like_latin_is_still_another_script() -> None:
    assert [one.rule for one in single("Кот спит сейчас", EN, PREMISE_EN)] == ["language"]


def test_negators_in_traditional_characters() -> None:
    for text in ("貓沒有顏色", "誰都別走", "他毫無興趣", "並非如此", "毋須多言"):
        assert measure("一", text).negators, text
    assert measure("一", "他個別告別了別人，未來對不起不過無論如何沉沒").negators == ()
    simple, full = "个仅别区对并数断无没类级线论过错来", "個僅別區對並數斷無沒類級線論過錯來"
    for words in (ZH.negators.words, ZH.negators.exceptions):
        assert {word.translate(str.maketrans(simple, full)) for word in words} <= {*words}


def test_negators_are_free_elsewhere() -> None:
    hypotheses = [replace(one, text=f"没{one.text}") if one.label == "neutral" else one for one in full_set(ZH)]
    assert check_hypotheses(PREMISE_ZH, hypotheses, ZH, "multi-constraint") == []
    multi = make_protocol("multi", "zh")
    negated = [replace(one, text=f"没{one.text}") for one in full_set(ZH)]
    assert check_hypotheses(PREMISE_ZH, negated, multi, "multi") == []


def test_a_lexicon_of_ones_own() -> None:
    own = replace(EN, negators=replace(EN.negators, words=("hardly", "no"), exceptions=("no",), pattern=None))
    assert measure("a", "There is no hardly used isn't", own).negators == ((12, 18),)


@pytest.mark.parametrize(
    ("hypotheses", "message"),
    [
        (given_texts(entailment_hard="x"), "for entailment hard is not asked for in condition 'single'; its slots are"),
        (given_texts(banana_only="x"), "for banana only is not asked for"),
        (2 * given_texts(neutral_only="x"), "for neutral only is given twice"),
    ],
)
def test_slots_that_are_not_there(hypotheses: list[Hypothesis], message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_hypotheses(PREMISE_ZH, hypotheses, ZH, "single")


def test_the_bonus_wants_no_negator_and_different_thoughts() -> None:
    fine = full_set(EN)
    assert meets_bonus(PREMISE_EN, fine, EN)
    negated = [replace(one, text="Nobody sails.") if one.label == "contradiction" else one for one in fine]
    assert not meets_bonus(PREMISE_EN, negated, EN)
    alike = given_texts(neutral_easy="Anna drinks much coffee daily", neutral_medium="Ben drinks much coffee daily")
    assert not meets_bonus(PREMISE_EN, alike, EN)
    assert meets_bonus(PREMISE_EN, [alike[0], replace(alike[1], label="entailment")], EN)


def test_what_goes_to_the_page_is_plain() -> None:
    (found,) = single("老王在公园里看见猫了")
    assert found.to_dict()["spans"][0] == [0, 1]
    assert {*found.to_dict()} == {"rule", "label", "level", "spans", "parameters", "message"}
    assert measure("一二", "一三").to_dict() == {
        "label": "entailment", "level": "easy", "characters": 2, "tokens": 2, "overlap": 0.5, "shared": [[0, 1]],
        "negators": [],
    }  # fmt: skip
    assert script_parameters(ZH)["unit"] == "characters"
    assert script_parameters(EN)["negators"]["pattern"] == r"\w+n't"


def test_every_rule_can_be_broken_and_has_its_words() -> None:
    broken = {
        one.rule
        for text in ("。", "猫", "The cat", "字" * 1001, PREMISE_ZH, "老王在公园里看见猫了")
        for one in single(text)
    }
    broken |= {"missing", "same_as_other", "negator"}  # each has its test above
    assert broken == {name.removeprefix("rule_") for name in ENGLISH if name.startswith("rule_")}


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("  他\r\n来\t了 \u3000。", "他 来 了 。"),
        ("\ufeffcaf\u0065\u0301\x00\x07", "café"),
        ("so\u00adft zero\u200bwidth", "soft zerowidth"),
        ("👩‍👩‍👧 family", "👩‍👩‍👧 family"),
        ("lone \ud800 surrogate", "lone surrogate"),
        ("\u202bשלום\u202c", "שלום"),
        ("e\x00\u0301", "é"),
        ("\n\r", ""),
        ("no\u2060t n\u034fot \u3164 n\U000e0061ot", "not not not"),
        ("\u2066not\u2069 \u200fnot n\u200dot n\ufe0fot", "not not not not"),
        ("葛\U000e0100飾 ok\ufe01", "葛飾 ok"),
        ("❤\ufe0f 1\ufe0f\u20e3 ‼\ufe0f", "❤\ufe0f 1\ufe0f\u20e3 ‼\ufe0f"),
        ("क्\u200dष نامه\u200cای", "क्\u200dष نامه\u200cای"),
        (ENGLAND, ENGLAND),
        (ENGLAND[:-1], ENGLAND[0]),
        ("a" + ENGLAND[1:], "a"),
    ],
)
def test_texts_are_stored_clean(text: str, clean: str) -> None:
    assert clean_text(text) == clean


TEXTS = st.text(max_size=40) | st.text("一二三四猫狗没不 ，。ab'’1.", max_size=20)


@settings(deadline=None)
@given(TEXTS)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    clean = clean_text(text)
    assert clean_text(clean) == clean
    assert unicodedata.is_normalized("NFC", clean)
    assert clean.encode().decode() == clean
    assert "\n" not in clean


@settings(deadline=None)
@given(TEXTS, TEXTS, st.sampled_from([ZH, EN]))
def test_overlap_is_a_share_of_tokens_at_their_places(premise: str, text: str, protocol: Protocol) -> None:
    found = measure(premise, text, protocol)
    assert 0 <= found.overlap <= 1
    assert len(found.shared) == round(found.overlap * len(found.tokens))
    assert len(found.shared) == (Counter(found.tokens) & Counter(measure("", premise, protocol).tokens)).total()
    assert all(a[1] <= b[0] for a, b in zip(found.shared, found.shared[1:], strict=False))


@settings(deadline=None)
@given(st.lists(st.sampled_from("一二三猫a1"), min_size=1, max_size=12), st.data())
def test_a_part_of_the_premise_overlaps_wholly(letters: list[str], data: st.DataObject) -> None:
    part = data.draw(st.lists(st.sampled_from(range(len(letters))), min_size=1, unique=True))
    premise, text = " ".join(letters), " ".join(letters[place] for place in part)
    assert measure(premise, text).overlap == 1
    assert measure(premise, f"{text} 鸟").overlap < 1


@settings(deadline=None)
@given(TEXTS, TEXTS, st.sampled_from([ZH, EN]), st.sampled_from(["NFC", "NFD"]))
def test_measures_do_not_hang_on_the_normal_form(premise: str, text: str, protocol: Protocol, form: str) -> None:
    other = measure(unicodedata.normalize(form, premise), unicodedata.normalize(form, text), protocol)
    assert other == measure(premise, text, protocol)


@settings(deadline=None)
@given(st.lists(TEXTS, min_size=9, max_size=9), TEXTS, st.sampled_from([ZH, EN]))
def test_any_text_is_checked(texts: list[str], premise: str, protocol: Protocol) -> None:
    slots = protocol.slots("multi-constraint")
    hypotheses = [Hypothesis(label=a, level=b, text=text) for (a, b), text in zip(slots, texts, strict=True)]
    for found in check_hypotheses(premise, hypotheses, protocol, "multi-constraint"):
        text = clean_text(texts[slots.index((found.label, found.level))])
        assert all(0 <= start < end <= len(text) for start, end in found.spans)
        assert str(found.message).startswith(f"{found.label} {found.level}: ")
        assert found.label in NLI3
