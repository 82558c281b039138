from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from goldlabel.errors import InputError, UnknownNameError
from goldlabel.pairs.labels import (
    LABEL_SPACES,
    NLI2,
    NLI3,
    ORDINAL5,
    SCITAIL,
    LabelSpace,
    label_space,
    map_labels,
    score_mapping,
)


def test_order_of_labels_carries_no_meaning() -> None:
    one = LabelSpace("mine", ("yes", "no"))
    other = LabelSpace("mine", ("no", "yes"))
    assert one == other
    assert one.index("yes") == other.index("yes") == 1


def test_contradiction_and_neutral_add_up() -> None:
    scores = np.zeros((1, 3))
    scores[0, [NLI3.index("contradiction"), NLI3.index("neutral"), NLI3.index("entailment")]] = [0.3, 0.3, 0.4]
    mapped = score_mapping(NLI3, NLI2).apply(scores)
    # Entailment is the most probable of three labels and the less probable of two.
    assert mapped[0, NLI2.index("not_entailment")] == pytest.approx(0.6)
    assert mapped[0, NLI2.index("entailment")] == pytest.approx(0.4)


def test_scitail_drops_contradiction_and_renormalises() -> None:
    scores = np.zeros((2, 3))
    scores[0, [NLI3.index("contradiction"), NLI3.index("neutral"), NLI3.index("entailment")]] = [0.6, 0.1, 0.3]
    scores[1, NLI3.index("contradiction")] = 1.0
    mapped = score_mapping(NLI3, SCITAIL).apply(scores)
    assert mapped[0, SCITAIL.index("entailment")] == pytest.approx(0.75)
    assert mapped[1].tolist() == [0.5, 0.5]


def test_no_answer_stays_none() -> None:
    scores = np.array([[np.nan] * 3, [0.2, 0.5, 0.3]])
    for target in (NLI2, SCITAIL, NLI3):
        mapped = score_mapping(NLI3, target).apply(scores)
        assert np.isnan(mapped[0]).all()
        assert mapped[1].sum() == pytest.approx(1)


def test_ordinal_scale_to_nli3() -> None:
    words = ["very_likely", "likely", "plausible", "technically_possible", "impossible", "-"]
    assert map_labels(words, ORDINAL5, NLI3) == ["entailment", "neutral", "neutral", "neutral", "contradiction", "-"]


@given(st.sampled_from([(NLI3, NLI2), (NLI3, SCITAIL), (SCITAIL, NLI2), (ORDINAL5, NLI3), (NLI3, NLI3)]), st.data())
def test_mapped_scores_are_probabilities(spaces: tuple[LabelSpace, LabelSpace], data: st.DataObject) -> None:
    source, target = spaces
    raw = data.draw(arrays.arrays(float, (4, len(source)), elements=st.floats(0, 1)))
    totals = raw.sum(axis=1, keepdims=True)
    scores = np.where(totals > 0, raw / np.where(totals > 0, totals, 1), 1 / len(source))
    mapped = score_mapping(source, target).apply(scores)
    assert mapped.shape == (4, len(target))
    np.testing.assert_allclose(mapped.sum(axis=1), 1)
    assert (mapped >= 0).all()


def test_a_mapping_that_does_not_fit_is_refused() -> None:
    with pytest.raises(InputError, match=r"nli2 .*have no mapping to nli3 .*known: nli3 to nli2"):
        score_mapping(NLI2, NLI3)
    with pytest.raises(InputError, match="'contradiction' of nli3 has no counterpart in scitail"):
        map_labels(["neutral", "contradiction"], NLI3, SCITAIL)


def test_aliases_hold_no_numbers() -> None:
    for name in LABEL_SPACES:
        assert not any(spelling.isdigit() for spelling in LABEL_SPACES.get(name).spellings())
    assert NLI3.spellings()["e"] == "entailment"
    assert NLI2.spellings()["not-entailed"] == "not_entailment"
    assert NLI3.spellings({"0": "entailment"})["0"] == "entailment"


def test_the_users_map_must_stay_in_the_space() -> None:
    with pytest.raises(InputError, match=r"0=entail leads out of label space 'nli3'; did you mean 'entailment'"):
        NLI3.spellings({"0": "entail"})


def test_spaces_by_name_or_from_words() -> None:
    assert label_space("nli3") is NLI3
    assert label_space("no, yes").labels == ("no", "yes")
    with pytest.raises(UnknownNameError, match="did you mean 'nli3'"):
        label_space("nli4")
    for labels in (("one",), ("a", "a"), ("a", "-"), ("a", "")):
        with pytest.raises(InputError):
            LabelSpace("bad", labels)
    with pytest.raises(InputError, match="'maybe' is not one of"):
        NLI3.index("maybe")
