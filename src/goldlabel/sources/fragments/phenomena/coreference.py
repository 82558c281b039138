"""Coreference: she and he, the former and the latter, both of them, his and her."""

from goldlabel.sources.fragments.grammar import Form, Frame, Phenomenon

_EN_SCENE = "{f} and {m} were {p} {t}. "
_ZH_SCENE = "{t}{f}和{m}在{p}。"

_PRONOUNS = Frame(
    slots="f:woman m:man v w:action t:time p:place",
    forms={
        "she_he": Form(
            "did({v}, {f}, {t}) and did({w}, {m}, {t})",
            _EN_SCENE + "She {v.past}, and he {w.past}.",
            _ZH_SCENE + "她{v.done}，他{w.done}。",
        ),
        "he_she": Form(
            "did({v}, {m}, {t}) and did({w}, {f}, {t})",
            _EN_SCENE + "He {v.past}, and she {w.past}.",
            _ZH_SCENE + "他{v.done}，她{w.done}。",
        ),
        "she_only": Form(
            "did({v}, {f}, {t}) and not did({v}, {m}, {t})",
            _EN_SCENE + "She {v.past}, but he did not.",
            _ZH_SCENE + "她{v.done}，他却没有。",
        ),
        "he_only": Form(
            "did({v}, {m}, {t}) and not did({v}, {f}, {t})",
            _EN_SCENE + "He {v.past}, but she did not.",
            _ZH_SCENE + "他{v.done}，她却没有。",
        ),
        "they": Form(
            "did({v}, {f}, {t}) and did({v}, {m}, {t})",
            _EN_SCENE + "They both {v.past}.",
            _ZH_SCENE + "他们都{v.done}。",
        ),
        "none": Form(
            "not did({v}, {f}, {t}) and not did({v}, {m}, {t})",
            _EN_SCENE + "Neither of them {v.past}.",
            _ZH_SCENE + "他们都没有{v.plain}。",
        ),
        "one": Form(
            "did({v}, {f}, {t}) and not did({v}, {m}, {t}) or did({v}, {m}, {t}) and not did({v}, {f}, {t})",
            _EN_SCENE + "Only one of them {v.past}.",
            _ZH_SCENE + "他们当中只有一个人{v.done}。",
        ),
        "both_did": Form(
            "did({v}, {f}, {t}) and did({v}, {m}, {t})",
            "Both {f} and {m} {v.past} {t}.",
            "{f}和{m}{t}都{v.done}。",
        ),
        "not_both": Form(
            "not (did({v}, {f}, {t}) and did({v}, {m}, {t}))",
            "{f} and {m} did not both {v.base} {t}.",
            "并非{f}和{m}{t}都{v.done}。",
        ),
        "she_did": Form("did({v}, {f}, {t})", "{f} {v.past} {t}.", "{f}{t}{v.done}。"),
        "he_did": Form("did({v}, {m}, {t})", "{m} {v.past} {t}.", "{m}{t}{v.done}。"),
        "she_not": Form("not did({v}, {f}, {t})", "{f} did not {v.base} {t}.", "{f}{t}没有{v.plain}。"),
        "he_not": Form("not did({v}, {m}, {t})", "{m} did not {v.base} {t}.", "{m}{t}没有{v.plain}。"),
    },
    table="""
    she_he > she_did:E1 she_not:C1 he_did[vw]:E5 he_not[vw]:C5 she_did[vw]:N1 she_not[vw]:N1 he_did:N1 he_not:N1
    she_he > both_did:N1 not_both:N1
    he_she > he_did:E2 he_not:C2 she_did[vw]:E4 she_not[vw]:C4 he_did[vw]:N1 he_not[vw]:N1 she_did:N1 she_not:N1
    he_she > both_did:N1 not_both:N1
    she_only > she_did:E1 she_not:C1 he_did:C2 he_not:E2 she_did[vw]:N1 he_not[vw]:N1 she_not[vw]:N1 he_did[vw]:N1
    she_only > both_did:C1 not_both:E1
    he_only > he_did:E1 he_not:C1 she_did:C4 she_not:E4 he_did[vw]:N1 she_not[vw]:N1 he_not[vw]:N3 she_did[vw]:N1
    he_only > both_did:C1 not_both:E1
    they > she_did:E1 she_not:C1 he_did:E1 he_not:C1 she_did[vw]:N1 she_not[vw]:N1 he_did[vw]:N3 he_not[vw]:N1
    they > both_did:E7 not_both:C7 both_did[vw]:N1 not_both[vw]:N2
    none > she_did:C3 she_not:E3 he_did:C7 he_not:E7 she_did[vw]:N1 she_not[vw]:N1 he_did[vw]:N1 he_not[vw]:N1
    none > both_did:C1 not_both:E1 both_did[vw]:N4 not_both[vw]:N3
    one > both_did:C4 not_both:E4 she_did:N1 she_not:N1 he_did:N1 he_not:N1
    """,
)

_EN_PAIR = "{a} and {b} were {p} {t}. "
_ZH_PAIR = "{t}{a}和{b}在{p}。"

_ORDER = Frame(
    slots="a b:person v w:action t:time p:place",
    forms={
        "former_latter": Form(
            "did({v}, {a}, {t}) and did({w}, {b}, {t})",
            _EN_PAIR + "The former {v.past}, and the latter {w.past}.",
            _ZH_PAIR + "前者{v.done}，后者{w.done}。",
        ),
        "latter_only": Form(
            "did({v}, {b}, {t}) and not did({v}, {a}, {t})",
            _EN_PAIR + "The latter {v.past}, but the former did not.",
            _ZH_PAIR + "后者{v.done}，前者却没有。",
        ),
        "former_only": Form(
            "did({v}, {a}, {t}) and not did({v}, {b}, {t})",
            _EN_PAIR + "The former {v.past}, but the latter did not.",
            _ZH_PAIR + "前者{v.done}，后者却没有。",
        ),
        "did": Form("did({v}, {a}, {t})", "{a} {v.past} {t}.", "{a}{t}{v.done}。"),
        "not": Form("not did({v}, {a}, {t})", "{a} did not {v.base} {t}.", "{a}{t}没有{v.plain}。"),
    },
    table="""
    former_latter > did:E1 not:C1 did[ab,vw]:E3 not[ab,vw]:C3 did[ab]:N1 not[ab]:N1 did[vw]:N1 not[vw]:N1
    latter_only > did:C3 not:E3 did[ab]:E1 not[ab]:C1 did[vw]:N1 not[vw]:N1 did[ab,vw]:N1 not[ab,vw]:N1
    former_only > did:E1 not:C1 did[ab]:C3 not[ab]:E3 did[vw]:N1 not[vw]:N1 did[ab,vw]:N1 not[ab,vw]:N1
    """,
)

_POSSESSIVES = Frame(
    slots="f:woman m:man o:belonging t:time",
    forms={
        "she_took": Form(
            "borrowed({f}, {m}, {o}, {t})",
            "{f} visited {m} {t} and borrowed his {o}.",
            "{f}{t}去看望{m}，借走了他的{o}。",
        ),
        "he_took": Form(
            "borrowed({m}, {f}, {o}, {t})",
            "{m} visited {f} {t} and borrowed her {o}.",
            "{m}{t}去看望{f}，借走了她的{o}。",
        ),
        "she_lent": Form(
            "borrowed({m}, {f}, {o}, {t})",
            "{f} visited {m} {t} and lent him her {o}.",
            "{f}{t}去看望{m}，把自己的{o}借给了他。",
        ),
        "he_lent": Form(
            "borrowed({f}, {m}, {o}, {t})",
            "{m} visited {f} {t} and lent her his {o}.",
            "{m}{t}去看望{f}，把自己的{o}借给了她。",
        ),
        "she_refused": Form(
            "not borrowed({m}, {f}, {o}, {t})",
            "{m} visited {f} {t}, but she did not lend him her {o}.",
            "{m}{t}去看望{f}，可是她没有把自己的{o}借给他。",
        ),
        "he_refused": Form(
            "not borrowed({f}, {m}, {o}, {t})",
            "{f} visited {m} {t}, but he did not lend her his {o}.",
            "{f}{t}去看望{m}，可是他没有把自己的{o}借给她。",
        ),
        "she_has": Form("borrowed({f}, {m}, {o}, {t})", "{f} borrowed {m}'s {o} {t}.", "{f}{t}借走了{m}的{o}。"),
        "he_has": Form("borrowed({m}, {f}, {o}, {t})", "{m} borrowed {f}'s {o} {t}.", "{m}{t}借走了{f}的{o}。"),
        "she_has_not": Form(
            "not borrowed({f}, {m}, {o}, {t})",
            "{f} did not borrow {m}'s {o} {t}.",
            "{f}{t}没有借走{m}的{o}。",
        ),
        "he_has_not": Form(
            "not borrowed({m}, {f}, {o}, {t})",
            "{m} did not borrow {f}'s {o} {t}.",
            "{m}{t}没有借走{f}的{o}。",
        ),
    },
    table="""
    she_took > she_has:E2 she_has_not:C2 he_has:N1 he_has_not:N1
    he_took > he_has:E2 he_has_not:C2 she_has:N1 she_has_not:N1
    she_lent > he_has:E2 he_has_not:C2 she_has:N1 she_has_not:N1
    he_lent > she_has:E2 she_has_not:C2 he_has:N1 he_has_not:N1
    she_refused > he_has:C4 he_has_not:E4 she_has:N2 she_has_not:N2
    he_refused > she_has:C4 she_has_not:E4 he_has:N2 he_has_not:N2
    """,
)

COREFERENCE = Phenomenon("coreference", (_PRONOUNS, _ORDER, _POSSESSIVES))
