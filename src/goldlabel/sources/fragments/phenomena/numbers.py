"""Numbers and counting: bounds above and below, exact counts, sums, and who has more."""

from goldlabel.sources.fragments.grammar import Form, Frame, Phenomenon

_COUNT = "count({k}, {o}, {a}, {t})"

# A step of at least two keeps "more than n - 1" from meaning "at least n".
_BOUNDS = Frame(
    slots="a b:person k:deal o:object t:time n:8..19 d:2..5",
    forms={
        f"{name}{suffix}": Form(
            f"{_COUNT} {sign} {{{number}}}",
            f"{{a}} {{k.past}} {english} {{{number}}} {{o.pl}} {{t}}.",
            chinese.replace("N", f"{{{number}}}"),
        )
        for name, sign, english, chinese in (
            ("least", ">=", "at least", "{a}{t}至少{k}了N{o.cl}{o}。"),
            ("most", "<=", "at most", "{a}{t}最多{k}了N{o.cl}{o}。"),
            ("over", ">", "more than", "{a}{t}{k}的{o}多于N{o.cl}。"),
            ("under", "<", "fewer than", "{a}{t}{k}的{o}少于N{o.cl}。"),
            ("exact", "==", "exactly", "{a}{t}正好{k}了N{o.cl}{o}。"),
        )
        for suffix, number in (("", "n"), ("_up", "n+d"), ("_down", "n-d"))
    }
    | {
        "total": Form(
            f"{_COUNT} == {{n}}",
            "The number of {o.pl} that {a} {k.past} {t} was exactly {n}.",
            "{a}{t}{k}的{o}总数正好是{n}{o.cl}。",
        ),
    },
    table="""
    exact > least:E1 most:E1 over:C1 under:C1 least[ab]:N1 most[ab]:N1 over[ab]:N1 under[ab]:N6 total:E8 total[ab]:N1
    exact_up > least:E1 most:C5 over:E1 under:C1 exact:C1 total:C1 exact[ab]:N1 least[ab]:N1
    exact_down > least:C1 most:E1 over:C1 under:E1 exact:C1 total:C1 exact[ab]:N1 most[ab]:N1
    total > least:E1 most:E1 over:C9 under:C4 exact:E11 exact[ab]:N1 over[ab]:N9 under[ab]:N3
    least > over:N1 under:C6 exact:N1 most:N1 total:N1
    least_up > least:E1 most:C1 over:E10 under:C1 exact:C2 total:C1 most[ab]:N1
    least_down > least:N1 most:N1 over:N1 under:N1 exact:N1 total:N1
    most > over:C1 under:N1 exact:N1 least:N1 total:N1
    most_up > least:N1 most:N1 over:N1 under:N1 exact:N1 total:N1
    most_down > least:C5 most:E1 over:C1 under:E10 exact:C3 total:C1 least[ab]:N1
    over > least:E1 most:C1 under:C1 exact:C1 total:C1 exact[ab]:N1
    over_up > least:E3 most:C1 over:E4 under:C1 exact:C1 total:C1
    over_down > least:N1 most:N1 over:N1 under:N1 exact:N1 total:N2
    under > least:C1 most:E3 over:C1 exact:C1 total:C1 exact[ab]:N1
    under_up > least:N1 most:N1 over:N1 under:N2 exact:N1 total:N1
    under_down > least:C1 most:E1 over:C1 under:E4 exact:C1 total:C1
    """,
)

_EACH = "{a} {k.past} exactly {%s} {o.pl} {t}, and {b} {k.past} exactly {%s}."
_EACH_ZH = "{a}{t}正好{k}了{%s}{o.cl}{o}，{b}正好{k}了{%s}{o.cl}。"
_BOTH = "count({k}, {o}, {a}, {t}) == {%s} and count({k}, {o}, {b}, {t}) == {%s}"


def _each(first: str, second: str) -> Form:
    return Form(_BOTH % (first, second), _EACH % (first, second), _EACH_ZH % (first, second))


_SUMS = Frame(
    slots="a b c:person k:deal o:object t:time n:18..27 i:6..10 d:2..4",
    forms={
        "each": _each("i", "n-i"),
        "each_up": _each("i", "n-i+d"),
        "each_down": _each("i", "n-i-d"),
        "sum": Form(
            "count({k}, {o}, {a}, {t}) + count({k}, {o}, {b}, {t}) == {n}",
            "{a} and {b} {k.past} exactly {n} {o.pl} in total {t}.",
            "{a}和{b}{t}一共正好{k}了{n}{o.cl}{o}。",
        ),
        "not_sum": Form(
            "not count({k}, {o}, {a}, {t}) + count({k}, {o}, {b}, {t}) == {n}",
            "It is not true that {a} and {b} {k.past} exactly {n} {o.pl} in total {t}.",
            "说{a}和{b}{t}一共正好{k}了{n}{o.cl}{o}是不对的。",
        ),
    },
    table="""
    each > sum:E3 sum[bc]:N2 sum[ab]:E1 not_sum:C2 not_sum[bc]:N1 not_sum[ab]:C1
    each_up > sum:C1 sum[bc]:N1 not_sum:E2 sum[ab]:C1 not_sum[bc]:N1
    each_down > sum:C1 sum[bc]:N1 not_sum:E1 sum[ab]:C1 not_sum[bc]:N1
    """,
)

_COMPARED = Frame(
    slots="a b c:person k:deal o:object t:time n:4..18 d:1..5",
    forms={
        "each": _each("n+d", "n"),
        "each_rev": _each("n", "n+d"),
        "each_same": _each("n", "n"),
        "open": Form(
            "count({k}, {o}, {a}, {t}) >= {n+d} and count({k}, {o}, {b}, {t}) >= {n}",
            "{a} {k.past} at least {n+d} {o.pl} {t}, and {b} {k.past} at least {n}.",
            "{a}{t}至少{k}了{n+d}{o.cl}{o}，{b}至少{k}了{n}{o.cl}。",
        ),
        "apart": Form(
            "count({k}, {o}, {a}, {t}) > {n+d} and count({k}, {o}, {b}, {t}) < {n}",
            "{a} {k.past} more than {n+d} {o.pl} {t}, and {b} {k.past} fewer than {n}.",
            "{a}{t}{k}的{o}多于{n+d}{o.cl}，{b}{k}的少于{n}{o.cl}。",
        ),
        "more": Form(
            "count({k}, {o}, {a}, {t}) > count({k}, {o}, {b}, {t})",
            "{a} {k.past} more {o.pl} than {b} {t}.",
            "{a}{t}{k}的{o}比{b}多。",
        ),
        "same": Form(
            "count({k}, {o}, {a}, {t}) == count({k}, {o}, {b}, {t})",
            "{a} {k.past} exactly as many {o.pl} as {b} {t}.",
            "{a}{t}{k}的{o}和{b}一样多。",
        ),
        "differ": Form(
            "not count({k}, {o}, {a}, {t}) == count({k}, {o}, {b}, {t})",
            "{a} and {b} did not {k.base} the same number of {o.pl} {t}.",
            "{a}和{b}{t}{k}的{o}数量不一样。",
        ),
        "floor": Form(
            "count({k}, {o}, {a}, {t}) >= {n+d}",
            "{a} {k.past} at least {n+d} {o.pl} {t}.",
            "{a}{t}至少{k}了{n+d}{o.cl}{o}。",
        ),
        "below": Form(
            "count({k}, {o}, {a}, {t}) < {n+d}",
            "{a} {k.past} fewer than {n+d} {o.pl} {t}.",
            "{a}{t}{k}的{o}少于{n+d}{o.cl}。",
        ),
    },
    table="""
    open > floor:E6 below:C6 floor[ab]:N1 below[ab]:N1 more:N1 more[ab]:N1 same:N1 differ:N1
    apart > floor:E1 below:C1 floor[ab]:C1 below[ab]:E1 more:E1 more[ab]:C1 same:C1 differ:E1 more[bc]:N3 same[bc]:N1
    each > floor:E1 below:C1 floor[ab]:C6 below[ab]:E1 floor[ac]:N1 below[ac]:N1 more:E6 more[ab]:C1 same:C1 differ:E1
    each > more[bc]:N1 same[bc]:N1 differ[bc]:N1
    each_rev > floor:C1 below:E6 floor[ab]:E1 below[ab]:C1 more:C5 more[ab]:E1 same:C3 differ:E2 more[bc]:N1
    each_rev > same[bc]:N1 differ[bc]:N1
    each_same > floor:C1 below:E1 floor[ac]:N7 below[ac]:N7 more:C1 same:E1 differ:C3 same[ab]:E4 differ[ab]:C1
    each_same > more[bc]:N1 same[bc]:N1 differ[bc]:N1
    """,
)

NUMBERS = Phenomenon("numbers", (_BOUNDS, _SUMS, _COMPARED))
