"""Hypernyms: a rose is a flower, upwards and, under negation, downwards."""

from goldlabel.sources.fragments.grammar import Form, Frame, Phenomenon


def _some(noun: str) -> str:
    return f"some(x, {noun}(x), {{k}}({{a}}, x, {{t}}))"


_FORMS = {
    "noun": Form(_some("{n.key}"), "{a} {k.past} {n.a} {t}.", "{a}{t}{k}了{n.a}。"),
    "kind": Form(_some("{n.kind_key}"), "{a} {k.past} {n.kind_a} {t}.", "{a}{t}{k}了{n.kind_a}。"),
    "no_noun": Form(f"not {_some('{n.key}')}", "{a} did not {k.base} any {n.pl} {t}.", "{a}{t}没有{k}任何{n}。"),
    "no_kind": Form(
        f"not {_some('{n.kind_key}')}", "{a} did not {k.base} any {n.kind_pl} {t}.", "{a}{t}没有{k}任何{n.kind_self}。"
    ),
    "among": Form(
        _some("{n.kind_key}"),
        "There was {n.kind_a} among the things that {a} {k.past} {t}.",
        "{a}{t}{k}的东西里有{n.kind_a}。",
    ),
    "noun_among": Form(
        _some("{n.key}"),
        "There was {n.a} among the things that {a} {k.past} {t}.",
        "{a}{t}{k}的东西里有{n.a}。",
    ),
    "false_noun": Form(
        f"not {_some('{n.key}')}",
        "It is not true that {a} {k.past} {n.a} {t}.",
        "说{a}{t}{k}了{n.a}是不对的。",
    ),
    "noun_and": Form(
        f"{_some('{n.key}')} and {_some('{m.key}')}",
        "{a} {k.past} {n.a} and {m.a} {t}.",
        "{a}{t}{k}了{n.a}和{m.a}。",
    ),
    "kind_and": Form(
        f"{_some('{n.kind_key}')} and {_some('{m.key}')}",
        "{a} {k.past} {n.kind_a} and {m.a} {t}.",
        "{a}{t}{k}了{n.kind_a}和{m.a}。",
    ),
    "only_noun": Form(
        f"{_some('{n.key}')} and every(x, {{k}}({{a}}, x, {{t}}), {{n.key}}(x))",
        "{a} {k.past} {n.a} {t} and nothing else.",
        "{a}{t}只{k}了{n.a}，别的什么也没有{k}。",
    ),
    "nothing": Form("no(x, True, {k}({a}, x, {t}))", "{a} did not {k.base} anything {t}.", "{a}{t}什么也没有{k}。"),
}

# A kind alone, a noun with its kind, a noun with another of its kind: each its own frame, for two fillings of one
# frame must not give the same text.
_KINDS = Frame(
    slots="a b:person k:portrayal n:kind m:scenery t:time",
    forms=_FORMS,
    table="""
    kind > no_kind:C7 kind[ab]:N1 no_kind[ab]:N1 among:E7
    among > kind:E3 no_kind:C3
    no_kind > among:C1 kind:C3 kind[ab]:N1
    kind_and > among:E1 kind:E2 no_kind:C3
    nothing > among:C11 kind:C6 no_kind:E17 kind[ab]:N1 no_kind[ab]:N10
    """,
)

_NOUNS = Frame(
    slots="a b:person k:portrayal n:noun m:scenery t:time",
    forms=_FORMS,
    table="""
    noun > kind:E1 no_kind:C1 no_noun:C3 kind[ab]:N1 no_kind[ab]:N1 no_noun[ab]:N1 noun[ab]:N1 among:E1 false_noun:C6
    noun > among[ab]:N1 false_noun[ab]:N1 noun_among:E8
    kind > noun:N1 no_noun:N1 noun[ab]:N1 false_noun:N1 noun_among:N1
    among > noun:N1 no_noun:N1 false_noun:N1
    no_noun > false_noun:E6 among:N2 false_noun[ab]:N1 noun_among:C5 kind:N1 no_kind:N1 noun:C1 noun[ab]:N1
    no_kind > false_noun:E1 noun_among:C1 noun:C1 no_noun:E5 no_noun[ab]:N4 noun[ab]:N1
    false_noun > noun:C11 no_noun:E11 kind:N1 no_kind:N1 among:N9
    noun_and > among:E1 false_noun:C1 noun:E11 kind:E1 no_kind:C1 no_noun:C11 noun[ab]:N1 kind[ab]:N1 no_noun[ab]:N1
    noun_and > no_kind[ab]:N1
    kind_and > false_noun:N1 noun:N1 no_noun:N1
    noun_among > noun:E3 kind:E1 among:E1 no_noun:C3 no_kind:C1 false_noun:C1 noun[ab]:N1 no_noun[ab]:N1 kind[ab]:N1
    noun_among > no_kind[ab]:N1 false_noun[ab]:N1
    nothing > noun_among:C1 false_noun:E1 noun:C1 no_noun:E1 noun[ab]:N3 no_noun[ab]:N5
    only_noun > noun:E1 kind:E1 among:E1 noun_among:E1 no_noun:C1 no_kind:C1 false_noun:C1 noun[ab]:N1 no_noun[ab]:N1
    only_noun > kind[ab]:N1 no_kind[ab]:N1 false_noun[ab]:N1 noun_among[ab]:N1
    """,
)

_SIBLINGS = Frame(
    slots="a b:person k:portrayal n:siblings m:scenery t:time",
    forms={
        **_FORMS,
        "sibling": Form(_some("{n.sib_key}"), "{a} {k.past} {n.sib_a} {t}.", "{a}{t}{k}了{n.sib_a}。"),
        "sibling_and": Form(
            f"{_some('{n.sib_key}')} and {_some('{m.key}')}",
            "{a} {k.past} {n.sib_a} and {m.a} {t}.",
            "{a}{t}{k}了{n.sib_a}和{m.a}。",
        ),
        "only_sibling": Form(
            f"{_some('{n.sib_key}')} and every(x, {{k}}({{a}}, x, {{t}}), {{n.sib_key}}(x))",
            "{a} {k.past} {n.sib_a} {t} and nothing else.",
            "{a}{t}只{k}了{n.sib_a}，别的什么也没有{k}。",
        ),
    },
    table="""
    sibling > noun:N1 no_noun:N1 false_noun:N1 noun_among:N1
    sibling_and > noun:N1 no_noun:N1 false_noun:N1 noun_among:N6
    only_sibling > noun:C1 no_noun:E1 false_noun:E1 noun_among:C2
    """,
)

HYPERNYMS = Phenomenon("hypernyms", (_KINDS, _NOUNS, _SIBLINGS))
