// What the annotators' pages have in common: their data and texts, notices, the state line and keys.

import { openKeep } from "./keep.js";
import { Outbox } from "./outbox.js";

export const data = JSON.parse(document.getElementById("data").textContent);
const texts = JSON.parse(document.getElementById("texts").textContent);
const csrf = document.querySelector("meta[name=csrf]").content;
const ASK_AGAIN = 3000;
const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

// A page that comes back out of the browser's memory may be long out of date.
window.addEventListener("pageshow", (event) => event.persisted && location.reload());

// A text of the page with its gaps filled: say("count", { done: 3 }).
export function say(name, values = {}) {
  return texts[name].replace(/\{(\w+)\}/g, (gap, key) => values[key] ?? gap);
}

export function find(id) {
  return document.getElementById(id);
}

// Open the outbox of the person whose page this is; its state is told in the state line.
export async function openOutbox(on) {
  const keep = await openKeep(`goldlabel-${data.person}`);
  const changed = (state) => showState(state, keep.lasting);
  return new Outbox(keep, { person: data.person, csrf, on: { ...on, changed } });
}

// Ask for tasks until there is an answer; the answer has none when the server will say why on a page.
export async function askForWork(outbox, kind) {
  for (;;) {
    try {
      const headers = { "Content-Type": "application/json", Accept: "application/json", "X-CSRF-Token": outbox.csrf };
      const body = JSON.stringify({ kind });
      const response = await fetch(`/api/projects/${data.project}/claim`, { method: "POST", headers, body });
      const work = await response.json();
      return response.ok ? work : { tasks: [] };
    } catch {
      await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN));
    }
  }
}

function showState(state, lasting) {
  const line = find("state");
  const told = say(lasting || state === "saved" ? `state_${state}` : `state_${state}_unkept`);
  if (line.textContent !== told) line.textContent = told;
  line.dataset.state = state;
  if (state === "signed_out" || state === "other_person") {
    const target = `/login?next=${encodeURIComponent("/")}`;
    notify("login", say(`notice_${state}`), { text: say("log_in"), href: target });
  } else if (state === "saved") forget("login");
}

// Show a notice; one of the same name takes its place. `action` is {text, href} or {text, run}.
export function notify(name, text, action, look = "notice warn") {
  const old = document.querySelector(`[data-notice="${name}"]`);
  if (old?.querySelector("p").textContent === text) return;
  const notice = document.createElement("div");
  notice.className = look;
  notice.dataset.notice = name;
  notice.append(Object.assign(document.createElement("p"), { textContent: text }));
  const buttons = Object.assign(document.createElement("p"), { className: "buttons" });
  if (action?.href) {
    const look = { className: "button", textContent: action.text };
    const place = { href: action.href, target: "_blank", rel: "noopener" };
    buttons.append(Object.assign(document.createElement("a"), look, place));
  } else {
    if (action) buttons.append(button(action.text, () => (notice.remove(), action.run())));
    buttons.append(button(say("close"), () => notice.remove()));
  }
  notice.append(buttons);
  old?.remove();
  find("notices").append(notice);
}

export function forget(name) {
  document.querySelector(`[data-notice="${name}"]`)?.remove();
}

function button(text, run) {
  const look = { type: "button", className: "button", textContent: text };
  const made = Object.assign(document.createElement("button"), look);
  made.addEventListener("click", run);
  return made;
}

// Keys are written for other keyboards than Apple's; there they read otherwise.
export function nameKeys(root = document) {
  if (!isMac) return;
  for (const key of root.querySelectorAll("kbd")) {
    key.textContent = key.textContent.replace("Ctrl ", "⌘").replace("Alt ", "⌥");
  }
}

const MOST_SECONDS = 7 * 24 * 3600;

// Seconds spent on each of some names, while the page is seen.
export class Stopwatch {
  #spent = {};
  #since = new Map();
  #seen = !document.hidden;

  constructor() {
    document.addEventListener("visibilitychange", () => this.#look());
  }

  // Begin anew, from what was spent before on the same task.
  reset(spent = {}) {
    this.#spent = { ...spent };
    this.#since.clear();
  }

  start(name) {
    if (!this.#since.has(name)) this.#since.set(name, performance.now());
  }

  stop(name) {
    this.#count(name);
    this.#since.delete(name);
  }

  // What was spent so far, in seconds to a tenth; the server takes no more than a week.
  read() {
    for (const name of this.#since.keys()) this.#count(name);
    return Object.fromEntries(Object.entries(this.#spent).map(([name, spent]) => [name, Math.min(Math.round(10 * spent) / 10, MOST_SECONDS)]));
  }

  #count(name) {
    const since = this.#since.get(name);
    if (since === undefined) return;
    const now = performance.now();
    if (this.#seen) this.#spent[name] = (this.#spent[name] ?? 0) + (now - since) / 1000;
    this.#since.set(name, now);
  }

  #look() {
    this.read();
    this.#seen = !document.hidden;
  }
}
