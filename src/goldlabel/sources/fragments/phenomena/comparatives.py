"""Comparatives: more, less, equally, the most; converses, denials and chains of two steps."""

from goldlabel.sources.fragments.grammar import Form, Frame, Phenomenon

_PEOPLE = Frame(
    slots="a b c:person d e:dimension",
    forms={
        "more": Form("degree({d}, {a}) > degree({d}, {b})", "{a} is {d.more} than {b}.", "{a}比{b}{d.more}。"),
        "less": Form("degree({d}, {a}) < degree({d}, {b})", "{a} is {d.less} than {b}.", "{a}比{b}{d.less}。"),
        "same": Form(
            "degree({d}, {a}) == degree({d}, {b})", "{a} is exactly as {d.base} as {b}.", "{a}和{b}{d.same}。"
        ),
        "not_more": Form(
            "degree({d}, {a}) <= degree({d}, {b})", "{a} is not {d.more} than {b}.", "{a}不比{b}{d.more}。"
        ),
        "not_as": Form("degree({d}, {a}) < degree({d}, {b})", "{a} is not as {d.base} as {b}.", "{a}没有{b}{d.more}。"),
        "atleast": Form(
            "degree({d}, {a}) >= degree({d}, {b})", "{a} is at least as {d.base} as {b}.", "{a}至少和{b}{d.same}。"
        ),
        "chain": Form(
            "degree({d}, {a}) > degree({d}, {b}) and degree({d}, {b}) > degree({d}, {c})",
            "{a} is {d.more} than {b}, and {b} is {d.more} than {c}.",
            "{a}比{b}{d.more}，{b}又比{c}{d.more}。",
        ),
        "fork": Form(
            "degree({d}, {a}) > degree({d}, {b}) and degree({d}, {a}) > degree({d}, {c})",
            "{a} is {d.more} than both {b} and {c}.",
            "{a}比{b}和{c}{d.both}。",
        ),
        "mixed": Form(
            "degree({d}, {a}) < degree({d}, {b}) and degree({d}, {b}) == degree({d}, {c})",
            "{a} is {d.less} than {b}, and {b} is exactly as {d.base} as {c}.",
            "{a}比{b}{d.less}，而{b}和{c}{d.same}。",
        ),
        "most": Form(
            "degree({d}, {a}) > degree({d}, {b}) and degree({d}, {a}) > degree({d}, {c})",
            "Of {a}, {b} and {c}, {a} is the {d.most}.",
            "{a}、{b}和{c}当中，{a}{d.most}。",
        ),
        "least": Form(
            "degree({d}, {a}) < degree({d}, {b}) and degree({d}, {a}) < degree({d}, {c})",
            "Of {a}, {b} and {c}, {a} is the {d.least}.",
            "{a}、{b}和{c}当中，{a}{d.least}。",
        ),
    },
    table="""
    more > less:C1 less[ab]:E3 same:C1 not_more:C1 not_more[ab]:E1 not_as[ab]:E3 not_as:C1 more[ab]:C1 more[bc]:N1
    more > less[bc]:N1 most:N1 least:C1 most[ab]:C1 least[ab]:N1 same[bc]:N1 not_more[bc]:N1 not_as[bc]:N1 atleast:E1
    more > atleast[ab]:C1 atleast[bc]:N1
    less > more:C1 more[ab]:E3 same:C1 not_more:E1 not_more[ab]:C1 not_as:E1 not_as[ab]:C1 most:C1 least:N1
    less > more[bc]:N1 less[bc]:N1 same[bc]:N1 not_more[bc]:N1 not_as[bc]:N1 atleast:C1 atleast[ab]:E1
    same > more:C1 less:C3 not_more:E1 not_as:C1 most:C1 least:C1 more[bc]:N1 less[bc]:N2 same[ab]:E4 not_more[bc]:N3
    same > same[bc]:N1 atleast:E1 atleast[ab]:E1
    not_more > atleast[ab]:E5 atleast:N1 more:C1 less:N1 same:N1 not_as:N1 most:C1 more[ab]:N1 less[ab]:C3
    not_as > atleast:C1 atleast[ab]:E1 more:C1 less:E1 same:C1 not_more:E1 most:C1 least:N1 more[ab]:E2 less[ab]:C1
    not_as > more[bc]:N2 not_more[bc]:N2
    atleast > more:N1 less:C1 same:N1 not_more[ab]:E5 not_as:C1 not_more:N1 atleast[ab]:N1 more[ab]:C2 not_as[ab]:N1
    atleast > most[ab]:C1
    chain > more[de]:N1 less[de]:N3 same[de]:N1 not_more[de]:N1 not_as[de]:N1 most[de]:N1 least[de]:N1 atleast[bc]:E1
    chain > atleast[ac]:C2 atleast[de]:N6 more[bc]:E1 less[bc]:C1 same[bc]:C1 not_more[bc]:C6 not_as[bc]:C1 most:E5
    chain > least:C1 least[ac]:E5 most[ac]:C1 same:C1 more[ab]:C1 less[ac]:E1 not_more[ac]:E1 not_as[ac]:E1
    fork > atleast:E1 atleast[ab]:C5 atleast[ac]:N4 more[ab]:C1 less[ab]:E1 more[ac]:N1 less[ac]:N1 same[ac]:N1
    fork > not_more[ac]:N1 not_as[ac]:N1 most:E6 least[ab]:N1 least:C2 not_as[ab]:E1 not_more[ab]:E1 same[ab]:C2
    mixed > more[de]:N1 less[de]:N1 same[de]:N1 not_more[de]:N1 not_as[de]:N1 most[de]:N6 least[de]:N1 atleast[ab]:E1
    mixed > atleast:C2 atleast[bc]:C1 more[bc]:C1 less[bc]:E1 same[bc]:C1 not_as[bc]:E1 not_more[bc]:E1 least:E2
    mixed > most:C1 most[ab]:C1 same:C1 less[ac]:C1 more[ac]:C1 same[ac]:E6 not_as[ac]:C2
    most > atleast:E1 atleast[ab]:C1 atleast[ac]:N1 most[de]:N2 more:E4 less[ab]:E4 less:C1 more[ac]:N1 less[ac]:N1
    most > same[ac]:N1 not_more[ac]:N1 not_as[ac]:N1 least[ab]:N1 least:C1 most[ab]:C1 same:C1 not_more:C4
    least > atleast:C1 atleast[ab]:E1 atleast[ac]:N1 less:E1 more[ab]:E2 more:C1 less[ac]:N1 more[ac]:N1 same[ac]:N1
    least > not_as:E1 most[ab]:N1 most:C1 least[ab]:C1 not_as[ab]:C1
    """,
)

COMPARATIVES = Phenomenon("comparatives", (_PEOPLE,))
