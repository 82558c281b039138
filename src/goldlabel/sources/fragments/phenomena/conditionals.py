"""Conditionals: if and unless, what follows with their parts, and what only seems to."""

from goldlabel.sources.fragments.grammar import Form, Frame, Phenomenon

_IF = "implies(did({v}, {a}, {t}), did({w}, {b}, {t}))"
_EN_IF = "If {a} {v.past} {t}, then {b} {w.past}."
_ZH_IF = "如果{a}{t}{v.done}，那么{b}也一定{w.done}。"
_UNLESS = "implies(not did({w}, {b}, {t}), not did({v}, {a}, {t}))"
_EN_UNLESS = "Unless {b} {w.past} {t}, {a} did not {v.base}."
_ZH_UNLESS = "除非{b}{t}{w.done}，否则{a}不会{v.plain}。"

_EVENTS = Frame(
    slots="a b:person v w:action t:time",
    forms={
        "if": Form(_IF, _EN_IF, _ZH_IF),
        "unless": Form(_UNLESS, _EN_UNLESS, _ZH_UNLESS),
        "if_yes": Form(f"{_IF} and did({{v}}, {{a}}, {{t}})", f"{_EN_IF} {{a}} did.", f"{_ZH_IF}{{a}}确实{{v.done}}。"),
        "if_no": Form(
            f"{_IF} and not did({{v}}, {{a}}, {{t}})", f"{_EN_IF} {{a}} did not.", f"{_ZH_IF}{{a}}没有{{v.plain}}。"
        ),
        "if_then": Form(
            f"{_IF} and did({{w}}, {{b}}, {{t}})", f"{_EN_IF} {{b}} did.", f"{_ZH_IF}{{b}}确实{{w.done}}。"
        ),
        "if_not_then": Form(
            f"{_IF} and not did({{w}}, {{b}}, {{t}})", f"{_EN_IF} {{b}} did not.", f"{_ZH_IF}{{b}}没有{{w.plain}}。"
        ),
        "unless_yes": Form(
            f"{_UNLESS} and did({{v}}, {{a}}, {{t}})", f"{_EN_UNLESS} {{a}} did.", f"{_ZH_UNLESS}{{a}}确实{{v.done}}。"
        ),
        "unless_no": Form(
            f"{_UNLESS} and not did({{v}}, {{a}}, {{t}})",
            f"{_EN_UNLESS} {{a}} did not.",
            f"{_ZH_UNLESS}{{a}}没有{{v.plain}}。",
        ),
        "unless_then": Form(
            f"{_UNLESS} and did({{w}}, {{b}}, {{t}})", f"{_EN_UNLESS} {{b}} did.", f"{_ZH_UNLESS}{{b}}确实{{w.done}}。"
        ),
        "unless_not": Form(
            f"{_UNLESS} and not did({{w}}, {{b}}, {{t}})",
            f"{_EN_UNLESS} {{b}} did not.",
            f"{_ZH_UNLESS}{{b}}没有{{w.plain}}。",
        ),
        "yet": Form(
            "did({v}, {a}, {t}) and not did({w}, {b}, {t})",
            "{a} {v.past} {t}, and yet {b} did not {w.base}.",
            "{a}{t}{v.done}，可是{b}没有{w.plain}。",
        ),
        "although": Form(
            "did({v}, {a}, {t}) and not did({w}, {b}, {t})",
            "Although {a} {v.past} {t}, {b} did not {w.base}.",
            "虽然{a}{t}{v.done}，但是{b}没有{w.plain}。",
        ),
        "even_so": Form(
            "did({v}, {a}, {t}) and not did({w}, {b}, {t})",
            "Even though {a} {v.past} {t}, {b} still did not {w.base}.",
            "尽管{a}{t}{v.done}，{b}还是没有{w.plain}。",
        ),
        "contra": Form(
            "implies(not did({w}, {b}, {t}), not did({v}, {a}, {t}))",
            "If {b} did not {w.base} {t}, then {a} did not {v.base}.",
            "如果{b}{t}没有{w.plain}，那么{a}也一定没有{v.plain}。",
        ),
        "did": Form("did({v}, {a}, {t})", "{a} {v.past} {t}.", "{a}{t}{v.done}。"),
        "not": Form("not did({v}, {a}, {t})", "{a} did not {v.base} {t}.", "{a}{t}没有{v.plain}。"),
    },
    table="""
    if > did:N1 not:N1 did[ab,vw]:N1 not[ab,vw]:N1 contra:E3 contra[ab,vw]:N1 unless:E6 unless[ab,vw]:N1 if[ab,vw]:N1
    if > yet:C6 yet[ab,vw]:N1 although:C1 even_so:C2 even_so[ab,vw]:N1
    unless > did:N1 not:N1 did[ab,vw]:N1 not[ab,vw]:N1 contra:E4 if:E4 if[ab,vw]:N1 contra[ab,vw]:N1 yet:C1
    unless > yet[ab,vw]:N1 although:C2 even_so:C5 even_so[ab,vw]:N1
    contra > if:E4 unless:E2 if[ab,vw]:N1 unless[ab,vw]:N1 did:N1 not:N1 yet:C1 yet[ab,vw]:N1 although:C1
    contra > although[ab,vw]:N1 even_so:C4
    if_yes > did[ab,vw]:E1 not[ab,vw]:C1 not:C1 did:E4 did[vw]:N1 not[vw]:N1 yet:C1 although:C1 although[vw]:N3
    if_yes > even_so:C1
    if_no > did[ab,vw]:N1 not[ab,vw]:N1 did:C4 not:E5 yet:C1 contra[ab,vw]:N1 unless[ab,vw]:N1 if[ab,vw]:N1
    if_then > did:N1 not:N1 not[ab,vw]:C2 did[ab,vw]:E3 yet:C1 yet[ab,vw]:N1
    if_not_then > did:C1 not:E1 did[ab,vw]:C1 not[ab,vw]:E2 did[vw]:N1 not[vw]:N2 although:C1
    unless_yes > did[ab,vw]:E2 not[ab,vw]:C1 not:C1 did:E1 did[vw]:N1 not[vw]:N1 although:C1 although[vw]:N1
    unless_no > did[ab,vw]:N1 not[ab,vw]:N1 did:C4 not:E5 yet:C1 contra[ab,vw]:N1 unless[ab,vw]:N1 if[ab,vw]:N1
    unless_then > did:N1 not:N1 not[ab,vw]:C3 did[ab,vw]:E3 yet[ab,vw]:N1
    unless_not > did:C1 not:E2 did[ab,vw]:C1 not[ab,vw]:E1 did[vw]:N1 not[vw]:N2 although:C1
    yet > if:C1 unless:C1 contra:C1 did:E1 not:C6 did[ab,vw]:C1 not[ab,vw]:E1 did[vw]:N2 not[vw]:N1 although:E2
    yet > if[vw]:N1 unless[vw]:N1 contra[vw]:N1 even_so:E6 even_so[vw]:N4
    although > if:C6 unless:C1 contra:C1 did:E1 not:C2 did[ab,vw]:C4 not[ab,vw]:E1 did[vw]:N1 not[vw]:N1 yet:E6
    although > yet[vw]:N3 if[vw]:N1 unless[vw]:N1 contra[vw]:N1 even_so:E6 even_so[vw]:N6
    even_so > if[vw]:N1 unless[vw]:N2 contra[vw]:N1 yet:E6 although:E6 if:C1 unless:C6 contra:C5 did:E1 not:C1
    even_so > did[vw]:N1 not[vw]:N1 yet[vw]:N4 although[vw]:N3
    """,
)

CONDITIONALS = Phenomenon("conditionals", (_EVENTS,))
