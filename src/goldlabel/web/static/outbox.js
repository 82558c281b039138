// The outbox: what a person did is kept on this device until the server has said that it has it.
//
// Answers wait in the order in which they were given and carry a key of their own, so that sending one twice stores
// it once. A draft is kept under its task and replaced by the next. Whatever ends a try (no network, a server that is
// down, a login that has ended), nothing is dropped; only an answer that the server understood and refused is taken
// out, and the page is told. A draft that the server finds too large, or that differs from one of another device,
// stays on this device.

const LONGEST_WAIT = 15000;
const PATIENCE = 20000;
const LOGIN_CHECK = 3000;

// States: "saved", "sending", "offline", "signed_out", "other_person"; and, for a draft that stays here, "device" where
// the server finds it too large and "elsewhere" where the server has one of another device.
export class Outbox {
  #busy = false;
  #again = false;
  #failures = 0;
  #timer = null;
  #lastKey = 0;
  #sending = null;
  #lock;
  #mine = new Set();
  #all = false;

  // `on` may have: changed(), sent(entry, answer), refused(entry, problem). `name` is that of what is kept, `device`
  // says of a draft that it was made here.
  constructor(keep, { name, device, person, csrf, on = {} }) {
    this.keep = keep;
    this.device = device;
    this.person = person;
    this.#lock = `outbox-${name}`;
    this.csrf = csrf;
    this.on = on;
    this.state = "saved";
    window.addEventListener("online", () => this.flushAll());
    document.addEventListener("visibilitychange", () => document.hidden || this.flushAll());
  }

  // Keep an answer and send it. `about` says what it answers, for the page that asks `waiting`.
  async add(method, path, body, about) {
    // Two answers of one moment, and a clock that was set back, keep their order.
    this.#lastKey = Math.max(Date.now(), this.#lastKey + 1);
    const key = `answer:${String(this.#lastKey).padStart(16, "0")}:${newKey().slice(0, 8)}`;
    await this.#keep(key, { method, path, body, about });
    this.flush();
    return key;
  }

  // Keep a draft on this device; `flush` sends it.
  async keepDraft(assignment, path, body) {
    await this.#keep(`draft:${assignment}`, { method: "PUT", path, body, about: { assignment, action: "draft" } });
  }

  async dropDraft(assignment) {
    await this.keep.remove(`draft:${assignment}`);
  }

  draft(assignment) {
    return this.keep.get(`draft:${assignment}`);
  }

  // Take an answer back that nobody tried to send; false where somebody did, for the server may have it though it never
  // said so, or if a window is sending and it may be next.
  async withdraw(key) {
    const take = async (lock) => {
      const entry = await this.keep.get(key);
      if (lock === null || this.#sending === key || !entry || entry.tried) return false;
      await this.keep.remove(key);
      return true;
    };
    return navigator.locks ? navigator.locks.request(this.#lock, { ifAvailable: true }, take) : take();
  }

  // What the answers that wait are about, in their order.
  async waiting() {
    const keys = await this.keep.keys("answer:");
    const entries = await Promise.all(keys.map((key) => this.keep.get(key)));
    return entries.filter(Boolean).map((entry) => entry.about);
  }

  // Send what this window kept, so that it is this page which hears of the answers.
  async flush() {
    if (this.#busy) {
      this.#again = true;
      return;
    }
    this.#busy = true;
    clearTimeout(this.#timer);
    try {
      // One window sends at a time, where the browser can see to it; the keys make up for it where it cannot.
      const send = () => this.#sendAll();
      await (navigator.locks ? navigator.locks.request(this.#lock, send) : send());
    } finally {
      this.#busy = false;
    }
    if (this.#again) {
      this.#again = false;
      this.flush();
    }
  }

  // Send what other windows left too: those that are closed cannot.
  flushAll() {
    this.#all = true;
    return this.flush();
  }

  async #keep(key, entry) {
    this.#mine.add(key);
    await this.keep.put(key, entry);
    if (["saved", "device", "elsewhere"].includes(this.state)) this.#tell("sending");
  }

  async #sendAll() {
    for (;;) {
      const { key, entry, stays } = await this.#first();
      if (key === undefined) {
        this.#all = false;
        return this.#tell(stays ?? "saved");
      }
      if (this.state !== "offline" && this.state !== "signed_out") this.#tell("sending");
      if (key.startsWith("answer:") && !entry.tried) await this.keep.put(key, { ...entry, tried: true });
      const outcome = await this.#send(entry);
      this.#sending = null;
      if (outcome.state) {
        this.#failures += 1;
        this.#tell(outcome.state);
        const doubled = Math.min(1000 * 2 ** (this.#failures - 1), LONGEST_WAIT);
        this.#timer = setTimeout(() => this.flush(), outcome.wait ?? doubled);
        return;
      }
      this.#failures = 0;
      if (outcome.problem?.status === 422 && key.startsWith("draft:")) {
        await this.keep.put(key, { ...entry, stays: "device" });
        continue;
      }
      const other = outcome.answer?.draft;
      if (other && other.revision < entry.body.revision) {
        // What this device sent before, and never heard of, is older than what stands here, and no one else's.
        const body = { ...entry.body, base: other.revision };
        const own = other.content.device === this.device;
        await this.#replace(key, entry, own ? { ...entry, body } : { ...entry, stays: "elsewhere" });
        if (!own) await this.on.sent?.(entry, outcome.answer);
        continue;
      }
      await this.#settle(key, entry);
      if (outcome.problem) await this.on.refused?.(entry, outcome.problem);
      else await this.on.sent?.(entry, outcome.answer);
    }
  }

  // The next to send: answers in their order, then drafts; `stays` says why a draft is not sent.
  async #first() {
    let stays;
    for (const key of [...(await this.keep.keys("answer:")), ...(await this.keep.keys("draft:"))]) {
      if (!this.#all && !this.#mine.has(key)) continue;
      this.#sending = key; // before it is read: from here on it is not withdrawn
      const entry = await this.keep.get(key);
      if (entry && !entry.stays) return { key, entry };
      stays ??= entry?.stays;
    }
    this.#sending = null;
    return { stays };
  }

  // Take out what was sent, unless a draft was replaced while it was on its way.
  async #settle(key, entry) {
    const now = await this.keep.get(key);
    if (now === undefined || now.body.revision === entry.body.revision) await this.keep.remove(key);
  }

  async #replace(key, entry, changed) {
    if ((await this.keep.get(key))?.body.revision === entry.body.revision) await this.keep.put(key, changed);
  }

  async #send(entry, repeated = false) {
    let response, answer;
    try {
      response = await fetch(entry.path, {
        method: entry.method,
        headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRF-Token": this.csrf },
        body: JSON.stringify(entry.body),
        signal: AbortSignal.timeout(PATIENCE),
      });
      answer = await response.json();
    } catch {
      return { state: "offline" };
    }
    if (response.ok) return { answer };
    if (response.status === 401 || answer.error === "csrf") {
      const state = await this.#renewLogin();
      if (state === null && !repeated) return this.#send(entry, true);
      return { state: state ?? "signed_out", wait: LOGIN_CHECK };
    }
    if (response.status === 429) return { state: "sending", wait: 1000 * (answer.retry_after ?? 5) };
    if (response.status >= 500 || answer.error === undefined) return { state: "offline" };
    return { problem: { status: response.status, ...answer } };
  }

  // Look whether there is a login; null if it is the same person's, whose new token is then used.
  async #renewLogin() {
    try {
      const session = await (await fetch("/api/session", { headers: { Accept: "application/json" } })).json();
      if (!session.signed_in) return "signed_out";
      if (session.person !== this.person) return "other_person";
      this.csrf = session.csrf;
      return null;
    } catch {
      return "offline";
    }
  }

  #tell(state) {
    this.state = state;
    this.on.changed?.(state);
  }
}

// A key that nobody else makes; crypto.randomUUID is missing where a page is served without TLS.
export function newKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
