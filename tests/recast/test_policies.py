from __future__ import annotations

import pytest

from goldlabel.recast.policies import is_question, not_third_person, observed


@pytest.mark.parametrize(
    ("premise", "other_person"),
    [
        ("I walked the goat.", True),
        ("The goat walked us home.", True),
        ("Give it to me.", True),
        ("You walked a goat .", True),
        ("It is yours, she thought.", True),
        ("The goat is mine.", True),
        ("A herder walked the goat.", False),
        ("The US sold two goats.", False),
        ("Appendix i.e. the second part.", False),
        ("World War II was long.", False),
        ("Weeds, music and yoga.", False),
        ('Lena said, "I own a goat, and you don\'t."', False),
        ("When asked about the goat, Lena said, 'I don't want it'.", False),
        ("When asked about the goat , Lena said , 'I 'd like it . ' .", False),
        ('"I like goats," said Lena, and I agreed.', True),
        ("`` I like goats '' , said Lena .", False),
        ('"I like goats."', True),
    ],
)
def test_person(premise: str, other_person: bool) -> None:
    assert not_third_person(premise) is other_person


@pytest.mark.parametrize(
    ("premise", "question"),
    [
        ("Who let the goat in?", True),
        ("Who let the goat in ?", True),
        ('"Who let the goat in?"', True),
        ('Who said "goat"?', True),
        ('Lena asked, "Who let the goat in?"', False),
        ("Lena asked who let the goat in.", False),
    ],
)
def test_question(premise: str, question: bool) -> None:
    assert is_question(premise) is question


@pytest.mark.parametrize(
    ("hypothesis", "told"),
    [
        ("You exercised.", "I exercised."),
        ("You are tired.", "I am tired."),
        ("You weren't tired.", "I wasn't tired."),
        ("The goat followed you.", "The goat followed me."),
        ("The goat thinks you left.", "The goat thinks I left."),
        ("The goat knew that you left.", "The goat knew that I left."),
        ("The herder gave you a goat.", "The herder gave me a goat."),
        ("The goat ran to you before noon.", "The goat ran to me before noon."),
        ("I was late.", "You were late."),
        ("I'm late.", "You're late."),
        ("Your goat ate my hat.", "My goat ate your hat."),
        ("It was mine, not yours.", "It was yours, not mine."),
        ("We hid ourselves.", "You hid yourselves."),
        ("A goat exercised.", "A goat exercised."),
        ("The US is large.", "The US is large."),
    ],
)
def test_observer(hypothesis: str, told: str) -> None:
    assert observed(hypothesis) == told
