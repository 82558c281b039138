"""Active and passive: the same deed told from either side, with and without the doer."""

from goldlabel.sources.fragments.grammar import Form, Frame, Phenomenon

_PEOPLE = Frame(
    slots="a b c:person v:transitive t:time",
    forms={
        "active": Form("did({v}, {a}, {b}, {t})", "{a} {v.past} {b} {t}.", "{a}{t}{v}了{b}。"),
        "passive": Form("did({v}, {a}, {b}, {t})", "{b} was {v.part} by {a} {t}.", "{b}{t}被{a}{v}了。"),
        "not_active": Form("not did({v}, {a}, {b}, {t})", "{a} did not {v.base} {b} {t}.", "{a}{t}没有{v}{b}。"),
        "not_passive": Form("not did({v}, {a}, {b}, {t})", "{b} was not {v.part} by {a} {t}.", "{b}{t}没有被{a}{v}。"),
        "short": Form("some(x, True, did({v}, x, {b}, {t}))", "{b} was {v.part} {t}.", "{b}{t}被人{v}了。"),
        "not_short": Form(
            "no(x, True, did({v}, x, {b}, {t}))", "{b} was not {v.part} by anyone {t}.", "{b}{t}没有被任何人{v}。"
        ),
        "nobody": Form("no(x, True, did({v}, x, {b}, {t}))", "Nobody {v.past} {b} {t}.", "{t}没有人{v}{b}。"),
        "somebody": Form("some(x, True, did({v}, x, {b}, {t}))", "Someone {v.past} {b} {t}.", "{t}有人{v}了{b}。"),
    },
    table="""
    active > passive:E8 not_passive:C8 short:E1 not_short:C1 nobody:C1 somebody:E2 not_active:C1 passive[ab]:N1
    active > active[ab]:N1 short[ab]:N1 not_passive[ab]:N1 not_active[ab]:N1 not_short[ab]:N1 nobody[ab]:N3
    active > somebody[ab]:N1 active[ac]:N1
    passive > active:E8 not_active:C8 short:E1 not_short:C1 nobody:C1 somebody:E2 not_passive:C1 passive[ab]:N1
    passive > active[ab]:N1 short[ab]:N1 not_passive[ab]:N1 not_active[ab]:N1 not_short[ab]:N3 nobody[ab]:N1
    passive > somebody[ab]:N1 passive[ac]:N1
    not_active > active:C5 passive:C1 not_passive:E6 short:N1 not_short:N1 nobody:N1 somebody:N1 active[ab]:N1
    not_active > not_passive[ab]:N1
    not_passive > active:C1 passive:C5 not_active:E6 short:N1 not_short:N1 nobody:N1 somebody:N1 passive[ab]:N1
    not_passive > not_active[ab]:N1
    short > active:N1 passive:N1 not_active:N1 not_passive:N1 not_short:C1 nobody:C3 somebody:E4
    somebody > active:N1 passive:N1 not_active:N1 not_passive:N1 not_short:C3 nobody:C1 short:E4
    nobody > active:C1 passive:C1 not_active:E1 not_passive:E1 not_short:E6 short:C5 somebody:C1 active[ab]:N1
    nobody > passive[ab]:N1 short[ab]:N2 not_passive[ab]:N3 not_active[ab]:N1
    not_short > active:C1 passive:C1 not_active:E2 not_passive:E2 nobody:E6 short:C1 somebody:C7 active[ab]:N1
    not_short > passive[ab]:N1 somebody[ab]:N4 not_active[ab]:N3 not_passive[ab]:N1
    """,
)

VOICE = Phenomenon("voice", (_PEOPLE,))
