// The writing page: one premise, its boxes, live rules, and drafts that survive whatever happens.

import { Box, placesIn, showMarked } from "./boxes.js";
import { newKey } from "./outbox.js";
import { Stopwatch, askForWork, data, find, nameKeys, notify, openOutbox, say } from "./page.js";
import { check, measure, percent } from "./rules.js";

const MEASURE_PAUSE = 500;
const DRAFT_PAUSE = 1000;
const PATIENCE = 400;
const boxes = [...document.querySelectorAll(".slot")].map((root) => new Box(root));
const form = find("writing");
const unusable = find("unusable");
const note = find("note");

let outbox;
let task = null;
let queue = [];
let violations = [];
let measures = new Map();
let revision = 0;
let composing = false;
let measureTimer = null;
let draftTimer = null;
let emptyTimer = null;
const watch = new Stopwatch();
const finished = new Set();

// Moving from one premise to the next

async function showNext() {
  clearTimeout(emptyTimer);
  form.inert = true;
  task = queue.shift() ?? null;
  if (!task) {
    emptyTimer = setTimeout(() => showForm(false), PATIENCE); // most often the next one is there sooner
    return;
  }
  showForm(true);
  const { done, total } = data.progress;
  find("count").textContent = say("count", { n: done + 1, total });
  find("progress").value = done;
  const kept = await outbox.draft(task.assignment);
  const newest = (kept?.body.revision ?? -1) > (task.draft?.revision ?? -1) ? kept.body : task.draft;
  revision = newest?.revision ?? 0;
  const content = newest?.content ?? { texts: {}, unusable: false, note: "", seconds: {} };
  watch.reset(content.seconds);
  watch.start("total");
  find("genre").textContent = task.genre;
  find("genre").hidden = !task.genre;
  for (const box of boxes) {
    box.text = content.texts[box.name] ?? "";
    box.tell("", "");
  }
  unusable.checked = content.unusable;
  note.value = content.note;
  measureAll();
  form.inert = false;
  window.scrollTo(0, 0);
  // A phone's keyboard would cover the sentence that is to be read first.
  if (matchMedia("(pointer: fine)").matches) boxes[0].field.focus({ preventScroll: true });
}

function showForm(shown) {
  form.hidden = !shown;
  find("empty").hidden = shown;
}

function take(work) {
  const held = new Set([task?.assignment, ...queue.map((one) => one.assignment)]);
  queue.push(...(work?.tasks ?? []).filter((one) => !held.has(one.assignment) && !finished.has(one.assignment)));
}

async function leave(path, body, about) {
  const left = task;
  task = null; // a second press finds nothing to send
  clearTimeout(draftTimer);
  finished.add(left.assignment);
  try {
    const address = `/api/assignments/${left.assignment}/${path}`;
    await outbox.add("POST", address, body, { assignment: left.assignment, ...about });
    await outbox.dropDraft(left.assignment);
  } catch {
    finished.delete(left.assignment);
    task = left;
    notify("device", say("notice_device"));
    return;
  }
  if (about.action !== "skip") countOne();
  await showNext();
}

function countOne() {
  data.progress.done = (data.progress.done + 1) % data.progress.total;
  if (data.progress.done === 0) notify("batch", say("notice_batch", { n: data.progress.total }), null, "notice");
}

// Rules

function slots() {
  return boxes.map(({ label, level, optional, text }) => ({ label, level, optional, text }));
}

function measureAll() {
  clearTimeout(measureTimer);
  if (!task) return;
  violations = check(task.premise, slots(), data.rules);
  measures = new Map(boxes.map((box) => [box, measure(task.premise, box.text, data.rules)]));
  for (const box of boxes) showBox(box);
  showPremise();
  showButton();
}

function broken(box) {
  return violations.filter((one) => one.rule !== "missing" && one.label === box.label && one.level === box.level);
}

function showBox(box) {
  const found = broken(box);
  const measured = measures.get(box);
  const counts = measured.tokens.length ? [say("overlap", { percent: percent(measured.overlap) })] : [];
  const marks = [];
  if (found.some(({ rule }) => rule === "overlap")) marks.push(...named("", box, measured.shared));
  if (isLimited(box)) {
    marks.push(...named("second", box, measured.negators));
    const n = boxes.slice(0, boxes.indexOf(box) + 1).filter(isLimited).length;
    counts.push(say("negator", { n, allowed: data.rules.negated_contradictions }));
  }
  box.mark(merged(marks));
  box.tell(found.length ? "" : counts.join(" · "), found.length ? tell(found[0]) : "");
}

// Whether a box holds a negator where only some may.
function isLimited(box) {
  const limited = box.label === "contradiction" && data.rules.negated_contradictions !== null;
  return limited && measures.get(box).negators.length > 0;
}

function named(kind, box, spans) {
  return placesIn(box.text, spans, data.rules).map(({ start, end }) => ({ start, end, kind }));
}

// Marks in their order; where a shared word is a negator too, the negator is marked.
function merged(marks) {
  const byPlace = new Map();
  for (const mark of marks) byPlace.set(mark.start, mark);
  return [...byPlace.values()].sort((one, other) => one.start - other.start);
}

function tell({ rule, parameters }) {
  const spoken = { ...parameters };
  if (rule === "same_as_other") {
    const { other_label: label, other_level: level } = parameters;
    spoken.other = data.slots.find((one) => one.label === label && one.level === level).name;
  }
  if (rule === "language") spoken.language = say(`language_${parameters.language}`);
  return say(`rule_${rule}`, spoken);
}

// In the premise, what the box one writes in shares with it, if that is too much.
function showPremise() {
  const box = boxes.find((one) => one.field === document.activeElement);
  let marks = [];
  if (box && broken(box).some(({ rule }) => rule === "overlap")) {
    const { shared } = measure(box.text, task.premise, data.rules);
    marks = placesIn(task.premise, shared, data.rules).map(({ start, end }) => ({ start, end, kind: "" }));
  }
  showMarked(find("premise"), task.premise, marks);
}

// What keeps the writer from submitting, in a few words; empty if nothing does.
function obstacle() {
  if (unusable.checked) return note.value.trim() ? "" : say("ask_note");
  const missing = violations.filter(({ rule }) => rule === "missing").length;
  const wrong = boxes.filter((box) => broken(box).length).length;
  if (wrong) return say(wrong === 1 ? "ask_broken_one" : "ask_broken", { n: wrong });
  return missing ? say(missing === 1 ? "ask_missing_one" : "ask_missing", { n: missing }) : "";
}

function showButton() {
  const asked = obstacle();
  find("ask").textContent = asked || say(unusable.checked ? "mark_unusable" : "submit");
  find("submit").setAttribute("aria-disabled", String(Boolean(asked)));
  find("slots").hidden = unusable.checked;
  find("why").hidden = !unusable.checked;
  find("skip-words").textContent = say("skip");
}

// Drafts

function content() {
  const texts = Object.fromEntries(boxes.filter((box) => box.text).map((box) => [box.name, box.text]));
  return { texts, unusable: unusable.checked, note: note.value, seconds: watch.read() };
}

function changed() {
  if (!task || composing) return;
  clearTimeout(measureTimer);
  measureTimer = setTimeout(measureAll, MEASURE_PAUSE);
  revision = Math.max(Date.now(), revision + 1);
  const path = `/api/assignments/${task.assignment}/draft`;
  const kept = outbox.keepDraft(task.assignment, path, { revision, content: content() });
  kept.catch(() => notify("device", say("notice_device")));
  clearTimeout(draftTimer);
  draftTimer = setTimeout(() => outbox.flush(), DRAFT_PAUSE);
}

// Buttons and keys

function submit() {
  if (!task || composing) return;
  measureAll();
  if (obstacle()) {
    const open = violations.find(({ rule }) => rule !== "missing") ?? violations[0];
    const box = boxes.find((one) => one.label === open?.label && one.level === open?.level);
    (unusable.checked ? note : box.field).focus();
    return;
  }
  const written = content();
  if (unusable.checked) {
    leave("unusable", { key: newKey(), note: note.value }, { action: "unusable", content: written });
    return;
  }
  const hypotheses = boxes.filter((box) => box.text.trim()).map(({ label, level, text }) => ({ label, level, text }));
  const body = { key: newKey(), hypotheses, timings: written.seconds };
  leave("submit", body, { action: "submit", content: written });
}

let skipAsked = false;

function skip() {
  if (!task || composing) return;
  if (!skipAsked && boxes.some((box) => box.text.trim())) {
    skipAsked = true;
    find("skip-words").textContent = say("skip_sure");
    return;
  }
  skipAsked = false;
  leave("skip", {}, { action: "skip" });
}

function keyPressed(event) {
  if (event.isComposing || event.keyCode === 229) return; // the key belongs to the input method
  const box = boxes.findIndex(({ field }) => field === event.target);
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
  else if (event.key === "Enter" && box >= 0 && !event.shiftKey) (boxes[box + 1]?.field ?? find("submit")).focus();
  else if (event.altKey && event.code === "KeyS") skip();
  else if (event.altKey && event.code === "KeyX") unusable.click();
  else return;
  event.preventDefault();
}

// What the outbox tells

function sent(entry, answer) {
  if (entry.about.action === "draft") return;
  if (answer.state === "late") notify("late", say("notice_late"));
  goOn(answer.work);
}

function goOn(work) {
  take(work);
  if (task) return;
  if (queue.length) showNext();
  else location.reload(); // the server says why there is nothing to do
}

async function refused(entry, problem) {
  const { assignment, action, content: written } = entry.about;
  if (action === "draft" && task?.assignment !== assignment) return;
  if (problem.status === 422) {
    finished.delete(assignment);
    revision = Math.max(Date.now(), revision + 1);
    await outbox.keepDraft(assignment, `/api/assignments/${assignment}/draft`, { revision, content: written });
    const reload = () => location.reload();
    notify("refused", say("notice_refused", { reason: problem.message }), { text: say("open_again"), run: reload });
    return;
  }
  notify("refused", problem.message);
  if (task?.assignment === assignment) await showNext();
  if (!task) goOn(await askForWork(outbox, "write"));
}

function listen() {
  form.addEventListener("submit", (event) => (event.preventDefault(), submit()));
  find("skip").addEventListener("click", skip);
  find("skip").addEventListener("blur", () => ((skipAsked = false), (find("skip-words").textContent = say("skip"))));
  unusable.addEventListener("change", () => (showButton(), changed(), unusable.checked && note.focus()));
  note.addEventListener("input", () => (showButton(), changed()));
  document.addEventListener("keydown", keyPressed);
  for (const box of boxes) {
    box.field.addEventListener("input", () => (box.refresh(), changed()));
    box.field.addEventListener("compositionstart", () => ((composing = true), clearTimeout(measureTimer)));
    box.field.addEventListener("compositionend", () => ((composing = false), changed()));
    box.field.addEventListener("focus", () => (watch.start(box.name), task && showPremise()));
    box.field.addEventListener("blur", () => {
      watch.stop(box.name);
      composing = false;
      measureAll();
    });
  }
}

async function start() {
  nameKeys();
  outbox = await openOutbox({ sent, refused });
  for (const { assignment, action } of await outbox.waiting()) action === "draft" || finished.add(assignment);
  take(data.work);
  listen();
  await showNext();
  outbox.flushAll();
}

start();
