from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


@pytest.mark.parametrize(
    ("hypothesis", "told"),
    [
        ("Are you sure?", "Am I sure?"),
        ("Am I sure?", "Are you sure?"),
        ("Were you late?", "Was I late?"),
        ("Was I late?", "Were you late?"),
        ("Aren't you tired?", "Aren't I tired?"),
        ("Weren't you tired?", "Wasn't I tired?"),
        ("Wasn't I tired?", "Weren't you tired?"),
        ("Are n't you tired ?", "Are n't I tired ?"),
        ("What are you feeding?", "What am I feeding?"),
        ("Which goat were you feeding?", "Which goat was I feeding?"),
        ("Do you like goats?", "Do I like goats?"),
        ("Can't you hear me?", "Can't I hear you?"),
        ("Have you seen my goat?", "Have I seen your goat?"),
        ("Who saw you?", "Who saw me?"),
        ("Is the goat yours?", "Is the goat mine?"),
        ("Are we late?", "Are you late?"),
        ("You're late, aren't you?", "I'm late, aren't I?"),
        ("The herder left, and so were you.", "The herder left, and so was I."),
    ],
)
def test_observer_asks(hypothesis: str, told: str) -> None:
    assert observed(hypothesis) == told


@pytest.mark.parametrize(
    ("hypothesis", "told"),
    [
        ("You aren't late.", "I am not late."),
        ("You are n't late .", "I am not late ."),
        ("You’re late.", "I'm late."),
        ("You've won.", "I've won."),
        ("You'd win if I'd let you.", "I'd win if you'd let me."),
        ("You really are tired.", "I really am tired."),
        ("You were never late.", "I was never late."),
        ("You said I was late.", "I said you were late."),
        ("I think you are right.", "You think I am right."),
        ("She is taller than you are.", "She is taller than I am."),
        ("If I were you, I would sing.", "If you were me, you would sing."),
        ("The goat you fed slept.", "The goat I fed slept."),
        ("The book you read is old.", "The book I read is old."),
        ("The herder gave you water.", "The herder gave me water."),
        ("The herder saw you leave.", "The herder saw me leave."),
        ("The herder heard you left.", "The herder heard I left."),
        ("I know you well.", "You know me well."),
        ("The herder who hired you was late.", "The herder who hired me was late."),
        ("You ARE late.", "I AM late."),
        ("They let you sing.", "They let me sing."),
        ("The goats behind you are asleep.", "The goats behind me are asleep."),
        ("The goat and you are tired.", "The goat and I are tired."),
        ("The goat left and you are tired.", "The goat left and I am tired."),
        ("You and I are late.", "You and I are late."),
        ("You both are late.", "We both are late."),
        ("The goat saw you both.", "The goat saw us both."),
        ("It was I who sang.", "It was you who sang."),
        ("Somebody called; you were out.", "Somebody called; I was out."),
        ('Lena told you, "I am late."', 'Lena told me, "I am late."'),
        ("World War I was long, I hear.", "World War I was long, you hear."),
        ("", ""),
    ],
)
def test_observer_finds_subject_verb_and_quotation(hypothesis: str, told: str) -> None:
    assert observed(hypothesis) == told


@settings(max_examples=60, deadline=None)
@given(st.text("IYouwaremn't ’?.,\"", max_size=60))
def test_observer_takes_any_text(text: str) -> None:
    assert isinstance(observed(text), str)
