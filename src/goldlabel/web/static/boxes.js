// A box to write in. Behind its text lies a copy that gives the box its height and carries the marks: text in a
// textarea cannot be marked. Everything is set as text nodes.

import { cleanText, tokens } from "./rules.js";

// Show a text with some places marked: [{start, end, kind}], in order.
export function showMarked(element, text, marks) {
  const nodes = [];
  let place = 0;
  for (const { start, end, kind } of marks) {
    nodes.push(text.slice(place, start));
    const shown = { className: kind, textContent: text.slice(start, end) };
    nodes.push(Object.assign(document.createElement("mark"), shown));
    place = end;
  }
  element.replaceChildren(...nodes, text.slice(place));
}

// Places in the cleaned text as places in the text as it was typed; none where the two do not match token by token.
export function placesIn(typed, spans, rules) {
  const clean = tokens(cleanText(typed), rules);
  const raw = tokens(typed, rules);
  if (clean.length !== raw.length) return [];
  return raw.filter((_, n) => spans.some(({ start, end }) => start <= clean[n].start && clean[n].end <= end));
}

export class Box {
  #drawn = "";
  #marks = [];

  constructor(root) {
    this.root = root;
    this.label = root.dataset.label;
    this.level = root.dataset.level;
    this.optional = root.dataset.optional === "true";
    this.field = root.querySelector("textarea");
    this.copy = root.querySelector(".copy");
    this.figure = root.querySelector(".figure");
    this.rule = root.querySelector(".rule");
  }

  get name() {
    return `${this.label} ${this.level}`;
  }

  get text() {
    return this.field.value;
  }

  set text(text) {
    this.field.value = text;
    this.mark([]);
  }

  // After a change: marks before the first changed letter stay, so that nothing blinks while one types.
  refresh() {
    let same = 0;
    while (same < this.text.length && this.text[same] === this.#drawn[same]) same += 1;
    this.mark(this.#marks.filter(({ end }) => end <= same));
  }

  mark(marks) {
    this.#drawn = this.text;
    this.#marks = marks;
    showMarked(this.copy, `${this.text}\u200b`, marks);
  }

  // One line under the box: a figure, or what is broken and what to do.
  tell(figure, broken) {
    set(this.figure, figure);
    set(this.rule, broken);
    this.root.classList.toggle("is-broken", Boolean(broken));
    this.field.setAttribute("aria-invalid", String(Boolean(broken)));
  }
}

// A line that says the same is not touched: a screen reader would read it again.
function set(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
