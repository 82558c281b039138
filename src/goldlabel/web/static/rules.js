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

// Text as it is stored: NFC, one line, single spaces, without controls and invisible breaks.
export function cleanText(text) {
  const visible = text.replace(SPACE, " ").replace(/[\u00ad\u200b\ufeff]/g, "").replace(/[\p{Cc}\p{Cs}]/gu, "");
  return visible.normalize("NFC").replace(SPACE, " ").replace(/^ | $/g, "");
}

export function tokens(text, unit) {
  return [...text.replaceAll("’", "'").matchAll(TOKEN[unit])].map((found) => ({
    token: found[0].toLowerCase(),
    start: found.index,
    end: found.index + found[0].length,
  }));
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

function findNegators(text, found, { unit, negators }) {
  if (unit === "words") {
    const whole = wholeWord(negators.pattern);
    return found.filter(
      ({ token }) => (negators.words.includes(token) || whole?.test(token)) && !negators.exceptions.includes(token),
    );
  }
  const blanked = text.replace(anyOf(negators.exceptions), (word) => " ".repeat(word.length));
  return [...blanked.matchAll(anyOf(negators.words))].map((word) => ({
    start: word.index,
    end: word.index + word[0].length,
  }));
}

// What a page shows beside a hypothesis, whether or not a rule is broken.
export function measure(premise, hypothesis, rules) {
  const text = cleanText(hypothesis);
  const own = tokens(text, rules.unit);
  const left = new Map();
  for (const { token } of tokens(cleanText(premise), rules.unit)) left.set(token, (left.get(token) ?? 0) + 1);
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

function foreignShare(own, language) {
  const lettered = own.filter(({ token }) => /\p{L}/u.test(token));
  const foreign = lettered.filter(({ token }) => !OWN_SCRIPT[language].test(token));
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
  if (foreignShare(own, rules.language) > 0.5) {
    found.push({ rule: "language", parameters: { language: rules.language } });
  }
  const twin = earlier.find((one) => sameTokens(one.measure.tokens, own));
  if (twin) found.push({ rule: "same_as_other", parameters: { other_label: twin.label, other_level: twin.level } });
  if (sameTokens(own, tokens(cleanText(premise), rules.unit))) found.push({ rule: "same_as_premise" });
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
