"""Why the number, on planted truth: models of which it is known what they read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from goldlabel.evaluate.answers import answer_gold
from goldlabel.evaluate.explanation import Cue, asking, measure_cues, measure_edits, measure_kinship, measure_sides
from goldlabel.evaluate.explanation.contrary import affirm, negate
from goldlabel.evaluate.explanation.edits import EDITS, drop_content
from goldlabel.evaluate.explanation.sides import draw_partners
from goldlabel.models.model import Unmoved
from goldlabel.pairs.gold import GoldPairs
from goldlabel.pairs.labels import NLI2, NLI3, LabelSpace
from goldlabel.pairs.lexicon import NON_WORD

THINGS = ("gate", "barn", "shed", "mill", "vault", "cabin", "tower", "chapel", "kiosk", "stable", "hangar", "lodge")
KINDS = ("old", "tall", "far", "grand", "small")
SAYS = {"entailment": "open", "contradiction": "shut", "neutral": "red"}


class Answering(Unmoved):
    """A model that is a function of the two texts, and counts what it was asked."""

    def __init__(self, label: Callable[[str, str], str], space: LabelSpace = NLI3) -> None:
        self.label_space, self.label, self.asked = space, label, 0

    def predict(self, premises: Sequence[str], hypotheses: Sequence[str]) -> NDArray[np.float64]:
        self.asked += len(premises)
        labels = [self.label(*texts) for texts in zip(premises, hypotheses, strict=True)]
        return np.array([[float(label == word) for word in self.label_space.labels] for label in labels])


def read_both(premise: str, hypothesis: str) -> str:
    """Knows that a thing is open or shut, and that its colour has nothing to do with it."""
    facts = []
    for text in (premise, hypothesis):
        words = text.lower().rstrip(".").replace("sadly ", "").split()
        if len(words) < 5:
            return "neutral"
        denied = "not" in words
        facts.append((words[1:3], "open" if words[-1] == "shut" else words[-1], denied != (words[-1] == "shut")))
    (thing, state, denied), (other, said, contrary) = facts
    if thing != other or state != said:
        return "neutral"
    return "entailment" if denied == contrary else "contradiction"


def read_artifact(_: str, hypothesis: str) -> str:
    """Reads one word of the hypothesis."""
    return "contradiction" if "sadly" in hypothesis.lower() else "entailment"


def doors(rounds: int = 5, *, space: LabelSpace = NLI3, language: str | None = "en") -> GoldPairs:
    """Each thing with a hypothesis of each label, half of them with a word that means nothing."""
    rows = []
    for number, (kind, thing, label) in enumerate(product(KINDS[:rounds], THINGS, SAYS)):
        sadly = "sadly " if (number // 3 + (label == "neutral")) % 2 else ""
        rows.append(
            {
                "id": str(number),
                "premise": f"The {kind} {thing} is open.",
                "hypothesis": f"The {kind} {thing} is {sadly}{SAYS[label]}.",
                "label": label if space is NLI3 or label == "entailment" else "not_entailment",
                "language": language,
                "group": f"{number // 3}",
            }
        )
    schema = {"language": pl.String, "group": pl.String}
    return GoldPairs("doors", space, pl.DataFrame(rows, schema_overrides=schema), split="test")


def ask(model: Answering, gold: GoldPairs) -> NDArray[np.str_]:
    return answer_gold("it", model, gold)[1]


def sadly(gold: GoldPairs) -> Cue:
    return Cue("word", "sadly", "contradiction", 0.8, gold.frame["hypothesis"].str.contains("sadly").to_numpy())


def test_a_model_that_reads_an_artifact_follows_it_and_one_that_reads_the_pair_does_not() -> None:
    gold = doors()
    nothing = Cue("word", "the", "neutral", 0.4, np.arange(len(gold)) % 4 == 0)
    (first, second) = measure_cues(gold, ask(Answering(read_artifact), gold), [nothing, sadly(gold)])
    assert (first.cue.feature, first.right.value, first.followed, second.followed) == ("sadly", 1.0, True, False)
    assert first.wrong.value == 0.0
    assert first.gap.value.value == 1.0
    # Without the word it says entailment: never right of a contradiction, in half of the others.
    assert first.pull.value.value == pytest.approx(1.5)
    assert first.pull.p_value < 1e-9
    assert first.to_dict()["points_wrong"]["value"] == 0.0
    assert not any(effect.followed for effect in measure_cues(gold, ask(Answering(read_both), gold), [sadly(gold)]))


def test_a_model_that_says_one_label_often_follows_no_cue() -> None:
    """It is right of every contradiction and of no other pair, whether they carry the cue or not."""
    gold = doors()
    (effect,) = measure_cues(gold, ask(Answering(lambda *_: "contradiction"), gold), [sadly(gold)])
    assert (effect.gap.value.value, effect.pull.value.value) == (1.0, 0.0)
    assert not effect.followed


def test_p_values_are_corrected_for_the_number_of_cues_and_rare_cues_are_left_out() -> None:
    gold = doors()
    answers = ask(Answering(read_both), gold).copy()
    random = np.random.RandomState(1)
    wrong = random.rand(len(gold)) < 0.3
    answers[wrong] = "neutral"
    cues = [Cue("word", str(number), "contradiction", 0.5, random.rand(len(gold)) < 0.5) for number in range(20)]
    alone = [measure_cues(gold, answers, [cue])[0].pull.p_value for cue in cues]
    together = measure_cues(gold, answers, cues)
    assert together[0].pull.p_value == pytest.approx(min(1.0, 20 * min(alone)))
    rare = Cue("word", "rare", "contradiction", 0.5, np.arange(len(gold)) < 9)
    assert measure_cues(gold, answers, [rare]) == []


def test_agreement_beyond_the_gold_labels() -> None:
    gold = GoldPairs("doors", NLI3, doors().frame.head(175))
    true = gold.frame["label"].to_numpy()
    blind = ask(Answering(read_artifact), gold)
    itself = measure_kinship(gold, blind, blind)
    assert itself.agreement.value == 1.0
    # Given the gold label, the blind model says each of two labels in about half of the pairs.
    assert itself.excess.value.value == pytest.approx(0.5, abs=0.001)
    assert itself.related
    assert (itself.easy.value, itself.hard.value) == (1.0, 0.0)
    reader = measure_kinship(gold, true, blind)
    assert reader.excess.value.value == pytest.approx(0.0, abs=1e-12)
    assert not reader.related
    assert (reader.easy.value, reader.hard.value) == (1.0, 1.0)
    opposite = np.where(blind == "entailment", "contradiction", "entailment")
    assert measure_kinship(gold, opposite, blind).excess.value.value == pytest.approx(-0.5, abs=0.001)


def test_what_survives_without_a_side_is_what_is_read_on_the_other() -> None:
    gold = doors()
    reader, blind = Answering(read_both), Answering(read_artifact)
    by_reader = {(part.side, part.way): part for part in measure_sides(gold, ask(reader, gold), asking(reader, gold))}
    by_blind = {(part.side, part.way): part for part in measure_sides(gold, ask(blind, gold), asking(blind, gold))}
    assert set(by_reader) == set(product(("premise", "hypothesis"), ("blank", "shuffled")))
    assert by_reader["premise", "blank"].accuracy.value == pytest.approx(1 / 3)
    assert by_reader["premise", "blank"].survives.value == pytest.approx(0.0)
    assert by_reader["premise", "blank"].loss.p_value < 1e-9
    assert by_reader["premise", "shuffled"].survives.value == pytest.approx(0.0)
    for way in ("blank", "shuffled"):
        assert by_blind["premise", way].loss.difference.value == 0.0
        assert by_blind["hypothesis", way].accuracy.value == pytest.approx(1 / 3, abs=0.1)
    assert by_blind["premise", "blank"].survives.value is None, "it is not above chance"


def test_half_of_a_gain_that_survives_is_told_as_half() -> None:
    """Right of contradictions by an artifact that always tells them, of the others by reading both."""
    gold = doors()
    frame = gold.frame.with_columns(
        pl.when(pl.col("label") == "contradiction")
        .then(pl.lit("It is sadly shut."))
        .otherwise(pl.col("hypothesis").str.replace("sadly ", ""))
        .alias("hypothesis")
    )
    gold = GoldPairs("doors", NLI3, frame)
    model = Answering(lambda *texts: "contradiction" if "sadly" in texts[1] else read_both(*texts))
    blank = next(part for part in measure_sides(gold, ask(model, gold), asking(model, gold)) if part.way == "blank")
    assert blank.accuracy.value == pytest.approx(2 / 3), "without the premise it says neutral of the rest"
    assert blank.survives.value == pytest.approx(0.5)
    assert blank.survives.interval is None or blank.survives.interval[0] <= 0.5 <= blank.survives.interval[1]


def test_partners_are_of_another_unit_and_of_the_same_language() -> None:
    gold = doors()
    frame = gold.frame.with_columns(language=pl.when(pl.int_range(pl.len()) < 90).then(pl.lit("en")).otherwise(None))
    mixed = GoldPairs("doors", NLI3, frame)
    partners = draw_partners(mixed, seed=3)
    assert (partners >= 0).all()
    assert (mixed.units[partners] != mixed.units).all()
    assert ((partners < 90) == (np.arange(len(mixed)) < 90)).all()
    assert len(set(partners.tolist())) == len(mixed)
    assert (draw_partners(mixed, seed=3) == partners).all()
    assert (draw_partners(mixed, seed=4) != partners).any()
    alone = GoldPairs("one", NLI3, gold.frame.head(3).with_columns(group=pl.lit("all")))
    assert (draw_partners(alone, seed=0) == -1).all()


def test_edits_are_right_for_who_reads_both_and_wrong_for_who_reads_an_artifact() -> None:
    gold = doors()
    reader, blind = Answering(read_both), Answering(read_artifact)
    by_reader = {(part.edit, part.label): part for part in measure_edits(gold, ask(reader, gold), asking(reader, gold))}
    settled = [part for part in by_reader.values() if part.right is not None]
    assert {part.edit for part in settled} == {"negate the hypothesis", "swap premise and hypothesis"}
    assert all(part.right is not None and part.right.value == 1.0 for part in settled)
    negated = by_reader["negate the hypothesis", "entailment"]
    assert (negated.flips.value, negated.allowed, negated.must_change) == (1.0, ("contradiction",), True)
    assert (negated.flips.n, negated.pairs) == (60, 60)
    assert by_reader["negate the hypothesis", "neutral"].flips.value == 0.0
    dropped = by_reader["drop the premise's content words", "entailment"]
    assert (dropped.flips.value, dropped.right) == (1.0, None)
    by_blind = {(part.edit, part.label): part for part in measure_edits(gold, ask(blind, gold), asking(blind, gold))}
    assert by_blind["negate the hypothesis", "entailment"].flips.value == 0.0
    assert by_blind["negate the hypothesis", "entailment"].right.value == 0.5, "where the word says so by chance"
    assert by_blind["swap premise and hypothesis", "contradiction"].right.value == 0.0


def test_in_two_labels_only_what_entailment_settles_is_settled() -> None:
    gold = doors(space=NLI2)
    model = Answering(lambda *texts: "entailment" if read_both(*texts) == "entailment" else "not_entailment", NLI2)
    effects = measure_edits(gold, ask(model, gold), asking(model, gold))
    settled = [(part.edit, part.label, part.right.value) for part in effects if part.right is not None]
    assert settled == [("negate the hypothesis", "entailment", 1.0)]


def test_pairs_of_an_unknown_language_are_only_swapped() -> None:
    gold = doors(language=None)
    model = Answering(read_both)
    effects = measure_edits(gold, ask(model, gold), asking(model, gold))
    assert {part.edit for part in effects} == {"swap premise and hypothesis"}


def test_edited_pairs_are_held_against_their_own_answers() -> None:
    """Where the first half allows no edit, the second half's answers flip all the same."""
    unknown, known = doors(language=None).frame, doors().frame
    frame = pl.concat([unknown.reverse(), known]).with_columns(id=pl.int_range(pl.len()).cast(pl.String))
    gold = GoldPairs("doors", NLI3, frame)
    model = Answering(read_both)
    effects = {(part.edit, part.label): part for part in measure_edits(gold, ask(model, gold), asking(model, gold))}
    negated = {label: effects["negate the hypothesis", label] for label in SAYS}
    assert {label: part.flips.value for label, part in negated.items()} == {
        "entailment": 1.0, "contradiction": 1.0, "neutral": 0.0,
    }  # fmt: skip
    assert {(part.flips.n, part.pairs) for part in negated.values()} == {(60, 120)}


@pytest.mark.parametrize(
    ("sentence", "contrary"),
    [
        ("The gate is open.", "The gate is not open."),
        ("she was asleep", "she was not asleep"),
        ("A heron is standing in the reeds.", "No heron is standing in the reeds."),
        ("An owl was there!", "No owl was there!"),
        ("There is a boat on the river.", "There is no boat on the river."),
        ("It is raining, said the keeper.", "It is not raining, said the keeper."),
    ],
)
def test_english_contraries(sentence: str, contrary: str) -> None:
    assert negate(sentence, "en") == contrary
    if "boat" not in sentence and "owl" not in sentence.lower() and "heron" not in sentence:
        assert affirm(contrary, "en") == sentence


def test_the_way_back_in_english() -> None:
    assert affirm("The gate isn't open.", "en") == "The gate is open."
    assert affirm("No bird is singing.", "en") == "A bird is singing."
    assert affirm("No heron is singing.", "en") is None, "an hour, a heron: the letter does not tell the article"
    assert affirm("Nobody is singing.", "en") is None
    assert affirm("The gate is open.", "en") is None


@pytest.mark.parametrize(
    "sentence",
    [
        "The gates are open.",  # of several, some may be
        "Every gate is open.",
        "A gate is open.",  # gates in general?
        "The gate is not open.",
        "The gate is open and the barn is shut.",
        "The gate is open because it was broken.",
        "The gate that is old is open.",
        "If it rains, the gate is shut.",
        "The gate is open. The barn is shut.",
        "The gate is open; a barn burnt.",
        "The gate, says the keeper, is open.",
        "Is the gate open?",
        "The gate might be open.",
        "It likely was open.",
        "The man who came is old.",
        "A boat",
        "The gate is",
        "Gates.",
        "",
        "🚪",
    ],
)
def test_no_english_contrary_where_it_is_not_certain(sentence: str) -> None:
    assert negate(sentence, "en") is None


def test_chinese_contraries() -> None:
    assert negate("那扇门开着。", "zh") == "并非那扇门开着。"
    assert affirm("并非那扇门开着。", "zh") == "那扇门开着。"
    assert affirm("他不是木匠", "zh") == "他是木匠"
    assert affirm("渔夫不在船上。", "zh") == "渔夫在船上。"
    for sentence in ("那扇门没开。", "如果下雨，门就关上。", "门开着，灯也亮着。", "门开着吗？"):
        assert negate(sentence, "zh") is None, sentence
    for sentence in ("他们都不是木匠", "他是不是木匠", "我认为他不是木匠", "他从不在家", "他不高兴", "他是木匠"):
        assert affirm(sentence, "zh") is None, sentence


def test_content_words_are_dropped_and_the_rest_stays() -> None:
    assert drop_content("Two herons are standing in the reeds.", "en") == "Two are in the ."
    assert drop_content("那扇门不是开着的。", "zh") == "不是着的。"
    assert drop_content("Herons!", "en") is None
    assert drop_content("It is in the", "en") is None
    assert all(edit.change("", "", "en") in (None, ("", "")) for edit in EDITS)


def test_the_non_word_is_what_a_blank_side_says() -> None:
    gold = doors(1)
    seen: set[str] = set()
    model = Answering(lambda premise, _: seen.add(premise) or "neutral")  # type: ignore[func-returns-value]
    measure_sides(gold, ask(model, gold), asking(model, gold))
    assert NON_WORD in seen
