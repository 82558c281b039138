from __future__ import annotations

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from goldlabel.audit.bags import BagsBuilder, Vocabulary


@given(st.lists(st.lists(st.sampled_from("abcde"), max_size=6), min_size=1, max_size=8))
def test_codes_give_the_tokens_back(texts: list[list[str]]) -> None:
    vocabulary = Vocabulary()
    builder = BagsBuilder(vocabulary)
    half = len(texts) // 2
    for part in (texts[:half], texts[half:]):
        builder.add(vocabulary.encode(pl.Series(part, dtype=pl.List(pl.String))))
    bags = builder.finish()
    assert [
        [bags.vocabulary[code] for code in bags.codes[start:end]]
        for start, end in zip(bags.offsets[:-1], bags.offsets[1:], strict=True)
    ] == texts
    assert int(bags.first.sum()) == sum(len(set(text)) for text in texts)
    for code, word in enumerate(bags.vocabulary):
        assert bags.holding(code).tolist() == [word in text for text in texts]
