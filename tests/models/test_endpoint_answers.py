"""What counts as an answer, and what it says about the labels."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldlabel.errors import InputError
from goldlabel.models.endpoint.answers import Words, read_answer
from goldlabel.models.endpoint.prompt import PROMPTS, Example, read_prompt, shipped_prompt
from goldlabel.models.endpoint.replies import Reply, Token, read_reply
from goldlabel.pairs.labels import LABEL_SPACES, NLI2, NLI3, label_space
from tests.models.endpoint_server import chat_logprobs

NLI3_EN = shipped_prompt(NLI3, "en", "both").words  # contradiction, entailment, neutral
NLI2_EN = shipped_prompt(NLI2, "en", "both").words  # entailment, not entailment


@pytest.mark.parametrize(
    "text",
    [
        "neutral",
        " Neutral.\n",
        "**NEUTRAL**",
        "“neutral”",
        "Answer: neutral",
        "答案：neutral",
        '{"label": "neutral"}',
        '```json\n{"label": "Neutral"}\n```',
        '"neutral"',
        '["neutral"]',
        "<think>If it were an entailment\n…</think>\n\nneutral",
        "Neutral\n\nThe premise says nothing about it.",
        "ＮＥＵＴＲＡＬ",
    ],
)
def test_a_label_word_is_an_answer(text: str) -> None:
    answer = read_answer(Reply(text), NLI3_EN)
    assert answer.probabilities is not None
    assert answer.probabilities.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply("This is not a contradiction."), "prose"),
        (Reply("neutral or entailment"), "prose"),
        (Reply("Entailment? No: neutral."), "prose"),
        (Reply('{"label": "neutral", "other": "entailment"}'), "prose"),
        (Reply("Neutral?"), "prose"),
        (Reply("e"), "prose"),
        (Reply("1"), "prose"),
        (Reply("🙂"), "prose"),
        (Reply("محايد"), "prose"),
        (Reply("a" * 10_000), "prose"),
        (Reply("[" * 10_000), "prose"),
        (Reply(""), "empty"),
        (Reply(" \n"), "empty"),
        (Reply("中立"), "language"),
        (Reply("矛盾。"), "language"),
        (Reply("The premise says", "length"), "truncated"),
        (Reply("contradic", "length"), "truncated"),
        (Reply("", "length"), "truncated"),
        (Reply("<think>The premise", "length"), "truncated"),
        (Reply("neutral", "content_filter"), "refused"),
        (Reply("", refusal="I can't help with that."), "refused"),
    ],
)
def test_anything_else_has_a_reason_and_no_probabilities(reply: Reply, reason: str) -> None:
    answer = read_answer(reply, NLI3_EN)
    assert (answer.probabilities, answer.reason) == (None, reason)


def test_an_english_word_to_a_chinese_prompt_is_another_language() -> None:
    words = shipped_prompt(NLI3, "zh", "both").words
    assert read_answer(Reply("entailment"), words).reason == "language"
    assert read_answer(Reply("蕴含。"), words).probabilities is not None


def test_the_longer_of_two_labels_is_not_taken_for_the_shorter() -> None:
    for text in ("not entailment", "not_entailment", "Not-Entailment."):
        answer = read_answer(Reply(text), NLI2_EN)
        assert answer.probabilities is not None
        assert answer.probabilities.tolist() == [0, 1]
    assert read_answer(Reply("not", "length"), NLI2_EN).reason == "truncated"


def test_a_word_that_was_cut_off_could_have_become_another() -> None:
    words = Words(("likely", "likely not"))
    assert read_answer(Reply("likely", "length"), words).reason == "truncated"
    assert read_answer(Reply("likely", "stop"), words).probabilities is not None
    assert read_answer(Reply("likely not", "length"), words).probabilities is not None


@given(st.text())
def test_no_text_breaks_the_reading(text: str) -> None:
    answer = read_answer(Reply(text), NLI3_EN)
    assert (answer.probabilities is None) == bool(answer.reason)


def graded(words: Words, text: str, *positions: dict[str, float]) -> list[float] | None:
    document = {"choices": [{"message": {"content": text}, "logprobs": chat_logprobs(*positions)}]}
    answer = read_answer(read_reply(document), words)
    assert answer.probabilities is not None
    return [round(float(value), 9) for value in answer.probabilities] if answer.graded else None


def test_variants_of_a_word_add_up() -> None:
    first = {"ent": 0.4, " Ent": 0.1, "Neutral": 0.2, "neutral.": 0.1, "contr": 0.1, "The": 0.1}
    assert graded(NLI3_EN, "entailment", first, {"ailment": 1.0}) == [0.111111111, 0.555555556, 0.333333333]


def test_a_token_that_all_labels_share_leaves_it_to_the_next() -> None:
    space = {"\n": 0.5, "neutral": 0.3, "“": 0.2}
    following = {"neutral": 0.6, "ent": 0.4}
    # 0.3 before the line break, then 0.5 × 0.6 and 0.5 × 0.4; what follows the quotation mark is not known.
    assert graded(NLI3_EN, "\nneutral", space, following) == [0, 0.25, 0.75]


def test_words_with_the_same_first_token_are_told_apart_by_the_next() -> None:
    words = Words(("not likely", "not sure", "yes"))
    assert graded(words, "not sure", {"not": 0.8, "yes": 0.2}, {" sure": 0.75, " likely": 0.25}) == [0.2, 0.6, 0.2]


def test_a_single_letter_is_followed_on_the_path_and_not_believed_beside_it() -> None:
    assert graded(NLI3_EN, "neutral", {"n": 0.6, "e": 0.3, "C": 0.1}, {"eutral": 1.0}) == [0, 0, 1]


def test_chinese_words_have_probabilities_from_their_first_character() -> None:
    words = shipped_prompt(NLI3, "zh", "both").words  # 矛盾, 蕴含, 中立
    assert graded(words, "中立", {"中": 0.5, "蕴": 0.25, "矛盾": 0.25}) == [0.25, 0.25, 0.5]


@pytest.mark.parametrize(
    "tokens",
    [
        (),
        (Token("neutral", math.nan),),
        (Token("neutral", 3.0),),
        (Token("The", -0.1), Token("neutral", -0.1)),
        (Token("�", -0.1, {"entailment": -3.0}),),
        (Token("ent", -0.1, {"neutral": -2.0}),),
    ],
)
def test_log_probabilities_that_do_not_fit_the_text_are_not_believed(tokens: tuple[Token, ...]) -> None:
    answer = read_answer(Reply("neutral", tokens=tokens), NLI3_EN)
    assert not answer.graded
    assert answer.probabilities is not None
    assert answer.probabilities.tolist() == [0, 0, 1]


@given(st.lists(st.floats(0.01, 1.0), min_size=3, max_size=3))
def test_graded_probabilities_are_the_shares_of_the_words(weights: list[float]) -> None:
    shares = np.array(weights) / sum(weights)
    words = dict(zip(("contra", "entail", "neutral"), shares.tolist(), strict=True))
    written = max(words, key=lambda word: words[word])
    first = {written: words[written], **words}
    full = {"contra": "contradiction", "entail": "entailment", "neutral": "neutral"}[written]
    result = graded(NLI3_EN, full, first)
    assert result is not None
    np.testing.assert_allclose(result, shares, atol=1e-6)


def test_completions_have_log_probabilities_in_their_own_form() -> None:
    logprobs = {"tokens": [" neutral"], "token_logprobs": [-0.2], "top_logprobs": [{" neutral": -0.2, " ent": -1.0}]}
    reply = read_reply({"choices": [{"text": " neutral", "finish_reason": "stop", "logprobs": logprobs}]})
    assert reply.tokens == (Token(" neutral", -0.2, {" neutral": -0.2, " ent": -1.0}),)
    assert Reply.from_dict(reply.to_dict()) == reply


@pytest.mark.parametrize(
    "document",
    [
        [],
        {},
        "neutral",
        None,
        {"choices": []},
        {"choices": [{}]},
        {"choices": [{"message": {"content": 1}}]},
        {"choices": [{"message": None}]},
        {"error": {"message": "overloaded"}},
    ],
)
def test_what_is_no_response_is_refused(document: object) -> None:
    with pytest.raises(ValueError, match="no chat and no completion"):
        read_reply(document)


@pytest.mark.parametrize("usage", [{"prompt_tokens": -5}, {"prompt_tokens": "many"}, {"prompt_tokens": True}, None])
def test_usage_that_is_no_count_is_unknown(usage: object) -> None:
    assert read_reply({"choices": [{"text": ""}], "usage": usage}).tokens_in is None


# Prompts.


def test_every_label_space_has_a_prompt_in_both_languages_and_three_forms() -> None:
    for name in LABEL_SPACES:
        for language in ("en", "zh"):
            for reads in ("both", "hypothesis", "premise"):
                prompt = shipped_prompt(LABEL_SPACES.get(name), language, reads)
                assert (prompt.language, prompt.version) == (language, "1")
                assert all(word in prompt.instructions for word in prompt.labels.values())
                shown = prompt.chat("PREM {hypothesis}", "HYP")[-1]["content"]
                assert ("PREM {hypothesis}" in shown) == (reads != "hypothesis")
                assert ("HYP" in shown) == (reads != "premise")


def test_examples_stand_before_the_question_with_their_answers() -> None:
    prompt = shipped_prompt(NLI2, "en", "both")
    example = Example("It rains.", "It is dry.", "not_entailment")
    instructions, *turns = prompt.chat("A.", "B.", [example])
    assert instructions["role"] == "system"
    assert [(turn["role"], turn["content"]) for turn in turns] == [
        ("user", "Premise: It rains.\nHypothesis: It is dry.\nAnswer:"),
        ("assistant", "not entailment"),
        ("user", "Premise: A.\nHypothesis: B.\nAnswer:"),
    ]
    assert prompt.text("A.", "B.", [example]).endswith(
        "Hypothesis: It is dry.\nAnswer: not entailment\n\nPremise: A.\nHypothesis: B.\nAnswer:"
    )


OWN = """
version = "mine-3"
[words]
agree = "A"
disagree = "B"
[both]
instructions = "A or B?"
pair = "1: {premise} 2: {hypothesis}"
"""


def test_a_prompt_of_the_users_own(tmp_path: Path) -> None:
    path = tmp_path / "agree.toml"
    path.write_text(OWN)
    prompt = read_prompt(path, label_space("agree,disagree"), "both")
    assert (prompt.name, prompt.version, prompt.words.own) == ("agree", "mine-3", ("a", "b"))
    assert graded(prompt.words, "B", {"B": 0.75, "A": 0.25}) == [0.25, 0.75]
    assert read_answer(Reply("agree"), prompt.words).reason == "language"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("[both]", "[bath]"), "'bath' is not known in a prompt; allowed: version, language, words, both"),
        (("{premise}", ""), r"the pair of \[both\] has \{premise\} and \{hypothesis\} once"),
        (("{premise}", "{hypothesis}"), "once and nothing else in braces"),
        (('disagree = "B"', ""), r"\[words\] holds a text for each of agree, disagree"),
        (('"B"', '"a."'), "must tell the labels apart"),
        (('"B"', "2"), "holds a text"),
        (("[words]", "[words"), "is not a prompt in TOML"),
        (("[both]", "[premise]"), r"has no section \[both\]; it holds instructions, pair"),
    ],
)
def test_a_prompt_that_cannot_be_used_is_refused(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    path = tmp_path / "own.toml"
    path.write_text(OWN.replace(*change))
    with pytest.raises(InputError, match=message):
        read_prompt(path, label_space("agree,disagree"), "both")


def test_a_prompt_that_is_not_there() -> None:
    with pytest.raises(InputError, match="there is no such file"):
        read_prompt(PROMPTS / "none.toml", NLI3, "both")
    with pytest.raises(InputError, match="no prompt is shipped for the labels agree, disagree, only for nli2, nli3"):
        shipped_prompt(label_space("agree,disagree"), "en", "both")
