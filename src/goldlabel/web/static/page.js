// What the annotators' pages have in common: their data and texts, notices, the state line and keys.

import { openKeep } from "./keep.js";
import { Outbox, newKey } from "./outbox.js";
import { openTabs } from "./tabs.js";

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

// Open the outbox of the person whose page this is; its state is told in the state line. `on.heard` is called with what
// the person's other windows tell, `outbox.tell` tells them. A collection that was served here before had other people
// under the same numbers.
export async function openOutbox(on) {
  const name = `goldlabel-${data.collection}-${data.person}`;
  const keep = await openKeep(name);
  const device = (await keep.get("device")) ?? newKey();
  await keep.put("device", device).catch(() => {}); // a device that keeps nothing says so in the state line
  const changed = (state) => showState(state, keep.lasting);
  const outbox = new Outbox(keep, { name, device, person: data.person, csrf, on: { ...on, changed } });
  outbox.tell = openTabs(name, on.heard);
  return outbox;
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
    notify("login", say(`notice_${state}`), { actions: [{ text: say("log_in"), href: target }], closes: false });
  } else if (state === "saved") forget("login");
}

// Show a notice; one of the same name takes its place. An action is {text, href} or {text, run}; `lines` are texts that
// would be lost otherwise.
export function notify(name, text, { actions = [], lines = [], look = "notice warn", closes = true } = {}) {
  const old = document.querySelector(`[data-notice="${name}"]`);
  if (old?.querySelector("p").textContent === text && !lines.length) return;
  const notice = document.createElement("div");
  notice.className = look;
  notice.dataset.notice = name;
  notice.append(Object.assign(document.createElement("p"), { textContent: text }));
  const list = document.createElement("ul");
  for (const line of lines) list.append(Object.assign(document.createElement("li"), { textContent: line }));
  if (lines.length) notice.append(list);
  const buttons = Object.assign(document.createElement("p"), { className: "buttons" });
  for (const { text, href, run } of actions) {
    if (run) buttons.append(button(text, () => (notice.remove(), run())));
    else buttons.append(Object.assign(document.createElement("a"), { className: "button", textContent: text, href, target: "_blank", rel: "noopener" }));
  }
  if (closes) buttons.append(button(say("close"), () => notice.remove()));
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
