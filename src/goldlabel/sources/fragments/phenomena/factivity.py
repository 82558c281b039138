"""Factive and implicative verbs: what managing, failing, hoping, knowing and believing say of the deed itself.

Premises hold two verbs of different signatures, so that no premise gives its label away by its verb alone.
"""

from goldlabel.sources.fragments.grammar import Form, Frame, Phenomenon

_DID = Form("did({v}, {a}, {t})", "{a} {v.past} {t}.", "{a}{t}{v.done}。")
_NOT = Form("not did({v}, {a}, {t})", "{a} did not {v.base} {t}.", "{a}{t}没有{v.plain}。")

_IMPLICATIVES = Frame(
    slots="a b:person v w:action i:achieved k:kept j:failed h:wished t:time",
    forms={
        "achieved_wished": Form(
            "{i}({a}, did({v}, {a}, {t})) and {h}({b}, did({w}, {b}, {t}))",
            "{a} {i} to {v.base} {t}, and {b} {h} to {w.base}.",
            "{a}{t}{i}{v.done}，{b}{h}{w.plain}。",
        ),
        "failed_wished": Form(
            "{j}({a}, did({v}, {a}, {t})) and {h}({b}, did({w}, {b}, {t}))",
            "{a} {j} to {v.base} {t}, and {b} {h} to {w.base}.",
            "{a}{t}{j}{v.plain}，{b}{h}{w.plain}。",
        ),
        "kept_wished": Form(
            "{k}({a}, did({v}, {a}, {t})) and {h}({b}, did({w}, {b}, {t}))",
            "{a} {k} to {v.base} {t}, and {b} {h} to {w.base}.",
            "{a}{t}{k}{v.plain}，{b}{h}{w.plain}。",
        ),
        "achieved_failed": Form(
            "{i}({a}, did({v}, {a}, {t})) and {j}({b}, did({w}, {b}, {t}))",
            "{a} {i} to {v.base} {t}, but {b} {j} to {w.base}.",
            "{a}{t}{i}{v.done}，但{b}{j}{w.plain}。",
        ),
        "did": _DID,
        "not": _NOT,
    },
    table="""
    achieved_wished > did:E2 not:C2 did[ab,vw]:N1 not[ab,vw]:N1
    failed_wished > did:C2 not:E2 did[ab,vw]:N1 not[ab,vw]:N1
    kept_wished > did:E2 not:C2 did[ab,vw]:N1 not[ab,vw]:N1
    achieved_failed > did:E1 not:C1 did[ab,vw]:C3 not[ab,vw]:E3 did[ab]:N1 not[ab]:N1 did[vw]:N1 not[vw]:N1
    """,
)

_FACTIVES = Frame(
    slots="a b c:person v w:action k:knew s:thought m:mistook t:time",
    forms={
        "knew_thought": Form(
            "{k}({c}, did({v}, {a}, {t})) and {s}({c}, did({w}, {b}, {t}))",
            "{c} {k.past} that {a} {v.past} {t} and {s} that {b} {w.past}.",
            "{c}{k.past}{a}{t}{v.done}，还{s}{b}{w.done}。",
        ),
        "unknown_thought": Form(
            "neg_{k}({c}, did({v}, {a}, {t})) and {s}({c}, did({w}, {b}, {t}))",
            "{c} {k.neg} that {a} {v.past} {t} but {s} that {b} {w.past}.",
            "{c}{k.neg}{a}{t}{v.done}，却{s}{b}{w.done}。",
        ),
        "mistook_thought": Form(
            "{m}({c}, did({v}, {a}, {t})) and {s}({c}, did({w}, {b}, {t}))",
            "{c} {m} that {a} {v.past} {t} and {s} that {b} {w.past}.",
            "{c}{m}{a}{t}{v.done}，还{s}{b}{w.done}。",
        ),
        "knew_mistook": Form(
            "{k}({c}, did({v}, {a}, {t})) and {m}({c}, did({w}, {b}, {t}))",
            "{c} {k.past} that {a} {v.past} {t} but {m} that {b} {w.past}.",
            "{c}{k.past}{a}{t}{v.done}，却{m}{b}{w.done}。",
        ),
        "did": _DID,
        "not": _NOT,
    },
    table="""
    knew_thought > did:E2 not:C2 did[ab,vw]:N1 not[ab,vw]:N1
    unknown_thought > did:E2 not:C2 did[ab,vw]:N1 not[ab,vw]:N1
    mistook_thought > did:C2 not:E2 did[ab,vw]:N1 not[ab,vw]:N1
    knew_mistook > did:E1 not:C1 did[ab,vw]:C3 not[ab,vw]:E3 did[ab]:N1 not[ab]:N1 did[ac]:N1 not[ac]:N1
    """,
)

FACTIVITY = Phenomenon("factivity", (_IMPLICATIVES, _FACTIVES))
