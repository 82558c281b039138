"""Temporal order: before and after, sequences of three, the clock."""

from goldlabel.sources.fragments.grammar import Form, Frame, Phenomenon

_V, _W, _U = "time({v}, {a})", "time({w}, {b})", "time({u}, {c})"

_EVENTS = Frame(
    slots="a b c:person v w u:action n:1..3 d:1..3",
    forms={
        "before": Form(f"{_V} < {_W}", "{a} {v.past} before {b} {w.past}.", "在{b}{w.plain}之前，{a}就{v.done}。"),
        "after": Form(f"{_V} > {_W}", "{a} {v.past} after {b} {w.past}.", "在{b}{w.plain}之后，{a}才{v.done}。"),
        "first": Form(
            f"{_V} < {_W}", "First {a} {v.past}, and then {b} {w.past}.", "先是{a}{v.done}，然后{b}{w.done}。"
        ),
        "chain": Form(
            f"{_V} < {_W} and {_W} < {_U}",
            "{a} {v.past}, then {b} {w.past}, and finally {c} {u.past}.",
            "{a}{v.done}，接着{b}{w.done}，最后{c}{u.done}。",
        ),
        "fork": Form(
            f"{_V} < {_W} and {_V} < {_U}",
            "{a} {v.past} before {b} {w.past} and before {c} {u.past}.",
            "在{b}{w.plain}和{c}{u.plain}之前，{a}就{v.done}。",
        ),
        "join": Form(
            f"{_V} > {_W} and {_V} > {_U}",
            "Only after {b} {w.past} and {c} {u.past} did {a} {v.base}.",
            "{b}{w.done}、{c}{u.done}之后，{a}才{v.done}。",
        ),
        "clock": Form(
            f"{_V} == {{n}} and {_W} == {{n+d}}",
            "That day {a} {v.past} at {n} in the afternoon, and {b} {w.past} at {n+d}.",
            "那天下午{a}{n}点{v.done}，{b}{n+d}点{w.done}。",
        ),
        "clock_rev": Form(
            f"{_V} == {{n+d}} and {_W} == {{n}}",
            "That day {a} {v.past} at {n+d} in the afternoon, and {b} {w.past} at {n}.",
            "那天下午{a}{n+d}点{v.done}，{b}{n}点{w.done}。",
        ),
    },
    table="""
    before > after[ab,vw]:E1 first:E2 after:C1 before[ab,vw]:C1 first[ab,vw]:C1 before[bc,wu]:N1 after[bc,wu]:N1
    before > first[bc,wu]:N1
    after > before[ab,vw]:E2 first[ab,vw]:E1 before:C1 first:C1 after[ab,vw]:C1 before[bc,wu]:N1 first[bc,wu]:N1
    after > after[bc,wu]:N1
    first > before:E1 after[ab,vw]:E2 after:C1 before[ab,vw]:C1 first[ab,vw]:C1 before[bc,wu]:N1 after[bc,wu]:N1
    first > first[bc,wu]:N1
    chain > before[bc,wu]:E1 first[bc,wu]:E1 after[ac,vu]:E2 before[ac,vu]:C2 first[ac,vu]:C2 after[bc,wu]:C1
    chain > before:E1 after:C1 before[wu]:N1 after[wu]:N1 first[wu]:N1 before[ab]:N1 after[ab]:N1 first[ab]:N1
    chain > first:E1
    fork > before:E1 first:E1 after:C1 after[ab,vw]:E1 before[ab,vw]:C1 first[ab,vw]:C1 before[ac,vu]:N1
    fork > after[ac,vu]:N1 first[ac,vu]:N1
    join > after:E1 before:C1 first:C1 before[ab,vw]:E1 first[ab,vw]:E1 after[ab,vw]:C1 before[ac,vu]:N1
    join > after[ac,vu]:N1 first[ac,vu]:N1
    clock > before:E1 first:E1 after:C1 after[ab,vw]:E1 before[ab,vw]:C1 first[ab,vw]:C1 before[bc,wu]:N1
    clock > after[bc,wu]:N1 first[bc,wu]:N1
    clock_rev > before:C1 first:C1 after:E1 after[ab,vw]:C1 before[ab,vw]:E1 first[ab,vw]:E1 before[bc,wu]:N1
    clock_rev > after[bc,wu]:N1 first[bc,wu]:N1
    """,
)

TEMPORAL = Phenomenon("temporal", (_EVENTS,))
