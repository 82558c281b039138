from __future__ import annotations

import json
import warnings
from hashlib import sha256
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

import goldlabel as gl
from goldlabel.errors import InputError
from goldlabel.models.linear import Linear
from goldlabel.pairs.labels import NLI3
from goldlabel.pairs.record import COLUMNS, DTYPES
from goldlabel.sources.fragments import (
    LANGUAGES,
    PHENOMENA,
    capacity,
    fragment_pairs,
    logical_forms,
    make_fragments,
    parse_artifact,
    write_fragments,
)
from goldlabel.sources.fragments.cells import cells
from goldlabel.sources.fragments.drawing import permute
from goldlabel.sources.fragments.lexicon import lexicons
from goldlabel.sources.fragments.semantics import verdict
from tests.cli.commands import Done, run

BOTH = [(language, phenomenon) for language in LANGUAGES for phenomenon in PHENOMENA]


def made(language: str, pairs: int, **options: object) -> pl.DataFrame:
    return pl.concat(make_fragments(language, pairs, **options))  # type: ignore[arg-type]


@pytest.fixture(scope="module", params=LANGUAGES)
def sample(request: pytest.FixtureRequest) -> pl.DataFrame:
    return made(request.param, 6_000, seed=1)


# Known sentences.


def sentences(
    language: str, phenomenon: str, premise: str, hypothesis: str, **words: str | int
) -> tuple[str, str, str]:
    """The premise, the hypothesis and the label of a rule, its slots filled with words given by one of their forms."""
    name, _, exchange = hypothesis.partition("/")
    for cell in cells(language, phenomenon):
        pairs = {"".join(sorted(pair)) for pair in cell.rule.hypothesis.exchange.items()}
        wanted = set(exchange.split(",")) if exchange else set()
        has = {slot.name for slot in cell.used} == words.keys()
        if (cell.rule.premise.name, cell.rule.hypothesis.name) == (premise, name) and pairs == wanted and has:
            break
    else:
        raise AssertionError(f"{premise} > {hypothesis} is no rule of {phenomenon} over {', '.join(words)}")
    lists = {slot.name: slot.lexicon for slot in cell.used}
    filling = {
        slot: np.array([word if isinstance(word, int) else _place(language, str(lists[slot]), word)])
        for slot, word in words.items()
    }
    texts = (cell.write(side, filling, 1)[0] for side in (cell.premise, cell.hypothesis))
    return (*texts, cell.label)  # type: ignore[return-value]


def _place(language: str, lexicon: str, word: str) -> int:
    return next(place for place, entry in enumerate(lexicons(language)[lexicon]) if word in entry.values())


EN = {"a": "Anna", "b": "Henry", "t": "on Monday", "v": "cleaned the kitchen"}
ZH = {"a": "李梅", "b": "张伟", "t": "昨天", "v": "打扫厨房"}


@pytest.mark.parametrize(
    ("rule", "words", "expected"),
    [
        (
            ("en", "negation", "but", "did/ab"),
            EN,
            (
                "Anna cleaned the kitchen on Monday, but Henry did not.",
                "Henry cleaned the kitchen on Monday.",
                "contradiction",
            ),
        ),
        (
            ("zh", "negation", "nobody", "not"),
            {"a": "李梅", "t": "昨天", "v": "打扫厨房"},
            ("昨天没有人打扫厨房。", "李梅昨天没有打扫厨房。", "entailment"),
        ),
        (
            ("en", "quantifiers", "some", "all_such"),
            {"g": "nurses", "m": "young", "v": "signed the letter", "t": "yesterday"},
            (
                "Some of the nurses signed the letter yesterday.",
                "All the young nurses signed the letter yesterday.",
                "neutral",
            ),
        ),
        (
            ("zh", "quantifiers", "all_in", "did"),
            {"a": "李梅", "g": "护士", "v": "签那封信", "t": "昨天"},
            ("昨天所有护士都签了那封信，而李梅就是这些护士中的一员。", "李梅昨天签了那封信。", "entailment"),
        ),
        (
            ("en", "comparatives", "chain", "more/bc"),
            {"a": "Anna", "b": "Henry", "c": "Rosa", "d": "taller"},
            ("Anna is taller than Henry, and Henry is taller than Rosa.", "Anna is taller than Rosa.", "entailment"),
        ),
        (
            ("zh", "comparatives", "not_more", "same"),
            {"a": "李梅", "b": "张伟", "d": "年纪大"},
            ("李梅不比张伟年纪大。", "李梅和张伟年纪一样大。", "neutral"),
        ),
        (
            ("en", "numbers", "least_up", "under"),
            {"a": "Anna", "k": "bought", "o": "eggs", "t": "on Monday", "n": 8, "d": 3},
            (
                "Anna bought at least eleven eggs on Monday.",
                "Anna bought fewer than eight eggs on Monday.",
                "contradiction",
            ),
        ),
        (
            ("zh", "numbers", "each", "sum"),
            {"a": "李梅", "b": "张伟", "k": "买", "o": "书", "t": "昨天", "n": 20, "i": 8},
            ("李梅昨天正好买了八本书，张伟正好买了十二本。", "李梅和张伟昨天一共正好买了二十本书。", "entailment"),
        ),
        (
            ("en", "conditionals", "if_then", "did"),
            {**EN, "w": "fed the horses"},
            (
                "If Anna cleaned the kitchen on Monday, then Henry fed the horses. Henry did.",
                "Anna cleaned the kitchen on Monday.",
                "neutral",
            ),
        ),
        (
            ("zh", "conditionals", "unless_not", "did"),
            {**ZH, "w": "喂马"},
            ("除非张伟昨天喂了马，否则李梅不会打扫厨房。张伟没有喂马。", "李梅昨天打扫了厨房。", "contradiction"),
        ),
        (
            ("en", "conjunction", "not_both", "neither"),
            EN,
            (
                "Anna and Henry did not both clean the kitchen on Monday.",
                "Neither Anna nor Henry cleaned the kitchen on Monday.",
                "neutral",
            ),
        ),
        (
            ("zh", "conjunction", "or_not", "did/ab"),
            ZH,
            ("李梅或者张伟昨天打扫了厨房，但打扫厨房的不是李梅。", "张伟昨天打扫了厨房。", "entailment"),
        ),
        (
            ("en", "coreference", "he_lent", "she_has"),
            {"f": "Anna", "m": "Henry", "o": "tent", "t": "on Monday"},
            (
                "Henry visited Anna on Monday and lent her his tent.",
                "Anna borrowed Henry's tent on Monday.",
                "entailment",
            ),
        ),
        (
            ("zh", "coreference", "she_only", "he_did"),
            {"f": "李梅", "m": "张伟", "v": "打扫厨房", "t": "昨天", "p": "酒店"},
            ("昨天李梅和张伟在酒店。她打扫了厨房，他却没有。", "张伟昨天打扫了厨房。", "contradiction"),
        ),
        (
            ("en", "temporal", "fork", "before/ac,uv"),
            {
                "a": "Anna",
                "b": "Henry",
                "c": "Rosa",
                "v": "locked the gate",
                "w": "fed the horses",
                "u": "lit the fire",
            },
            (
                "Anna locked the gate before Henry fed the horses and before Rosa lit the fire.",
                "Rosa lit the fire before Henry fed the horses.",
                "neutral",
            ),
        ),
        (
            ("zh", "temporal", "clock", "after"),
            {"a": "李梅", "b": "张伟", "v": "锁大门", "w": "喂马", "n": 2, "d": 3},
            ("那天下午李梅两点锁了大门，张伟五点喂了马。", "在张伟喂马之后，李梅才锁了大门。", "contradiction"),
        ),
        (
            ("en", "factivity", "unknown_thought", "did"),
            {"a": "Anna", "b": "Henry", "c": "Rosa", "v": "lit the fire", "w": "left the party", "k": "knew"}
            | {"s": "hoped", "t": "on Monday"},
            (
                "Rosa did not know that Anna lit the fire on Monday but hoped that Henry left the party.",
                "Anna lit the fire on Monday.",
                "entailment",
            ),
        ),
        (
            ("zh", "factivity", "failed_wished", "did/ab,vw"),
            {**ZH, "w": "喂马", "j": "忘了", "h": "打算"},
            ("李梅昨天忘了打扫厨房，张伟打算喂马。", "张伟昨天喂了马。", "neutral"),
        ),
        (
            ("en", "voice", "active", "passive/ab"),
            {"a": "Anna", "b": "Henry", "v": "chosen", "t": "on Monday"},
            ("Anna chose Henry on Monday.", "Anna was chosen by Henry on Monday.", "neutral"),
        ),
        (
            ("zh", "voice", "passive", "nobody"),
            {"a": "李梅", "b": "张伟", "v": "表扬", "t": "昨天"},
            ("张伟昨天被李梅表扬了。", "昨天没有人表扬张伟。", "contradiction"),
        ),
        (
            ("en", "hypernyms", "no_noun", "no_kind"),
            {"a": "Anna", "k": "drew", "n": "an owl", "t": "on Monday"},
            ("Anna did not draw any owls on Monday.", "Anna did not draw any birds on Monday.", "neutral"),
        ),
        (
            ("zh", "hypernyms", "noun", "kind"),
            {"a": "李梅", "k": "画", "n": "小提琴", "t": "昨天"},
            ("李梅昨天画了一把小提琴。", "李梅昨天画了一件乐器。", "entailment"),
        ),
        (
            ("en", "adjectives", "the_red", "red/ce"),
            {"a": "Anna", "k": "found", "n": "tray", "c": "blue", "e": "orange", "m": "metal", "t": "on Monday"},
            (
                "The only tray that Anna found on Monday was blue and made of metal.",
                "Anna found an orange tray on Monday.",
                "contradiction",
            ),
        ),
        (
            ("zh", "adjectives", "red_wooden", "red"),
            {"a": "李梅", "k": "买", "n": "台灯", "c": "红色", "m": "木制", "t": "昨天"},
            ("李梅昨天买了一盏红色的木制台灯。", "李梅昨天买了一盏红色的台灯。", "entailment"),
        ),
    ],
    ids=lambda value: "-".join(value[:2]) if isinstance(value, tuple) and value[0] in LANGUAGES else "",
)
def test_known_sentences(rule: tuple[str, ...], words: dict[str, str | int], expected: tuple[str, str, str]) -> None:
    assert sentences(*rule, **words) == expected


# Records.


def test_pairs_are_records(sample: pl.DataFrame) -> None:
    assert tuple(sample.columns) == COLUMNS
    assert dict(sample.schema) == DTYPES
    assert sample["id"].n_unique() == len(sample) == 6_000
    assert sample["split"].unique().to_list() == ["none"]
    assert sample["dataset"].unique().to_list() == ["fragments"]
    assert sample["language"].n_unique() == 1
    assert set(sample["tags"].list.first()) == set(PHENOMENA)
    assert sample.select("premise", "group").n_unique() == sample["premise"].n_unique() == sample["group"].n_unique()
    assert (sample["premise"] != sample["hypothesis"]).all()


def test_sentences_are_well_formed(sample: pl.DataFrame) -> None:
    english = sample["language"][0] == "en"
    for column in ("premise", "hypothesis"):
        text = sample[column]
        assert not text.str.contains(r"[{}]|  ").any()
        if english:
            assert text.str.contains(r"^[A-Z][^,]*.*[a-z]\.$").all()
            assert not text.str.contains(r"(?i)\ba [aeio]|\ban [^aeiou]").any()
        else:
            assert text.str.contains("。$").all()
            assert not text.str.contains(r"[a-zA-Z,. ]").any()


def test_a_dataset_is_valid_and_reads_back(tmp_path: Path) -> None:
    pairs = fragment_pairs("zh", 240, seed=3)
    again = pairs.write(tmp_path / "zh")
    assert again.collect().equals(pairs.collect())
    assert again.card.languages == ("zh",)
    assert "seed 3" in again.card.history[0]


# Seeds, distinctness, balance.


def test_a_seed_means_the_same_pairs_everywhere() -> None:
    digests = {
        language: sha256("\n".join(made(language, 500, seed=7)["hypothesis"]).encode()).hexdigest()[:16]
        for language in LANGUAGES
    }
    assert digests == {"en": "eecfa7399abcd423", "zh": "dc344ba697426a5f"}


def test_another_seed_means_other_pairs() -> None:
    first, second = (set(made("en", 500, seed=seed)["id"]) for seed in (1, 2))
    assert len(first & second) < 10


@settings(max_examples=60, deadline=None)
@given(size=st.integers(1, 5_000), keys=st.lists(st.integers(0, 2**31 - 1), min_size=4, max_size=4))
def test_numbers_are_permuted(size: int, keys: list[int]) -> None:
    assert sorted(permute(np.arange(size), size, np.array(keys)).tolist()) == list(range(size))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_hundred_thousand_pairs_differ(language: str) -> None:
    frame = made(language, 100_000, seed=2)
    assert frame.select("premise", "hypothesis").n_unique() == 100_000
    assert frame["id"].n_unique() == 100_000


@pytest.mark.parametrize(("language", "phenomenon"), BOTH)
def test_a_phenomenon_alone_gives_different_pairs_in_balance(language: str, phenomenon: str) -> None:
    assert capacity(language, phenomenon) >= 100_000
    frame = made(language, 9_001, phenomena=[phenomenon])
    assert len(frame) == frame.select("premise", "hypothesis").n_unique() == 9_001
    shares = frame["label"].value_counts(normalize=True)["proportion"]
    assert shares.is_between(0.33, 0.34).all()


def test_a_phenomenon_can_be_used_up() -> None:
    most = capacity("en", "negation")
    frame = made("en", most, phenomena=["negation"])
    assert len(frame) == frame.select("premise", "hypothesis").n_unique() == most


def test_labels_are_balanced_within_each_phenomenon(sample: pl.DataFrame) -> None:
    counts = sample.group_by(pl.col("tags").list.first().alias("tag"), "label").len()
    for tag in PHENOMENA:
        ours = counts.filter(pl.col("tag") == tag)["len"]
        assert len(ours) == 3
        assert ours.sum() == 500
        assert ours.is_between(0.28 * 500, 0.39 * 500).all()


@pytest.mark.parametrize("pairs", [1, 2, 7, 36, 100_001])
def test_as_many_pairs_come_as_were_asked_for(pairs: int) -> None:
    blocks = list(make_fragments("en", pairs))
    assert sum(map(len, blocks)) == pairs
    assert all(len(block) < 60_000 for block in blocks)


# What one sentence gives away.


def guessed(texts: list[str], labels: list[str], folds: int) -> float:
    """Out-of-fold accuracy of a linear model that sees these texts only."""
    gold, fold = np.array(labels), np.arange(len(labels)) % folds
    right = 0
    for held_out in range(folds):
        train, test = np.flatnonzero(fold != held_out), np.flatnonzero(fold == held_out)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # where there is nothing to learn, the fit may not settle
            model = Linear.fit(
                [""] * len(train),
                [texts[row] for row in train],
                gold[train].tolist(),
                NLI3,
                hypothesis_only=True,
                regularisation=10.0,
            )
        scores = model.predict([""] * len(test), [texts[row] for row in test])
        right += int((np.array(NLI3.labels)[scores.argmax(axis=1)] == gold[test]).sum())
    return right / len(labels)


@pytest.mark.parametrize("side", ["hypothesis", "premise"])
def test_one_sentence_does_not_give_the_label_away(sample: pl.DataFrame, side: str) -> None:
    # At 6,000 pairs, 0.36 is 4.4 standard errors above chance.
    assert guessed(sample[side].to_list(), sample["label"].to_list(), 5) <= 0.36


@pytest.mark.parametrize(("language", "phenomenon"), BOTH)
def test_no_phenomenon_gives_the_label_away(language: str, phenomenon: str) -> None:
    frame = made(language, 2_400, seed=4, phenomena=[phenomenon])
    # Four standard errors above chance: one run in thirty thousand would exceed it by luck.
    bound = 1 / 3 + 4 * np.sqrt(2 / 9 / 2_400)
    assert guessed(frame["hypothesis"].to_list(), frame["label"].to_list(), 2) <= bound


def test_no_word_of_the_hypothesis_goes_with_a_label(sample: pl.DataFrame) -> None:
    pattern = r"\w+" if sample["language"][0] == "en" else r"\p{Han}"
    words = sample.select("label", pl.col("hypothesis").str.to_lowercase().str.extract_all(pattern).list.unique())
    counts = words.explode("hypothesis").pivot(on="label", index="hypothesis", values="label", aggregate_function="len")
    table = counts.drop("hypothesis").fill_null(0).to_numpy()
    table = table[table.sum(axis=1) >= 15]
    total = len(sample) / 3
    with_it = table.sum(axis=1, keepdims=True) / 3
    statistic = ((table - with_it) ** 2 / with_it + (table - with_it) ** 2 / (total - with_it).clip(1e-9)).sum(axis=1)
    assert len(table) > 150
    assert (chi2.sf(statistic, 2) * len(table)).min() > 0.01


# Artifacts.


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("feature", "label", "strength"),
    [
        ("negation", "contradiction", 0.8),
        ("negation", "entailment", 1.0),
        ("number", "neutral", 0.7),
        ("length", "neutral", 0.9),
        ("overlap", "entailment", 0.95),
        ("overlap", "neutral", 0.6),
        ("quantifier", "contradiction", 0.5),
    ],
)
def test_an_artifact_is_as_strong_as_asked(language: str, feature: str, label: str, strength: float) -> None:
    artifact = parse_artifact(f"{feature}:{label}:{strength}")
    frame = made(language, 3_000, seed=5, artifact=artifact)
    assert len(frame) == frame.select("premise", "hypothesis").n_unique() == 3_000
    carriers = frame.filter(artifact.carried(language))
    assert len(carriers) > 60
    shares = dict(carriers["label"].value_counts(normalize=True).iter_rows())
    assert shares[label] == pytest.approx(strength, abs=0.015)
    for other in set(NLI3.labels) - {label}:
        assert shares.get(other, 0.0) == pytest.approx((1 - strength) / 2, abs=0.015)
    assert frame["label"].value_counts()["count"].is_between(998, 1_002).all()


@pytest.mark.parametrize(("language", "word"), [("en", "Anna"), ("en", "kitchen"), ("zh", "李梅")])
def test_a_word_can_be_an_artifact(language: str, word: str) -> None:
    artifact = parse_artifact(f"word={word}:entailment:0.9")
    carriers = made(language, 8_000, artifact=artifact).filter(pl.col("hypothesis").str.contains(word, literal=True))
    assert len(carriers) > 20
    assert (carriers["label"] == "entailment").mean() == pytest.approx(0.9, abs=0.04)


def test_planted_labels_stay_true() -> None:
    frame = made("en", 300, seed=6, artifact="negation:contradiction:0.9")
    assert all(verdict(*logical_forms(row["id"])) == row["label"] for row in frame.iter_rows(named=True))


def test_a_planted_artifact_shows_without_the_premise() -> None:
    frame = made("en", 3_000, seed=6, artifact="negation:contradiction:0.9")
    assert guessed(frame["hypothesis"].to_list(), frame["label"].to_list(), 3) > 0.5


def test_phenomena_without_the_feature_keep_their_balance() -> None:
    frame = made("en", 6_000, artifact="number:neutral:0.9")
    rest = frame.filter(pl.col("tags").list.first() != "numbers")
    assert rest["label"].value_counts(normalize=True)["proportion"].is_between(0.32, 0.345).all()


# Bad input.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"language": "de"}, "no language 'de'; allowed: en, zh"),
        ({"phenomena": ["negatoin"]}, "did you mean 'negation'?"),
        ({"phenomena": []}, "no phenomenon was given"),
        ({"pairs": 0}, "0 pairs cannot be made"),
        ({"pairs": -5}, "-5 pairs cannot be made"),
        ({"seed": -1}, "seed -1 is not a whole number from 0 to"),
        (
            {"pairs": 10**8, "phenomena": ["negation"]},
            r"100,000,000 different pairs are more .* the most is 2\d\d,\d\d\d",
        ),
        ({"pairs": 150_000, "phenomena": ["negation"], "artifact": "negation:neutral:1"}, "the most is about"),
        ({"artifact": "negation"}, "not of the form FEATURE:LABEL:STRENGTH"),
        ({"artifact": "negatoin:neutral:0.8"}, "did you mean 'negation'?"),
        ({"artifact": "negation:contra:0.8"}, "no label 'contra'; did you mean 'contradiction'?"),
        ({"artifact": "negation:neutral:0.3"}, "strength '0.3' is not a number above 1/3 and up to 1"),
        ({"artifact": "negation:neutral:1.2"}, "strength '1.2'"),
        ({"artifact": "negation:neutral:much"}, "strength 'much'"),
        ({"artifact": "negation:neutral:nan"}, "strength 'nan'"),
        ({"artifact": "word=:neutral:0.8"}, "no feature 'word='"),
        ({"artifact": "word=W:neutral:0.8"}, "put a word in the place of W"),
        ({"artifact": "word=xyzzy:neutral:0.8"}, "does not occur"),
        (
            {"artifact": "number:neutral:0.8", "phenomena": ["voice", "temporal"]},
            "does not occur in .* voice, temporal",
        ),
        ({"artifact": "word=the:neutral:0.8", "phenomena": ["adjectives"]}, ""),
    ],
)
def test_what_cannot_be_made_is_said_in_one_line(options: dict[str, object], message: str) -> None:
    request = {"language": "en", "pairs": 30, **options}
    if not message:
        assert len(made(**request)) == 30  # type: ignore[arg-type]
        return
    with pytest.raises(InputError, match=message) as error:
        make_fragments(**request)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)


def test_a_feature_that_every_hypothesis_carries_cannot_be_planted() -> None:
    with pytest.raises(InputError, match="nearly every hypothesis carries word=。"):
        make_fragments("zh", 30, artifact="word=。:neutral:0.8")


def test_nothing_is_left_of_a_failed_run(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        write_fragments(tmp_path / "out", "en", 30, artifact="word=xyzzy:neutral:0.8")
    assert list(tmp_path.iterdir()) == []


# The command.


def make(*arguments: object, cwd: Path) -> Done:
    return run("data", "make", *arguments, cwd=cwd)


def test_the_command_writes_a_dataset(tmp_path: Path) -> None:
    done = make("fragments", "--language", "zh", "--pairs", 600, "--seed", 4, "--json", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert said["name"] == said["output"] == "fragments-zh"
    assert (said["pairs"], said["seed"], said["splits"], said["artifact"]) == (600, 4, {"none": 600}, None)
    assert said["labels"] == dict.fromkeys(NLI3.labels, 200)
    assert said["phenomena"] == dict.fromkeys(sorted(PHENOMENA), 50)
    pairs = gl.read(tmp_path / "fragments-zh")
    assert pairs.collect().equals(made("zh", 600, seed=4))


def test_the_command_plants_an_artifact(tmp_path: Path) -> None:
    artifact = "negation:contradiction:0.8"
    options = ("--pairs", 1_000, "--phenomena", "negation, voice", "--artifact", artifact, "-o", "out", "--json")
    said = json.loads(make("fragments", *options, cwd=tmp_path).stdout)
    assert set(said["phenomena"]) == {"negation", "voice"}
    assert said["artifact"] == {
        "feature": "negation",
        "label": "contradiction",
        "strength": 0.8,
        "carrying": said["artifact"]["carrying"],
        "measured": pytest.approx(0.8, abs=0.01),
    }
    assert artifact in gl.read(tmp_path / "out").card.description


def test_the_command_prints_a_table(tmp_path: Path) -> None:
    done = make("fragments", "--pairs", 24, cwd=tmp_path)
    assert done.returncode == 0
    assert "fragments-en: 24 pairs" in done.stdout
    assert "output: fragments-en" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fragment",), "did you mean 'fragments'?"),
        (("fragments", "--language", "fr"), "allowed: en, zh"),
        (("fragments", "--artifact", "negation:contradiction:2"), "up to 1"),
    ],
)
def test_the_command_refuses_in_one_line(tmp_path: Path, arguments: tuple[str, ...], message: str) -> None:
    done = make(*arguments, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []
