"""Intersective adjectives: a red wooden box is red, wooden and a box; a box need be neither."""

from goldlabel.sources.fragments.grammar import Form, Frame, Phenomenon


def _some(what: str) -> str:
    return f"some(x, {what}, {{k}}({{a}}, x, {{t}}))"


_WARE, _RED, _WOODEN = "{n}(x)", "{n}(x) and {c}(x)", "{n}(x) and {m}(x)"
_RED_WOODEN = "{n}(x) and {c}(x) and {m}(x)"

_WARES = Frame(
    slots="a b:person k:deal n:ware c e:colour m:material t:time",
    forms={
        "ware": Form(_some(_WARE), "{a} {k.past} {n.a} {t}.", "{a}{t}{k}了一{n.cl}{n}。"),
        "red": Form(_some(_RED), "{a} {k.past} {c.a} {n} {t}.", "{a}{t}{k}了一{n.cl}{c}的{n}。"),
        "wooden": Form(_some(_WOODEN), "{a} {k.past} {m.a} {n} {t}.", "{a}{t}{k}了一{n.cl}{m}{n}。"),
        "red_wooden": Form(_some(_RED_WOODEN), "{a} {k.past} {c.a} {m} {n} {t}.", "{a}{t}{k}了一{n.cl}{c}的{m}{n}。"),
        "no_ware": Form(f"not {_some(_WARE)}", "{a} did not {k.base} any {n.pl} {t}.", "{a}{t}没有{k}任何{n}。"),
        "no_red": Form(f"not {_some(_RED)}", "{a} did not {k.base} any {c} {n.pl} {t}.", "{a}{t}没有{k}任何{c}的{n}。"),
        "no_wooden": Form(
            f"not {_some(_WOODEN)}", "{a} did not {k.base} any {m} {n.pl} {t}.", "{a}{t}没有{k}任何{m}{n}。"
        ),
        "nothing": Form("no(x, True, {k}({a}, x, {t}))", "{a} did not {k.base} anything {t}.", "{a}{t}什么也没有{k}。"),
        "among": Form(
            _some(_WARE),
            "There was {n.a} among the things that {a} {k.past} {t}.",
            "{a}{t}{k}的东西里有一{n.cl}{n}。",
        ),
        "among_red": Form(
            _some(_RED),
            "There was {c.a} {n} among the things that {a} {k.past} {t}.",
            "{a}{t}{k}的东西里有一{n.cl}{c}的{n}。",
        ),
        "false_red": Form(
            f"not {_some(_RED)}",
            "It is not true that {a} {k.past} {c.a} {n} {t}.",
            "说{a}{t}{k}了一{n.cl}{c}的{n}是不对的。",
        ),
        "false_wooden": Form(
            f"not {_some(_WOODEN)}",
            "It is not true that {a} {k.past} {m.a} {n} {t}.",
            "说{a}{t}{k}了一{n.cl}{m}{n}是不对的。",
        ),
        "the_red": Form(
            f"{_some(_RED_WOODEN)} and every(x, {{n}}(x) and {{k}}({{a}}, x, {{t}}), {{c}}(x) and {{m}}(x))",
            "The only {n} that {a} {k.past} {t} was {c} and {m.is}.",
            "{a}{t}{k}的唯一一{n.cl}{n}是{c}的，而且是{m.stuff}做的。",
        ),
    },
    table="""
    nothing > ware:C21 red:C1 wooden:C1 red_wooden:C1 no_ware:E21 no_red:E11 no_wooden:E1 among:C9 ware[ab]:N4
    nothing > no_ware[ab]:N9 red[ab]:N1 wooden[ab]:N1 no_red[ab]:N1 no_wooden[ab]:N1 among[ab]:N16
    ware > among:E11 false_red:N1 false_wooden:N1 among_red:N2 red:N1 wooden:N1 red_wooden:N1 no_ware:C11 no_red:N1
    ware > no_wooden:N1 no_ware[ab]:N1 ware[ab]:N1
    red > among:E1 false_red:C5 false_wooden:N5 among_red:E2 ware:E8 wooden:N1 red_wooden:N1 no_ware:C1 no_red:C5
    red > no_wooden:N1 red[ce]:N1 no_red[ce]:N1 ware[ab]:N1
    wooden > among:E3 false_wooden:C5 false_red:N6 ware:E6 red:N1 red_wooden:N1 no_ware:C1 no_wooden:C3 no_red:N1
    red_wooden > among:E1 false_red:C1 false_wooden:C1 ware:E1 red:E5 wooden:E5 no_ware:C1 no_red:C1 no_wooden:C8
    red_wooden > red[ce]:N1 ware[ab]:N9 no_ware[ab]:N1 no_wooden[ab]:N1
    among > ware:E5 red:N1 wooden:N1 red_wooden:N1 no_ware:C5 no_red:N1 no_wooden:N1
    among_red > red:E4 ware:E1 among:E1 no_red:C4 no_ware:C1 false_red:C1 wooden:N1 no_wooden:N1 red[ce]:N1
    among_red > red_wooden:N1 ware[ab]:N1 no_ware[ab]:N1
    no_red > among_red:C1 false_red:E6 among:N1 false_red[ab]:N1 ware:N1 red:C3 wooden:N1 red_wooden:C2 no_ware:N1
    no_red > no_wooden:N1
    no_ware > among_red:C1 among:C9 false_red:E1 false_wooden:E1 ware:C1 red:C1 wooden:C1 red_wooden:C1 no_red:E1
    no_ware > no_wooden:E11 ware[ab]:N3 red[ab]:N1 no_red[ab]:N6 no_wooden[ab]:N4
    no_wooden > false_wooden:E5 among:N1 ware:N1 wooden:C4 red:N1 red_wooden:C1 no_ware:N1 no_red:N1
    the_red > among:E1 false_red[ce]:E1 false_red:C1 ware:E1 red:E1 wooden:E1 red_wooden:E6 no_ware:C1 no_red:C3
    the_red > no_wooden:C1 red[ce]:C5 no_red[ce]:E1 red_wooden[ce]:C1 ware[ab]:N1 red[ab]:N1 no_red[ab]:N1
    the_red > no_ware[ab]:N7 red_wooden[ab]:N1 no_wooden[ab]:N1
    """,
)

_UNIQUE = Frame(
    slots="a b:person k:deal n:ware c e:colour m l:material t:time",
    forms={
        "both": Form(
            "{c}(the({n}, {a})) and {m}(the({n}, {a}))",
            "The {n} that {a} {k.past} {t} is {c} and {m.is}.",
            "{a}{t}{k}的那{n.cl}{n}是{c}的，而且是{m.stuff}做的。",
        ),
        "both_too": Form(
            "{c}(the({n}, {a})) and {m}(the({n}, {a}))",
            "The {n} that {a} {k.past} {t} is {m.is}, and it is {c}.",
            "{a}{t}{k}的那{n.cl}{n}是{m.stuff}做的，颜色是{c}。",
        ),
        "neither": Form(
            "not {c}(the({n}, {a})) and not {m}(the({n}, {a}))",
            "The {n} that {a} {k.past} {t} is neither {c} nor {m.is}.",
            "{a}{t}{k}的那{n.cl}{n}既不是{c}的，也不是{m.stuff}做的。",
        ),
        "red": Form("{c}(the({n}, {a}))", "The {n} that {a} {k.past} {t} is {c}.", "{a}{t}{k}的那{n.cl}{n}是{c}的。"),
        "wooden": Form(
            "{m}(the({n}, {a}))", "The {n} that {a} {k.past} {t} is {m.is}.", "{a}{t}{k}的那{n.cl}{n}是{m.stuff}做的。"
        ),
        "not_red": Form(
            "not {c}(the({n}, {a}))", "The {n} that {a} {k.past} {t} is not {c}.", "{a}{t}{k}的那{n.cl}{n}不是{c}的。"
        ),
        "not_wooden": Form(
            "not {m}(the({n}, {a}))",
            "The {n} that {a} {k.past} {t} is not {m.is}.",
            "{a}{t}{k}的那{n.cl}{n}不是{m.stuff}做的。",
        ),
        "false_red": Form(
            "not {c}(the({n}, {a}))",
            "It is not true that the {n} that {a} {k.past} {t} is {c}.",
            "说{a}{t}{k}的那{n.cl}{n}是{c}的，这是不对的。",
        ),
        "false_wooden": Form(
            "not {m}(the({n}, {a}))",
            "It is not true that the {n} that {a} {k.past} {t} is {m.is}.",
            "说{a}{t}{k}的那{n.cl}{n}是{m.stuff}做的，这是不对的。",
        ),
    },
    table="""
    both > red[ab]:N1 not_red[ab]:N1 wooden[ab]:N2 not_wooden[ab]:N1 false_red:C15 false_wooden:C1 false_red[ce]:E1
    both > neither[ab]:N1 false_red[ab]:N16 red:E7 wooden:E8 not_red:C1 not_wooden:C1 red[ce]:C1 wooden[ml]:C1
    both > not_red[ce]:E1 not_wooden[ml]:E1 neither:C1 neither[ce,ml]:E4 both[ce]:C1
    both_too > red[ab]:N1 not_red[ab]:N1 wooden[ab]:N2 not_wooden[ab]:N2 false_red:C2 false_wooden:C6 false_red[ce]:E1
    both_too > both[ab]:N12 both:E14 neither:C2 red:E1 wooden:E1 not_red:C1 not_wooden:C5 neither[ce,ml]:E1
    both_too > both[ce]:C1 both[ml]:C1
    neither > false_red:E2 false_wooden:E1 false_red[ce]:N1 red:C3 wooden:C1 not_red:E1 not_wooden:E1 red[ce]:N1
    neither > wooden[ml]:N1 not_red[ce]:N1 not_wooden[ml]:N1 both:C1
    red > not_red:C4 false_red:C3 false_red[ce]:E9 false_wooden:N7 wooden:N1 not_wooden:N1 both:N1 neither:C1
    red > red[ce]:C1 not_red[ce]:E1 both[ce]:C1
    wooden > not_wooden:C1 false_wooden:C1 false_red:N1 false_wooden[ml]:E1 red:N1 not_red:N1 both:N1 neither:C1
    wooden > wooden[ml]:C1 not_wooden[ml]:E3
    not_red > red:C2 false_red:E7 false_wooden:N1 false_red[ce]:N1 wooden:N1 not_wooden:N1 red[ce]:N1 not_red[ce]:N1
    not_red > both:C5 neither:N1
    not_wooden > wooden:C5 false_wooden:E6 false_red:N1 red:N1 not_red:N1 wooden[ml]:N1 not_wooden[ml]:N1 both:C1
    not_wooden > neither:N1
    false_red > red:C1 not_red:E3 wooden:N1 both:C2 neither:N1 red[ce]:N1
    false_wooden > wooden:C1 not_wooden:E2 red:N1 both:C1 neither:N1
    """,
)

ADJECTIVES = Phenomenon("adjectives", (_WARES, _UNIQUE))
