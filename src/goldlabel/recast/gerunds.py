"""English word forms that templates need: -ing from a lemma or from a form in a text, case and number.

Where spellings differ, a final l is doubled (*travelling*), as in the published collections.
"""

from __future__ import annotations

import re
from functools import cache

# lemma past participle, for verbs whose past is not the lemma and -ed
_IRREGULAR_VERBS = """
arise arose arisen|awake awoke awoken|be am been|be is was|be are were|bear bore born|beat beat beaten|
become became become|begin began begun|bend bent bent|bet bet bet|bid bid bid|bind bound bound|bite bit bitten|
bleed bled bled|blow blew blown|break broke broken|breed bred bred|bring brought brought|build built built|
burst burst burst|buy bought bought|cast cast cast|catch caught caught|choose chose chosen|cling clung clung|
come came come|cost cost cost|creep crept crept|cut cut cut|deal dealt dealt|dig dug dug|do did done|draw drew drawn|
drink drank drunk|drive drove driven|eat ate eaten|fall fell fallen|feed fed fed|feel felt felt|fight fought fought|
find found found|flee fled fled|fling flung flung|fly flew flown|forbid forbade forbidden|forecast forecast forecast|
foresee foresaw foreseen|forget forgot forgotten|forgive forgave forgiven|freeze froze frozen|get got gotten|
give gave given|go went gone|grind ground ground|grow grew grown|hang hung hung|have had had|hear heard heard|
hide hid hidden|hit hit hit|hold held held|hurt hurt hurt|keep kept kept|kneel knelt knelt|know knew known|
lay laid laid|lead led led|leap leapt leapt|leave left left|lend lent lent|let let let|lie lay lain|light lit lit|
lose lost lost|make made made|mean meant meant|meet met met|mistake mistook mistaken|overcome overcame overcome|
overtake overtook overtaken|overthrow overthrew overthrown|pay paid paid|put put put|quit quit quit|read read read|
rend rent rent|ride rode ridden|ring rang rung|rise rose risen|run ran run|say said said|see saw seen|
seek sought sought|sell sold sold|send sent sent|set set set|sew sewed sewn|shake shook shaken|shed shed shed|
shine shone shone|shoot shot shot|show showed shown|shrink shrank shrunk|shut shut shut|sing sang sung|sink sank sunk|
sit sat sat|sleep slept slept|slide slid slid|sling slung slung|slit slit slit|sow sowed sown|speak spoke spoken|
speed sped sped|spend spent spent|spin spun spun|spit spat spat|split split split|spread spread spread|
spring sprang sprung|stand stood stood|steal stole stolen|stick stuck stuck|sting stung stung|stink stank stunk|
stride strode stridden|strike struck struck|string strung strung|strive strove striven|swear swore sworn|
sweep swept swept|swell swelled swollen|swim swam swum|swing swung swung|take took taken|teach taught taught|
tear tore torn|tell told told|think thought thought|throw threw thrown|thrust thrust thrust|
undergo underwent undergone|understand understood understood|undertake undertook undertaken|undo undid undone|
uphold upheld upheld|upset upset upset|wake woke woken|wear wore worn|weave wove woven|weep wept wept|win won won|
wind wound wound|withdraw withdrew withdrawn|withhold withheld withheld|withstand withstood withstood|
wring wrung wrung|write wrote written
"""
_IRREGULAR: dict[str, frozenset[str]] = {}
for _entry in _IRREGULAR_VERBS.split("|"):
    _lemma, *_pasts = _entry.split()
    _IRREGULAR[_lemma] = _IRREGULAR.get(_lemma, frozenset()) | frozenset(_pasts)
_LEMMAS = {form: lemma for lemma, forms in _IRREGULAR.items() for form in forms if form not in _IRREGULAR}

# stress on the last syllable, or doubled by usage: admit gives admitting
_DOUBLING = frozenset(
    word
    for line in (
        "abet abhor abut acquit admit allot annul befit beget begin beset commit compel concur confer control corral",
        "debar debug defer demur deter disbar dispel eavesdrop embed emit entrap equip excel expel extol forbid forget",
        "format fulfil handicap hobnob humbug impel incur infer input inset instil inter kidnap leapfrog miscast",
        "misfit occur offset omit outbid outfit outgun output outrun outwit overlap overrun overstep patrol permit",
        "prefer program propel rebel rebut recap recur refer refit regret remit repel rerun reset retrofit sandbag",
        "sidestep submit transfer transmit typeset undercut underpin unpin unplug unwrap unzip upset waterlog worship",
        "zigzag",
    )
    for word in line.split()
)
_KEEP_E = frozenset(["binge", "dye", "eye", "singe", "swinge", "tinge", "whinge"])
_NOT_GERUNDS = re.compile(r"(?:br|cl|d|fl|k|p|r|s|sl|spr|st|str|sw|th|w|wr|z)ing")
_VOWELS = re.compile(r"[aeiouy]+")
_SHORT = re.compile(r"(?:^|[^aeiou])[aeiouy][bdfgklmnprstvz]$")


_NOMINATIVE = {"me": "I", "him": "he", "her": "she", "us": "we", "them": "they"}
_ACCUSATIVE = {"i": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
_PLURAL = frozenset(
    ["both", "children", "few", "many", "men", "people", "these", "they", "those", "we", "women", "you"]
)
_AFTER_HEAD = re.compile(r"\s(?:of|in|on|at|for|from|with|to|about|by|who|which|that|,)\s")


@cache
def gerund(lemma: str) -> str:
    """Return the -ing form of a lemma, in lower case; of words joined by a hyphen the last is inflected."""
    first, hyphen, word = lemma.lower().rpartition("-")
    return f"{first}{hyphen}{_stem(word)}ing"


@cache
def gerund_of_form(form: str) -> str:
    """Return the -ing form of a verb found in a text: ``drove`` and ``driving`` both give ``driving``."""
    word = form.lower()
    if word.endswith("ing") and not _NOT_GERUNDS.fullmatch(word) and _VOWELS.search(word[:-3]):
        return word
    return gerund(lemma_of_form(word))


@cache
def lemma_of_form(form: str) -> str:
    """Guess the lemma of a finite form; without a lexicon, a regular past in -ed is undone by its spelling."""
    word = form.lower()
    if word in _LEMMAS or word in _IRREGULAR:
        return _LEMMAS.get(word, word)
    if re.search(r"[^aeiou]ies$", word) or re.search(r"[^aeiou]ied$", word):
        return word[:-3] + ("ie" if len(word) == 4 else "y")
    if word in ("agreed", "decreed", "freed", "guaranteed"):
        return word[:-1]
    if word.endswith("ed") and not word.endswith("eed") and _VOWELS.search(word[:-2]):
        return _past_lemma(word[:-2])
    if re.search(r"(?:s|x|z|ch|sh|o)es$", word):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        return word[:-1]
    return word


@cache
def forms(lemma: str) -> frozenset[str]:
    """Return the forms of a verb: lemma, third person, past, participle, -ing."""
    word = lemma.lower()
    third = word + ("es" if re.search(r"(?:s|x|z|ch|sh|[^aeiou]o)$", word) else "s")
    past = _stem(word) + "ed"
    if re.search(r"[^aeiou]y$", word):
        third, past = word[:-1] + "ies", word[:-1] + "ied"
    elif word.endswith("ie"):
        past = word + "d"
    return frozenset([word, third, gerund(word)]) | (_IRREGULAR.get(word) or frozenset([past]))


def nominative(phrase: str) -> str:
    """Return a pronoun as a subject; other phrases stay."""
    return _NOMINATIVE.get(phrase.lower(), phrase)


def accusative(phrase: str) -> str:
    """Return a pronoun as an object; other phrases stay."""
    return _ACCUSATIVE.get(phrase.lower(), phrase)


def is_plural(phrase: str) -> bool:
    """Guess from a noun phrase's head, or from two heads, whether its verb is plural."""
    words = nominative(phrase).lower()
    head = _AFTER_HEAD.split(words, maxsplit=1)[0].split(" ")[-1]
    return head in _PLURAL or " and " in words or bool(re.search(r"[^sui]s$", head))


def _stem(word: str) -> str:
    """Return what stands before -ing."""
    if word.endswith("ie"):
        return word[:-2] + "y"
    if word.endswith("e") and len(word) > 2 and word not in _KEEP_E and not word.endswith(("ee", "oe", "ye")):
        return word[:-1]
    if word.endswith("ic"):
        return word + "k"
    short = word.replace("qu", "q")
    if word in _DOUBLING or (_SHORT.search(short) and (len(_VOWELS.findall(short)) == 1 or word.endswith("l"))):
        return word + ("" if word == "parallel" else word[-1])
    return word


def _past_lemma(stem: str) -> str:
    """Undo -ed: ``plann`` is plan, ``bak`` is bake, ``walk`` is walk."""
    if len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "lszf" and stem[-1] in "bdgmnprt":
        return stem[:-1]
    if stem[:-1] in _DOUBLING:
        return stem[:-1]
    syllables = len(_VOWELS.findall(stem))
    if re.search(r"(?:[^aeiou][aeiouy][bcdgklmnprstvz]|[cgsuvz]|[^aeiou]l|dg|[aeiou]rs)$", stem):
        ends = re.search(r"(?:[^aeiou](?:e[nrt]|it|o[nr]|y)|ss|zz|ow|[^aeiouy]s[^aeiou])$", stem)
        if not (syllables > 1 and ends) and not stem.endswith(("ss", "x")):
            return stem + "e"
    return stem
