// Writing against a model: one text, one box, some tries. A try goes through the outbox, so that it is kept on this
// device until the server has it; what the model said is what the server says. The next text is a new page.

import { newKey } from "./outbox.js";
import { Stopwatch, data, find, forget, nameKeys, notify, openOutbox, say } from "./page.js";

const DRAFT_PAUSE = 1000;
const ASK_AGAIN = 400;
const ASK_LATER = 3000;
const [task] = data.work.tasks;
const path = `/api/assignments/${task.assignment}`;
const form = find("duel");
const box = find("hypothesis");
const reasons = { label: find("reason-label"), model: find("reason-model") };
const fields = { hypothesis: box, ...reasons };
const unusable = find("unusable");
const note = find("note");
const watch = new Stopwatch();

let outbox;
let job = data.job;
let sending = false; // whether a try of this text is in the outbox
let asking = false; // whether the button asks if what was written shall be dropped
let composing = false;
let over = false; // whether this text is done with
let revision = 0;
let draftTimer = null;

// Where the job stands: "sending", "waiting", "failed", "right", "fooled", "used_up", or "new" before the first try.
// Where the model is not to be seen, a sentence is "sent", and with it the job ends by itself.
function state() {
  if (sending) return "sending";
  const last = job.tries.at(-1);
  if (!last) return "new";
  return last.state === "right" && job.left === 0 ? "used_up" : last.state;
}

const isBusy = () => ["sending", "waiting"].includes(state());
const isEnded = () => ["fooled", "used_up", "sent"].includes(state());
const spoken = (text) => text.trim().replace(/\s+/gu, " ");

// What keeps the writer from going on, in a few words; empty if nothing does.
function obstacle() {
  if (unusable.checked && !isEnded()) return note.value.trim() ? "" : say("ask_note");
  if (isBusy()) return say("outcome_waiting");
  if (["used_up", "sent"].includes(state())) return "";
  if (state() === "fooled") return Object.values(reasons).every(({ value }) => value.trim()) ? "" : say("ask_reasons");
  if (!spoken(box.value)) return say("try_empty");
  const tried = job.tries.filter((one) => one.state === "right").map((one) => spoken(one.text));
  return tried.includes(spoken(box.value)) ? say("try_same") : "";
}

// Showing

const SAID = { new: "", sending: "try_sending", waiting: "try_thinking", sent: "" };

function show() {
  const now = state();
  form.hidden = over;
  find("empty").hidden = !over;
  const told = now === "sending" && !job.shows_model ? "state_sending" : SAID[now] ?? `try_${now}`;
  set(find("says"), told && say(told));
  find("says").dataset.state = now;
  set(find("left"), isEnded() || !job.shows_model ? "" : say("tries_left", { left: job.left, most: job.most }));
  const marks = unusable.checked && !isEnded();
  find("writing").hidden = isEnded() || marks;
  find("reasons").hidden = now !== "fooled";
  find("doubt").hidden = isEnded() || isBusy();
  find("skip").hidden = isEnded() || isBusy();
  find("why").hidden = !marks;
  box.readOnly = isBusy();
  showButton();
  showTries();
}

function showButton() {
  const asked = obstacle();
  const does = isEnded() ? "finish" : unusable.checked ? "mark_unusable" : job.shows_model ? "try" : "submit";
  set(find("ask"), asked || say(does));
  find("submit").setAttribute("aria-disabled", String(Boolean(asked)));
}

// A line that says the same is not touched: a screen reader would read it again.
function set(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// The newest first: it stands beside the box.
function showTries() {
  const shown = [...(job.shows_model ? job.tries : [])].reverse().map((one) => {
    const row = find("try").content.cloneNode(true).firstElementChild;
    row.dataset.state = one.state;
    row.querySelector(".tried").textContent = one.text;
    row.querySelector(".outcome").textContent = say(`outcome_${one.state}`);
    row.querySelector(".scores").hidden = !one.scores;
    if (one.scores) showScores(row, one.scores);
    return row;
  });
  find("tries").replaceChildren(...shown);
}

function showScores(row, scores) {
  const highest = Math.max(...Object.values(scores));
  for (const line of row.querySelectorAll(".scores > li")) {
    const score = scores[line.dataset.label];
    line.querySelector("progress").value = score;
    line.querySelector(".share").textContent = `${Math.round(100 * score)} %`;
    line.classList.toggle("is-said", score === highest);
  }
}

// Drafts

function content() {
  const written = Object.entries(fields).filter(([, field]) => field.value);
  const texts = Object.fromEntries(written.map(([name, field]) => [name, field.value]));
  return { texts, unusable: unusable.checked, note: note.value, seconds: watch.read(), device: outbox.device };
}

function showContent(shown, number) {
  revision = number;
  watch.reset(shown.seconds);
  watch.start("total");
  for (const [name, field] of Object.entries(fields)) {
    const text = shown.texts[name] ?? "";
    if (field.value !== text) field.value = text; // the caret stays where nothing changes
  }
  unusable.checked = shown.unusable;
  note.value = shown.note;
}

async function openDraft() {
  const kept = (await outbox.draft(task.assignment))?.body;
  const newest = (kept?.revision ?? -1) > (task.draft?.revision ?? -1) ? kept : task.draft;
  const last = job.tries.at(-1)?.text ?? job.suggestion;
  const blank = { texts: last ? { hypothesis: last } : {}, unusable: false, note: "", seconds: {} };
  showContent(newest?.content ?? blank, newest?.revision ?? 0);
}

function changed() {
  if (over || composing) return;
  askToSkip(false);
  showButton();
  revision = Math.max(Date.now(), revision + 1);
  const body = { revision, content: content() };
  outbox.keepDraft(task.assignment, `${path}/draft`, body).catch(() => notify("device", say("notice_device")));
  outbox.tell({ kind: "draft", assignment: task.assignment, body });
  clearTimeout(draftTimer);
  draftTimer = setTimeout(() => outbox.flush(), DRAFT_PAUSE);
}

// Buttons and keys

function submit() {
  if (over || composing) return;
  if (obstacle()) return toObstacle();
  const written = content();
  if (isEnded()) leave("finish", { key: newKey(), reasons: said(), timings: written.seconds }, written);
  else if (unusable.checked) leave("unusable", { key: newKey(), note: note.value }, written);
  else tryOnce(written);
}

function said() {
  return state() === "fooled" ? Object.fromEntries(Object.entries(reasons).map(([name, { value }]) => [name, value])) : {};
}

function toObstacle() {
  const open = Object.values(reasons).find(({ value }) => !value.trim());
  (isEnded() ? open : unusable.checked ? note : box).focus();
}

async function tryOnce(written) {
  sending = true; // a second press finds nothing to send
  try {
    const body = { key: newKey(), text: box.value };
    await outbox.add("POST", `${path}/tries`, body, { assignment: task.assignment, action: "try", content: written });
  } catch {
    sending = false;
    notify("device", say("notice_device"));
  }
  show();
}

async function leave(action, body, written) {
  over = true;
  clearTimeout(draftTimer);
  try {
    await outbox.add("POST", `${path}/${action}`, body, { assignment: task.assignment, action, content: written });
    await outbox.dropDraft(task.assignment);
  } catch {
    over = false;
    notify("device", say("notice_device"));
  }
  show();
  outbox.tell({ kind: "left", assignment: task.assignment });
}

function askToSkip(asks) {
  asking = asks;
  set(find("skip-words"), say(asks ? "skip_sure" : "skip"));
}

function skip() {
  if (over || composing || find("skip").hidden) return;
  const written = content();
  if (!asking && [...Object.values(written.texts), note.value].some((text) => text.trim())) return askToSkip(true);
  const draft = { revision: Math.max(Date.now(), revision + 1), content: written };
  leave("skip", { draft }, written);
}

function keyPressed(event) {
  if (event.isComposing || event.keyCode === 229) return; // the key belongs to the input method
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
  else if (event.key === "Enter" && event.target === box && !event.shiftKey) find("submit").focus();
  else if (event.altKey && event.code === "KeyS") skip();
  else if (event.altKey && event.code === "KeyX" && !find("doubt").hidden) unusable.click();
  else return;
  event.preventDefault();
}

// What the server tells

async function wait() {
  while (state() === "waiting") {
    await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN));
    if (!(await refresh())) await new Promise((resolve) => setTimeout(resolve, ASK_LATER));
  }
}

// Ask how the tries stand; the server waits a moment for the model before it answers.
async function refresh() {
  try {
    const response = await fetch(`${path}/tries`, { headers: { Accept: "application/json" } });
    if (!response.ok) return false;
    take(await response.json());
    return true;
  } catch {
    return false;
  }
}

function take(now) {
  const before = state();
  job = now;
  show();
  if (state() !== before && state() === "fooled") reasons.label.focus();
  if (state() === "sent" && !over) submit();
}

async function sent(entry, answer) {
  const { assignment, action } = entry.about;
  if (action === "draft") return;
  if (action === "try") {
    if (assignment !== task.assignment) return;
    sending = false;
    forget("refused");
    take(answer);
    outbox.tell({ kind: "tried", assignment });
    return wait();
  }
  if (answer.state === "late") return notify("late", say("notice_late"), { actions: [goOn] });
  location.reload(); // the server makes the page of the next text, or says why there is none
}

const goOn = { text: say("go_on"), run: () => location.reload() };

async function refused(entry, problem) {
  const { assignment, action, content: written } = entry.about;
  if (assignment !== task.assignment || action === "draft") return;
  sending = false;
  over = false;
  // What is refused in its form can be changed; otherwise the text may not be this writer's any more.
  const lines = Object.values(written.texts);
  notify("refused", problem.message, problem.status === 422 ? {} : { lines, actions: [goOn] });
  show();
  if (await refresh()) wait();
}

// What the person's other windows tell
async function heard({ kind, assignment, body }) {
  if (assignment !== task.assignment) return;
  if (kind === "draft" && body.revision > revision) {
    showContent(body.content, body.revision);
    show();
  } else if (kind === "tried" && (await refresh())) wait();
  else if (kind === "left") location.reload();
}

function offerAside() {
  const { assignment, premise } = data.aside;
  const about = { assignment, action: "resume" };
  const run = () => outbox.add("POST", `/api/assignments/${assignment}/resume`, {}, about);
  notify("aside", say("notice_aside_before", { premise }), { actions: [{ text: say("take_up"), run }], look: "notice" });
}

function listen() {
  form.addEventListener("submit", (event) => (event.preventDefault(), submit()));
  find("skip").addEventListener("click", skip);
  find("skip").addEventListener("blur", () => askToSkip(false));
  unusable.addEventListener("change", () => (show(), changed(), unusable.checked && note.focus()));
  document.addEventListener("keydown", keyPressed);
  for (const field of [...Object.values(fields), note]) {
    field.addEventListener("input", changed);
    field.addEventListener("compositionstart", () => (composing = true));
    field.addEventListener("compositionend", () => ((composing = false), changed()));
    field.addEventListener("blur", () => (composing = false));
  }
}

async function start() {
  nameKeys();
  outbox = await openOutbox({ sent, refused, heard });
  for (const { assignment, action } of await outbox.waiting()) {
    if (assignment !== task.assignment) continue;
    if (action === "try") sending = true;
    else over = true;
  }
  await openDraft();
  listen();
  show();
  form.inert = false;
  // A phone's keyboard would cover the text that is to be read first.
  if (matchMedia("(pointer: fine)").matches && !isEnded()) box.focus({ preventScroll: true });
  if (data.aside) offerAside();
  outbox.flushAll();
  if (state() === "sent" && !over) submit();
  wait();
}

start();
