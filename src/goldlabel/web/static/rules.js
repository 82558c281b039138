// The measures of goldlabel.collect.rules in the browser, so that a writer hears of a broken rule before sending.
// The server measures again; tests hold both to the same answers. Places are UTF-16 places in the cleaned text.

const CJK = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}";
const NUMBER = "\\p{N}+(?:[.,]\\p{N}+)+";
const PLAIN = `(?:(?![${CJK}])[\\p{L}\\p{M}\\p{N}])`;
const TOKEN = {
  words: new RegExp(`${NUMBER}|[\\p{L}\\p{M}\\p{N}]+(?:'[\\p{L}\\p{M}]+)*`, "gu"),
  characters: new RegExp(`[${CJK}]|${NUMBER}|${PLAIN}+(?:'${PLAIN}+)*`, "gu"),
};
const SPACE = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/gu;
const OWN_SCRIPT = { zh: /\p{Script=Han}/u, en: /\p{Script=Latin}/u };

const IGNORABLE = new RegExp(
  "[\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u206f" +
    "\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff0-\\ufffb\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]+",
  "gu",
);
const SIGN = /^[\p{So}\p{Sm}\p{Sk}]/u;
const NEEDS_JOINERS = /[\u0600-\u0dff\u1000-\u109f\u1780-\u17ff]/;
const COUNTRIES = ["gbeng", "gbsct", "gbwls"].map(
  (country) =>
    [...country].map((letter) => String.fromCodePoint(0xe0000 + letter.charCodeAt(0))).join("") + "\u{e007f}",
);

// What stays of a run of characters that nobody sees: those that make an emoji, and joiners where a script needs them.
function keptOf(run, place, text) {
  const before = [...text.slice(Math.max(place - 2, 0), place)].at(-1) ?? "";
  const after = [...text.slice(place + run.length, place + run.length + 2)][0] ?? "";
  const kept =
    (/^[\u200c\u200d]$/.test(run) && NEEDS_JOINERS.test(before)) ||
    (/^\ufe0f?\u200d$/.test(run) && SIGN.test(before) && /^[\p{So}\p{Sm}]/u.test(after)) ||
    (/^[\ufe0e\ufe0f]$/.test(run) &&
      (SIGN.test(before) || /[‼⁉]/.test(before) || (/[0-9#*]/.test(before) && after === "\u20e3"))) ||
    (COUNTRIES.includes(run) && before === "\u{1f3f4}");
  return kept ? run : "";
}

// Text as it is stored: NFC, one line, single spaces, without controls and what nobody sees.
export function cleanText(text) {
  const spaced = text.replace(SPACE, " ").replace(/[\p{Cc}\p{Cs}]/gu, "");
  return spaced.replace(IGNORABLE, keptOf).normalize("NFC").replace(SPACE, " ").replace(/^ | $/g, "");
}

const bare = (text) => text.normalize("NFKD").replace(/[\p{Mn}\p{Me}]/gu, "");

// Text as it is compared, where what looks alike is alike; and for each of its UTF-16 units the place it comes from.
function fold(text, lookalikes) {
  let folded = "";
  const places = [];
  let place = 0;
  for (const letter of text) {
    let form = "'";
    if (!/['’‘‛′´`ʼ＇]/.test(letter)) {
      const small = lookalikes[letter] ?? letter.replace(IGNORABLE, "").toLowerCase();
      form = [...bare(small)].map((part) => lookalikes[part] ?? part).join("").toLowerCase();
    }
    folded += form;
    for (let unit = 0; unit < form.length; unit += 1) places.push({ start: place, end: place + letter.length });
    place += letter.length;
  }
  return { folded, places };
}

// The tokens of a text with their places in it; what shares a character (½) is one token.
export function tokens(text, { unit, lookalikes }) {
  const { folded, places } = fold(text, lookalikes);
  const placed = [];
  for (const word of folded.matchAll(TOKEN[unit])) {
    let token = word[0].toLowerCase();
    let { start } = places[word.index];
    const { end } = places[word.index + word[0].length - 1];
    if (placed.length && start < placed.at(-1).end) {
      const earlier = placed.pop();
      token = earlier.token + token;
      start = earlier.start;
    }
    placed.push({ token, start, end });
  }
  return placed;
}

function anyOf(words) {
  const longestFirst = [...words].sort((a, b) => b.length - a.length);
  const escaped = longestFirst.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(escaped.join("|") || "(?!)", "gu");
}

// Patterns are Rust's, whose \w and \d are Unicode's.
function wholeWord(pattern) {
  const unicode = { "\\w": "[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}]", "\\d": "\\p{Nd}" };
  try {
    return pattern ? new RegExp(`^(?:${pattern.replace(/\\[wd]/g, (short) => unicode[short])})$`, "v") : null;
  } catch {
    return null; // a pattern that only the server understands: the server alone looks for it
  }
}

function findNegators(text, own, { unit, negators, lookalikes }) {
  const [words, exceptions] = [negators.words, negators.exceptions].map((list) =>
    list.map((word) => fold(word, lookalikes).folded),
  );
  if (unit === "words") {
    const whole = wholeWord(negators.pattern);
    return own.filter(({ token }) => (words.includes(token) || whole?.test(token)) && !exceptions.includes(token));
  }
  const { folded, places } = fold(text, lookalikes);
  const blanked = folded.replace(anyOf(exceptions), (word) => " ".repeat(word.length));
  return [...blanked.matchAll(anyOf(words))].map((word) => ({
    start: places[word.index].start,
    end: places[word.index + word[0].length - 1].end,
  }));
}

// What a page shows beside a hypothesis, whether or not a rule is broken.
export function measure(premise, hypothesis, rules) {
  const text = cleanText(hypothesis);
  const own = tokens(text, rules);
  const left = new Map();
  for (const { token } of tokens(cleanText(premise), rules)) left.set(token, (left.get(token) ?? 0) + 1);
  const shared = own.filter(({ token }) => {
    const count = left.get(token) ?? 0;
    if (count) left.set(token, count - 1);
    return count > 0;
  });
  return {
    text,
    tokens: own,
    overlap: own.length ? shared.length / own.length : 0,
    shared,
    negators: findNegators(text, own, rules),
  };
}

export function percent(share) {
  return Math.ceil(100 * share);
}

// What stands at some places, neighbours together and each different piece once.
export function pieces(text, spans) {
  const joined = [];
  for (const { start, end } of spans) {
    if (joined.length && joined.at(-1).end === start) joined.at(-1).end = end;
    else joined.push({ start, end });
  }
  return [...new Set(joined.map(({ start, end }) => text.slice(start, end)))].join(" ");
}

function foreignShare(text, own, language) {
  const lettered = own.map(({ start, end }) => text.slice(start, end)).filter((word) => /\p{L}/u.test(word));
  const foreign = lettered.filter((word) => !OWN_SCRIPT[language].test(word));
  return lettered.length ? foreign.length / lettered.length : 0;
}

function sameTokens(one, other) {
  return one.length === other.length && one.every(({ token }, place) => token === other[place].token);
}

function brokenBy(slot, earlier, premise, rules) {
  const { text, tokens: own, overlap, shared } = slot.measure;
  if (!own.length) return [{ rule: "empty" }];
  const found = [];
  const characters = [...text].length;
  if (characters > rules.longest) found.push({ rule: "long", parameters: { characters, longest: rules.longest } });
  if (foreignShare(text, own, rules.language) > 0.5) {
    found.push({ rule: "language", parameters: { language: rules.language } });
  } else if (own.length < rules.fewest) found.push({ rule: "short" });
  const twin = earlier.find((one) => sameTokens(one.measure.tokens, own));
  if (twin) found.push({ rule: "same_as_other", parameters: { other_label: twin.label, other_level: twin.level } });
  if (sameTokens(own, tokens(cleanText(premise), rules))) found.push({ rule: "same_as_premise" });
  else if (overlap > rules.overlap) {
    const parameters = { percent: percent(overlap), allowed: Math.round(100 * rules.overlap) };
    found.push({ rule: "overlap", parameters: { ...parameters, shared: pieces(text, shared) } });
  }
  return found;
}

// Every rule that the hypotheses for one premise break: {rule, label, level, parameters}, in the order of the slots.
// A slot is {label, level, optional, text}; `rules` are script_parameters and the condition's negated_contradictions.
export function check(premise, slots, rules) {
  const measured = slots.map((slot) => ({ ...slot, measure: measure(premise, slot.text, rules) }));
  const given = measured.filter((slot) => slot.measure.text);
  return measured.flatMap((slot, place) => {
    let found;
    if (!slot.measure.text) {
      const later = measured.slice(place + 1).some((one) => one.label === slot.label && one.measure.text);
      found = slot.optional && !later ? [] : [{ rule: "missing" }];
    } else {
      const earlier = given.slice(0, given.indexOf(slot));
      found = brokenBy(slot, earlier, premise, rules);
      const { negators, text } = slot.measure;
      const allowed = rules.negated_contradictions;
      if (allowed !== null && slot.label === "contradiction" && negators.length) {
        const before = earlier.filter((one) => one.label === "contradiction" && one.measure.negators.length).length;
        if (before >= allowed) {
          found.push({ rule: "negator", parameters: { negators: pieces(text, negators), allowed } });
        }
      }
    }
    return found.map(({ rule, parameters = {} }) => ({ rule, label: slot.label, level: slot.level, parameters }));
  });
}
