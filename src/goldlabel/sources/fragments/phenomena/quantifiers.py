"""Quantifiers: all, most, some, none, narrower and wider restrictors, and the individual case.

*Some* does not mean *not all* here, and groups that are spoken of have members.
"""

from goldlabel.sources.fragments.grammar import Form, Frame, Phenomenon

_THERE_ARE = "some(x, {g}(x), True)"
_THERE_ARE_SUCH = "some(x, {g}(x), {m}(x))"

_GROUPS = Frame(
    slots="a:person g:group m:modifier v w:action t:time",
    forms={
        "all": Form(
            "every(x, {g}(x), did({v}, x, {t}))",
            "All the {g.pl} {v.past} {t}.",
            "{t}所有{g}都{v.done}。",
            _THERE_ARE,
        ),
        "all_such": Form(
            "every(x, {g}(x) and {m}(x), did({v}, x, {t}))",
            "All the {m} {g.pl} {v.past} {t}.",
            "{t}所有{m}{g}都{v.done}。",
            _THERE_ARE_SUCH,
        ),
        "some": Form(
            "some(x, {g}(x), did({v}, x, {t}))",
            "Some of the {g.pl} {v.past} {t}.",
            "{t}有些{g}{v.done}。",
            _THERE_ARE,
        ),
        "some_such": Form(
            "some(x, {g}(x) and {m}(x), did({v}, x, {t}))",
            "Some of the {m} {g.pl} {v.past} {t}.",
            "{t}有些{m}{g}{v.done}。",
            _THERE_ARE_SUCH,
        ),
        "none": Form(
            "no(x, {g}(x), did({v}, x, {t}))",
            "None of the {g.pl} {v.past} {t}.",
            "{t}没有一个{g}{v.plain}。",
            _THERE_ARE,
        ),
        "none_such": Form(
            "no(x, {g}(x) and {m}(x), did({v}, x, {t}))",
            "None of the {m} {g.pl} {v.past} {t}.",
            "{t}没有一个{m}{g}{v.plain}。",
            _THERE_ARE_SUCH,
        ),
        "not_all": Form(
            "not every(x, {g}(x), did({v}, x, {t}))",
            "Not all of the {g.pl} {v.past} {t}.",
            "{t}并不是所有{g}都{v.done}。",
            _THERE_ARE,
        ),
        "most": Form(
            "most(x, {g}(x), did({v}, x, {t}))",
            "Most of the {g.pl} {v.past} {t}.",
            "{t}大多数{g}都{v.done}。",
            _THERE_ARE,
        ),
        "one": Form(
            "some(x, {g}(x), did({v}, x, {t}))",
            "At least one of the {g.pl} {v.past} {t}.",
            "{t}至少有一个{g}{v.done}。",
            _THERE_ARE,
        ),
        "some_not": Form(
            "some(x, {g}(x), not did({v}, x, {t}))",
            "Some of the {g.pl} did not {v.base} {t}.",
            "{t}有些{g}没有{v.plain}。",
            _THERE_ARE,
        ),
        "every": Form(
            "every(x, {g}(x), did({v}, x, {t}))",
            "Every one of the {g.pl} {v.past} {t}.",
            "{t}每个{g}都{v.done}。",
            _THERE_ARE,
        ),
        "not_one": Form(
            "no(x, {g}(x), did({v}, x, {t}))",
            "Not one of the {g.pl} {v.past} {t}.",
            "{t}{g}当中谁也没有{v.plain}。",
            _THERE_ARE,
        ),
        "all_two": Form(
            "every(x, {g}(x), did({v}, x, {t}) and did({w}, x, {t}))",
            "All the {g.pl} {v.past} and {w.past} {t}.",
            "{t}所有{g}都{v.done}，也都{w.done}。",
            _THERE_ARE,
        ),
        "none_two": Form(
            "no(x, {g}(x), did({v}, x, {t}) or did({w}, x, {t}))",
            "None of the {g.pl} {v.past} or {w.past} {t}.",
            "{t}没有一个{g}{v.plain}或者{w.plain}。",
            _THERE_ARE,
        ),
        "all_in": Form(
            "every(x, {g}(x), did({v}, x, {t})) and {g}({a})",
            "All the {g.pl} {v.past} {t}, and {a} is one of them.",
            "{t}所有{g}都{v.done}，而{a}就是这些{g}中的一员。",
        ),
        "none_in": Form(
            "no(x, {g}(x), did({v}, x, {t})) and {g}({a})",
            "None of the {g.pl} {v.past} {t}, and {a} is one of them.",
            "{t}没有一个{g}{v.plain}，而{a}就是这些{g}中的一员。",
        ),
        "most_in": Form(
            "most(x, {g}(x), did({v}, x, {t})) and {g}({a})",
            "Most of the {g.pl} {v.past} {t}, and {a} is one of them.",
            "{t}大多数{g}都{v.done}，而{a}就是这些{g}中的一员。",
        ),
        "all_out": Form(
            "every(x, {g}(x), did({v}, x, {t})) and not {g}({a})",
            "All the {g.pl} {v.past} {t}, but {a} is not one of them.",
            "{t}所有{g}都{v.done}，但{a}并不是这些{g}中的一员。",
            _THERE_ARE,
        ),
        "none_out": Form(
            "no(x, {g}(x), did({v}, x, {t})) and not {g}({a})",
            "None of the {g.pl} {v.past} {t}, but {a} is not one of them.",
            "{t}没有一个{g}{v.plain}，但{a}并不是这些{g}中的一员。",
            _THERE_ARE,
        ),
        "did": Form("did({v}, {a}, {t})", "{a} {v.past} {t}.", "{a}{t}{v.done}。"),
        "not": Form("not did({v}, {a}, {t})", "{a} did not {v.base} {t}.", "{a}{t}没有{v.plain}。"),
    },
    table="""
    all > all_such:E1 some:E1 some_such:E1 none:C1 none_such:C1 not_all:C4 most:E1 did:N1 not:N1 all[vw]:N1
    all > none[vw]:N1 some[vw]:N4 every:E3 not_one:C1 some_not:C1 one:E1
    all_such > all:N1 some:E1 some_such:E2 none:C4 none_such:C2 not_all:N1 most:N1 did:N1 not:N1 one:E3 some_not:N1
    some > all:N1 all_such:N1 some_such:N1 none:C1 none_such:N1 not_all:N1 most:N1 did:N1 not:N1 every:N1 not_one:C9
    some > one:E10 some_not:N1
    some_such > all:N1 all_such:N1 some:E4 none:C4 none_such:C1 not_all:N1 most:N1 one:E1 some_not:N1
    none > all:C1 all_such:C1 some:C18 some_such:C1 none_such:E1 not_all:E1 most:C4 did:N1 not:N1 all[vw]:N10
    none > some[vw]:N3 none[vw]:N12 not_one:E24 every:C1 some_not:E1 one:C1
    none_such > all:C1 all_such:C2 some:N1 some_such:C1 none:N1 not_all:E3 most:N1 some_not:E1 one:N1
    most > all:N1 all_such:N1 some:E1 some_such:N1 none:C1 none_such:N1 not_all:N1 every:N1 not_one:C6 one:E6
    most > some_not:N1
    not_all > all:C8 all_such:N1 some:N1 some_such:N2 none:N1 none_such:N1 most:N1 every:C1 not_one:N1 some_not:E9
    not_all > one:N1
    all_two > all:E1 all_such:E1 some:E1 some_such:E1 most:E1 none:C1 none_such:C1 not_all:C4 did:N7 not:N1 every:E1
    all_two > not_one:C1 every[vw]:E1 one:E1 some_not:C1
    none_two > none:E18 none_such:E1 not_all:E1 all:C1 all_such:C1 some:C16 some_such:C1 most:C1 did:N7 not:N15
    none_two > not_one:E1 every:C1 one:C1 some_not:E1
    every > all:E19 some:E1 one:E1 most:E5 all_such:E2 some_such:E1 none:C1 none_such:C1 not_all:C8 some_not:C11
    every > all[vw]:N1 some[vw]:N1 none[vw]:N1 most[vw]:N1 did:N1 not:N1 not_one:C8 not_one[vw]:N23
    not_one > none:E27 none_such:E3 not_all:E1 some_not:E1 some:C6 one:C21 most:C1 all:C1 all_such:C1 some_such:C1
    not_one > none[vw]:N1 some[vw]:N5 all[vw]:N1 one[vw]:N20 did:N1 not:N1 every:C1 every[vw]:N3
    some_not > every:C1 not_one:N1 not_all:E9 all:C8 none:N1 some:N1 one:N1 most:N1 all_such:N1 none_such:N3
    one > some:E13 all:N1 none:C13 not_all:N1 some_such:N1 most:N1 some_not:N9
    all_in > did:E27 not:C27 did[vw]:N1 not[vw]:N1 some:E2 none:C1 not_all:C1 all[vw]:N1 some[vw]:N26
    none_in > did:C27 not:E27 did[vw]:N1 not[vw]:N1 some:C1 not_all:E2 most:C1 none[vw]:N27
    most_in > did:N1 not:N1 some:E17 none:C17 all:N1 not_all:N13 none_such:N1
    all_out > did:N2 not:N1 most:E1 all_such:E1 none:C1 not_all:C1 some:E1 none_such:C1
    none_out > did:N2 not:N1 none_such:E2 not_all:E1 some:C1 some_such:C1 most:C1
    """,
)

QUANTIFIERS = Phenomenon("quantifiers", (_GROUPS,))
