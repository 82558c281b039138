// The writing page: one premise, its boxes, live rules, and drafts that survive whatever happens.

import { Box, placesIn, showMarked } from "./boxes.js";
import { newKey } from "./outbox.js";
import { Questions } from "./questions.js";
import { Stopwatch, askForWork, data, find, forget, nameKeys, notify, openOutbox, say } from "./page.js";
import { check, measure, percent } from "./rules.js";

const MEASURE_PAUSE = 500;
const DRAFT_PAUSE = 1000;
const PATIENCE = 400;
const boxes = [...document.querySelectorAll(".slot")].map((root) => new Box(root));
const form = find("writing");
const unusable = find("unusable");
const note = find("note");
const questions = new Questions(find("questions"));

let outbox;
let task = null;
let queue = [];
let violations = [];
let measures = new Map();
let revision = 0;
let base = 0; // the revision that the server has, as far as this window knows
let asking = false; // whether the button asks if what was written shall be dropped
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
  if (task.condition !== data.condition) return reloadFor(task);
  showForm(true);
  const { done, total } = data.progress;
  find("count").textContent = say("count", { n: done + 1, total });
  find("progress").value = done;
  find("genre").textContent = task.genre;
  find("genre").hidden = !task.genre;
  askToSkip(false);
  for (const name of ["elsewhere", "window"]) forget(name);
  await openDraft();
  form.inert = false;
  window.scrollTo(0, 0);
  // A phone's keyboard would cover the sentence that is to be read first.
  if (matchMedia("(pointer: fine)").matches) boxes[0].field.focus({ preventScroll: true });
}

// The boxes are those of one condition; for a task of another the server makes the page anew, once it has all answers.
async function reloadFor(other) {
  task = null;
  queue.unshift(other);
  showForm(false);
  if (!(await outbox.waiting()).length) location.reload();
}

function showForm(shown) {
  form.hidden = !shown;
  find("empty").hidden = shown;
}

function take(work) {
  const ours = new Set([task, ...queue].map((item) => item?.assignment));
  queue.push(...(work?.tasks ?? []).filter(({ assignment }) => !ours.has(assignment) && !finished.has(assignment)));
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
  outbox.tell({ kind: "left", assignment: left.assignment, action: about.action });
  if (about.action !== "skip") countOne();
  else if (isWritten(body.draft.content)) offerAside(left.assignment, say("notice_aside"));
  await showNext();
}

function countOne() {
  data.progress.done = (data.progress.done + 1) % data.progress.total;
  if (data.progress.done === 0) notify("batch", say("notice_batch", { n: data.progress.total }), { look: "notice" });
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
  if (missing) return say(missing === 1 ? "ask_missing_one" : "ask_missing", { n: missing });
  return questions.missing ? say("ask_question") : "";
}

function showButton() {
  const asked = obstacle();
  find("ask").textContent = asked || say(unusable.checked ? "mark_unusable" : "submit");
  find("submit").setAttribute("aria-disabled", String(Boolean(asked)));
  find("slots").hidden = unusable.checked;
  if (questions.any) questions.root.hidden = unusable.checked;
  find("why").hidden = !unusable.checked;
}

// Drafts

function content() {
  const texts = Object.fromEntries(boxes.filter((box) => box.text).map((box) => [box.name, box.text]));
  const said = { unusable: unusable.checked, note: note.value, responses: questions.read() };
  return { texts, ...said, seconds: watch.read(), device: outbox.device };
}

function isWritten({ texts, note }) {
  return [...Object.values(texts), note].some((text) => text.trim());
}

// Show the newest of what is kept here and on the server; if both were changed apart from each other, ask.
async function openDraft() {
  const kept = await outbox.draft(task.assignment);
  const stored = task.draft;
  const isHere = (kept?.body.revision ?? -1) > (stored?.revision ?? -1);
  const isApart = isHere && stored && stored.content.device !== outbox.device && kept.body.base !== stored.revision;
  base = isApart ? kept.body.base : (stored?.revision ?? 0);
  const newest = isHere ? kept.body : stored;
  showContent(newest?.content ?? { texts: {}, unusable: false, note: "", seconds: {} }, newest?.revision ?? 0);
  if (isApart) askWhich(stored);
}

function showContent(shown, number) {
  revision = number;
  watch.reset(shown.seconds);
  watch.start("total");
  for (const box of boxes) {
    const text = shown.texts[box.name] ?? "";
    if (box.text !== text) box.text = text; // the caret stays where nothing changes
    box.tell("", "");
  }
  questions.show(shown.responses);
  unusable.checked = shown.unusable;
  note.value = shown.note;
  measureAll();
}

// Two versions: the one in this window, and one that another device has stored. Neither is dropped before an answer.
function askWhich(stored) {
  const takeOther = () => {
    base = stored.revision;
    showContent(stored.content, stored.revision);
    outbox.dropDraft(task.assignment).then(() => outbox.flush());
  };
  const keepThis = () => {
    base = stored.revision;
    changed();
  };
  const actions = [
    { text: say("take_other"), run: takeOther },
    { text: say("keep_this"), run: keepThis },
  ];
  const lines = Object.values(stored.content.texts).filter((text) => text.trim());
  notify("elsewhere", say("notice_elsewhere"), { actions, lines, closes: false });
}

function changed() {
  if (!task || composing) return;
  askToSkip(false);
  clearTimeout(measureTimer);
  measureTimer = setTimeout(measureAll, MEASURE_PAUSE);
  revision = Math.max(Date.now(), revision + 1);
  const path = `/api/assignments/${task.assignment}/draft`;
  const body = { revision, base, content: content() };
  outbox.keepDraft(task.assignment, path, body).catch(() => notify("device", say("notice_device")));
  outbox.tell({ kind: "draft", assignment: task.assignment, body });
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
    if (box || unusable.checked) (unusable.checked ? note : box.field).focus();
    else questions.focus(questions.missing);
    return;
  }
  const written = content();
  if (unusable.checked) {
    leave("unusable", { key: newKey(), note: note.value }, { action: "unusable", content: written });
    return;
  }
  const hypotheses = boxes.filter((box) => box.text.trim()).map(({ label, level, text }) => ({ label, level, text }));
  const body = { key: newKey(), hypotheses, timings: written.seconds, responses: written.responses };
  leave("submit", body, { action: "submit", content: written });
}

function askToSkip(asks) {
  asking = asks;
  find("skip-words").textContent = say(asks ? "skip_sure" : "skip");
}

function skip() {
  if (!task || composing) return;
  const written = content();
  if (!asking && isWritten(written)) return askToSkip(true);
  const draft = { revision: Math.max(Date.now(), revision + 1), content: written };
  leave("skip", { draft }, { action: "skip", content: written });
}

// Offer what was written for a sentence that was skipped.
function offerAside(assignment, text) {
  const about = { assignment, action: "resume" };
  const run = () => outbox.add("POST", `/api/assignments/${assignment}/resume`, {}, about);
  notify("aside", text, { actions: [{ text: say("take_up"), run }], look: "notice" });
}

function focusAfter(box) {
  if (box + 1 < boxes.length) boxes[box + 1].field.focus();
  else if (questions.any) questions.focus();
  else find("submit").focus();
}

function keyPressed(event) {
  if (event.isComposing || event.keyCode === 229) return; // the key belongs to the input method
  const box = boxes.findIndex(({ field }) => field === event.target);
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) submit();
  else if (event.key === "Enter" && box >= 0 && !event.shiftKey) focusAfter(box);
  else if (event.altKey && event.code === "KeyS") skip();
  else if (event.altKey && event.code === "KeyX") unusable.click();
  else return;
  event.preventDefault();
}

// What the outbox tells

function sent(entry, answer) {
  const { assignment, action } = entry.about;
  if (action === "draft") return heardOfDraft(entry, answer);
  if (action === "resume") return takeUp(answer.work.tasks[0]);
  if (answer.state === "late") notify("late", say("notice_late"));
  outbox.tell({ kind: "sent", assignment });
  goOn(answer.work);
}

function heardOfDraft(entry, { revision: stands, draft: other }) {
  if (task?.assignment !== entry.about.assignment) return;
  if (!other) base = Math.max(base, stands);
  else if (other.content.device !== outbox.device) askWhich(other);
}

function takeUp(item) {
  finished.delete(item.assignment);
  if (task) task.draft = { revision, content: content() };
  queue = [item, ...(task ? [task] : []), ...queue];
  showNext();
}

function goOn(work) {
  take(work);
  if (task) return;
  if (queue.length) showNext();
  else location.reload(); // the server says why there is nothing to do
}

async function refused(entry, problem) {
  const { assignment, action, content: written } = entry.about;
  outbox.tell({ kind: "sent", assignment });
  if (action === "draft" && task?.assignment !== assignment) return;
  if (problem.status === 422) {
    finished.delete(assignment);
    revision = Math.max(Date.now(), revision + 1);
    const body = { revision, content: written };
    await outbox.keepDraft(assignment, `/api/assignments/${assignment}/draft`, body);
    const actions = [{ text: say("open_again"), run: () => location.reload() }];
    notify("refused", say("notice_refused", { reason: problem.message }), { actions });
    return;
  }
  // What was typed for a task that is over stands in the notice, and nowhere else any more.
  const lines = Object.values((written ?? entry.body.content)?.texts ?? {});
  notify("refused", problem.message, { lines });
  if (task?.assignment === assignment) await showNext();
  if (!task) goOn(await askForWork(outbox, "write"));
}

// What the person's other windows tell

async function heard({ kind, assignment, action, body }) {
  const isShown = task?.assignment === assignment;
  if (kind === "draft" && isShown && body.revision > revision) {
    base = body.base;
    showContent(body.content, body.revision);
    notify("window", say("notice_window"), { look: "notice" });
  } else if (kind === "left") {
    finished.add(assignment);
    queue = queue.filter((item) => item.assignment !== assignment);
    if (!isShown) return;
    if (action !== "skip") countOne();
    clearTimeout(draftTimer);
    outbox.flush();
    await showNext();
    notify("left", say(action === "skip" ? "notice_window_skipped" : "notice_window_sent"), { look: "notice" });
  } else if (kind === "sent" && !task) goOn(await askForWork(outbox, "write"));
}

// The heads of the columns stay below what is given, however high that is.
function keepHeadsInView() {
  const given = document.querySelector(".given");
  const measured = () => document.documentElement.style.setProperty("--given", `${given.offsetHeight}px`);
  new ResizeObserver(measured).observe(given);
}

function listen() {
  keepHeadsInView();
  form.addEventListener("submit", (event) => (event.preventDefault(), submit()));
  find("skip").addEventListener("click", skip);
  find("skip").addEventListener("blur", () => askToSkip(false));
  unusable.addEventListener("change", () => (showButton(), changed(), unusable.checked && note.focus()));
  questions.root?.addEventListener("input", () => (showButton(), changed()));
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
  outbox = await openOutbox({ sent, refused, heard });
  for (const { assignment, action } of await outbox.waiting()) action === "draft" || finished.add(assignment);
  take(data.work);
  listen();
  await showNext();
  if (data.aside) offerAside(data.aside.assignment, say("notice_aside_before", { premise: data.aside.premise }));
  outbox.flushAll();
}

start();
