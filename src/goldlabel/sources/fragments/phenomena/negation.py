"""Negation: sentences, their denials, denials of denials, and nobody."""

from goldlabel.sources.fragments.grammar import Form, Frame, Phenomenon

_EVENTS = Frame(
    slots="a b:person v w:action t:time",
    forms={
        "did": Form("did({v}, {a}, {t})", "{a} {v.past} {t}.", "{a}{t}{v.done}。"),
        "not": Form("not did({v}, {a}, {t})", "{a} did not {v.base} {t}.", "{a}{t}没有{v.plain}。"),
        "false": Form("not did({v}, {a}, {t})", "It is not true that {a} {v.past} {t}.", "说{a}{t}{v.done}是不对的。"),
        "notnot": Form(
            "not not did({v}, {a}, {t})",
            "It is not true that {a} did not {v.base} {t}.",
            "说{a}{t}没有{v.plain}是不对的。",
        ),
        "but": Form(
            "did({v}, {a}, {t}) and not did({v}, {b}, {t})",
            "{a} {v.past} {t}, but {b} did not.",
            "{a}{t}{v.done}，但{b}没有。",
        ),
        "nobody": Form("no(x, True, did({v}, x, {t}))", "Nobody {v.past} {t}.", "{t}没有人{v.plain}。"),
        "someone": Form("some(x, True, did({v}, x, {t}))", "Someone {v.past} {t}.", "{t}有人{v.done}。"),
        "no_one": Form(
            "not some(x, True, did({v}, x, {t}))",
            "It is not true that anyone {v.past} {t}.",
            "说{t}有人{v.done}是不对的。",
        ),
        "not_nobody": Form(
            "not no(x, True, did({v}, x, {t}))",
            "It is not true that nobody {v.past} {t}.",
            "说{t}没有人{v.plain}是不对的。",
        ),
        "other": Form(
            "did({v}, {a}, {t}) and not did({w}, {a}, {t})",
            "{a} {v.past} {t} but did not {w.base}.",
            "{a}{t}{v.done}，但没有{w.plain}。",
        ),
    },
    table="""
    did > not:C14 false:C13 notnot:E14 someone:E14 nobody:C1 not[ab]:N1 false[ab]:N14 notnot[ab]:N13 did[ab]:N1
    did > not_nobody:E1 no_one:C1
    not > did:C13 false:E14 notnot:C1 someone:N1 nobody:N1 did[ab]:N1 false[ab]:N1 notnot[ab]:N1 not[ab]:N1
    not > not_nobody:N7 no_one:N1
    false > did:C5 not:E14 notnot:C9 someone:N1 nobody:N1 did[ab]:N1 not[ab]:N1 notnot[ab]:N10
    notnot > did:E14 not:C14 false:C1 someone:E2 nobody:C1 did[ab]:N1 not[ab]:N1 false[ab]:N14
    but > did:E14 not:C14 false:C3 notnot:E1 did[ab]:C14 not[ab]:E14 false[ab]:E5 notnot[ab]:C1 someone:E1 nobody:C1
    but > did[vw]:N14 not[vw]:N14 someone[vw]:N6 nobody[vw]:N1 no_one:C2
    nobody > did:C8 not:E10 false:E10 notnot:C1 someone:C11 did[vw]:N11 not[vw]:N8 someone[vw]:N1 nobody[vw]:N1
    nobody > not_nobody:C11 no_one:E11 no_one[vw]:N10
    someone > not_nobody:E11 not_nobody[vw]:N5 no_one:C7 did:N1 not:N1 false:N1 notnot:N1 nobody:C4 someone[vw]:N1
    someone > nobody[vw]:N1
    no_one > not_nobody:C1 did:C1 not:E14 false:E1 notnot:C13 someone:C11 nobody:E11 did[vw]:N10 not[vw]:N14
    no_one > nobody[vw]:N1 someone[vw]:N1
    not_nobody > someone:E4 nobody:C3 no_one:C1 did:N1 not:N1 false:N1 notnot:N1
    other > did:E14 not:C14 did[vw]:C1 not[vw]:E4 false[vw]:E1 notnot[vw]:C1 false:C14 notnot:E11 someone:E1 nobody:C1
    other > someone[vw]:N11 nobody[vw]:N5 did[ab]:N1 not[ab]:N14
    """,
)

NEGATION = Phenomenon("negation", (_EVENTS,))
