"""Conjunction and disjunction: both, either, neither, not both, of people and of deeds.

*A or B* is met only where its label is the same whether or not both are allowed.
"""

from goldlabel.sources.fragments.grammar import Form, Frame, Phenomenon

_PEOPLE = Frame(
    slots="a b c:person v w:action t:time",
    forms={
        "did": Form("did({v}, {a}, {t})", "{a} {v.past} {t}.", "{a}{t}{v.done}。"),
        "not": Form("not did({v}, {a}, {t})", "{a} did not {v.base} {t}.", "{a}{t}没有{v.plain}。"),
        "both": Form(
            "did({v}, {a}, {t}) and did({v}, {b}, {t})",
            "Both {a} and {b} {v.past} {t}.",
            "{a}和{b}{t}都{v.done}。",
        ),
        "neither": Form(
            "not did({v}, {a}, {t}) and not did({v}, {b}, {t})",
            "Neither {a} nor {b} {v.past} {t}.",
            "{a}和{b}{t}都没有{v.plain}。",
        ),
        "one": Form(
            "did({v}, {a}, {t}) or did({v}, {b}, {t})",
            "At least one of {a} and {b} {v.past} {t}.",
            "{a}和{b}当中至少有一个人{t}{v.done}。",
        ),
        "not_both": Form(
            "not (did({v}, {a}, {t}) and did({v}, {b}, {t}))",
            "{a} and {b} did not both {v.base} {t}.",
            "并非{a}和{b}{t}都{v.done}。",
        ),
        "or": Form(
            "did({v}, {a}, {t}) or did({v}, {b}, {t})",
            "{a} or {b} {v.past} {t}.",
            "{a}或者{b}{t}{v.done}。",
        ),
        "or_not": Form(
            "(did({v}, {a}, {t}) or did({v}, {b}, {t})) and not did({v}, {a}, {t})",
            "{a} or {b} {v.past} {t}, but it was not {a}.",
            "{a}或者{b}{t}{v.done}，但{v.plain}的不是{a}。",
        ),
        "neither_too": Form(
            "not did({v}, {a}, {t}) and not did({v}, {b}, {t})",
            "{a} did not {v.base} {t}, and neither did {b}.",
            "{a}{t}没有{v.plain}，{b}也没有。",
        ),
        "both_too": Form(
            "did({v}, {a}, {t}) and did({v}, {b}, {t})",
            "{a} {v.past} {t}, and so did {b}.",
            "{a}{t}{v.done}，{b}也{v.done}。",
        ),
        "three": Form(
            "did({v}, {a}, {t}) and did({v}, {b}, {t}) and did({v}, {c}, {t})",
            "{a}, {b} and {c} all {v.past} {t}.",
            "{a}、{b}和{c}{t}都{v.done}。",
        ),
    },
    table="""
    did > both:N1 neither:C1 one:E3 not_both:N1
    not > both:C1 neither:N1 one:N1 not_both:E4
    both > did:E6 not:C1 neither:C1 one:E1 not_both:C5 did[ac]:N1 not[ac]:N1 both[bc]:N5 one[bc]:E1 neither[bc]:C1
    both > not_both[bc]:N1
    neither > did:C1 not:E8 both:C1 one:C7 not_both:E1 did[ac]:N1 not[ac]:N1 one[bc]:N7 neither[bc]:N1 not_both[bc]:E1
    neither > both[bc]:C1
    one > did:N1 not:N1 both:N1 neither:C5 not_both:N1 one[bc]:N1 one[ab]:E5
    not_both > did:N1 not:N1 both:C5 neither:N1 one:N1 not_both[ab]:E5 not_both[bc]:N1
    or > did:N1 not:N1 neither:C5 one:E1 both[bc]:N1 neither[bc]:N1 one[bc]:N1 one[ab]:E4
    or_not > did:C1 not:E1 did[ab]:E1 not[ab]:C1 both:C1 neither:C1 one:E1 not_both:E1 did[ac]:N1 not[ac]:N1
    or_not > one[bc]:N1 neither[bc]:N1
    three > did[vw]:N1 not[vw]:N1 both[vw]:N1 neither[vw]:N1 one[vw]:N1 not_both[vw]:N1 did:E1 not:C4 both:E1
    three > neither:C1 one:E1 not_both:C1 both[bc]:E3
    neither_too > did:C6 not:E1 both:C1 neither:E16 one:C11 not_both:E1 did[ac]:N2 not[ac]:N1 neither[bc]:N10
    neither_too > one[bc]:N5
    both_too > did:E4 not:C3 both:E6 neither:C1 one:E1 not_both:C7 did[ac]:N1 not[ac]:N1 both[bc]:N1 not_both[bc]:N8
    """,
)

_DEEDS = Frame(
    slots="a b:person v w:action t:time",
    forms={
        "did": Form("did({v}, {a}, {t})", "{a} {v.past} {t}.", "{a}{t}{v.done}。"),
        "not": Form("not did({v}, {a}, {t})", "{a} did not {v.base} {t}.", "{a}{t}没有{v.plain}。"),
        "did_two": Form(
            "did({v}, {a}, {t}) and did({w}, {a}, {t})",
            "{a} {v.past} and {w.past} {t}.",
            "{a}{t}{v.done}，还{w.done}。",
        ),
        "did_none": Form(
            "not did({v}, {a}, {t}) and not did({w}, {a}, {t})",
            "{a} neither {v.past} nor {w.past} {t}.",
            "{a}{t}既没有{v.plain}，也没有{w.plain}。",
        ),
        "instead": Form(
            "did({v}, {a}, {t}) and not did({w}, {a}, {t})",
            "{a} {v.past} but did not {w.base} {t}.",
            "{a}{t}{v.done}，却没有{w.plain}。",
        ),
        "either": Form(
            "did({v}, {a}, {t}) or did({w}, {a}, {t})",
            "{a} {v.past} or {w.past} {t}.",
            "{a}{t}要么{v.done}，要么{w.done}。",
        ),
    },
    table="""
    did > did_two:N1 did_none:C2
    not > did_two:C3 did_none:N1 either:N1
    did_two > did:E1 not:C5 did_none:C1 did[ab]:N1 not[ab]:N3 did_two[vw]:E5 did_two[ab]:N2
    did_none > did:C5 not:E3 did_two:C1 did[ab]:N1 not[ab]:N1 did_none[vw]:E9 did_none[ab]:N6 either:C6 either[ab]:N4
    instead > did:E1 not:C1 did[vw]:C1 not[vw]:E2 did_two:C1 did_none:C1 did[ab]:N1 not[ab]:N1 did_two[ab]:N1
    instead > did_none[ab]:N1 either:E1
    either > did:N1 not:N1 did_none:C5 did_two[ab]:N1 either[vw]:E5 either[ab]:N1 did_none[ab]:N1
    """,
)

CONJUNCTION = Phenomenon("conjunction", (_PEOPLE, _DEEDS))
