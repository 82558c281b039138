// The verifying page: a pair, a key, the next pair. Answers go through the outbox; the last can be taken back.

import { newKey } from "./outbox.js";
import { Questions } from "./questions.js";
import { Stopwatch, askForWork, data, find, nameKeys, notify, openOutbox, say } from "./page.js";

// A key held down, or pressed twice, must not answer a pair that nobody has read.
const READING = 300;
const buttons = [...document.querySelectorAll("[data-answer]")];

const questions = new Questions(find("questions"));

let outbox;
let chosen = null; // the answer, while questions after it are open
let task = null;
let queue = [];
let last = data.last;
let shownAt = 0;
const watch = new Stopwatch();
const finished = new Set();
const paces = [];

function show() {
  find("pair").hidden = !task;
  find("empty").hidden = Boolean(task);
  find("suggestion").hidden = true;
  for (const button of buttons) {
    button.disabled = !task;
    button.querySelector(".before").hidden = !task || task.earlier !== button.dataset.answer;
  }
  find("undo").disabled = !last;
  choose(null);
  const { done, total } = data.progress;
  const pace = paces.length ? say("pace", { seconds: Math.round(paces.reduce((a, b) => a + b) / paces.length) }) : "";
  const count = say("count", { n: Math.min(done + 1, total), total });
  find("count").textContent = [count, pace].filter(Boolean).join(" · ");
  find("progress").value = done;
  find("progress").max = total;
  if (!task) return;
  find("premise").textContent = task.premise;
  find("hypothesis").textContent = task.hypothesis;
  questions.show(task.responses);
  showSuggestion();
  watch.reset();
  watch.start("total");
  shownAt = performance.now();
}

// A suggestion is named as its button is.
function showSuggestion() {
  const button = buttons.find(({ dataset }) => dataset.answer === task.suggestion);
  find("suggestion").hidden = !button;
  find("suggested").textContent = button?.querySelector(".answer").textContent ?? "";
}

function showNext() {
  task = queue.shift() ?? null;
  show();
}

function take(work) {
  const ours = new Set([task, ...queue].map((item) => item?.assignment));
  queue.push(...(work?.tasks ?? []).filter(({ assignment }) => !ours.has(assignment) && !finished.has(assignment)));
}

// With questions to ask, an answer is taken first and sent with what is said to them.
function answer(label) {
  if (!task || performance.now() - shownAt < READING) return;
  if (!questions.any) return send(label);
  choose(label);
  questions.focus();
}

function choose(label) {
  chosen = label;
  if (!questions.any) return;
  questions.root.hidden = !label;
  for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.answer === label));
}

function sendChosen() {
  if (!task || !chosen) return;
  if (questions.missing) questions.focus(questions.missing);
  else send(chosen);
}

async function send(label) {
  const judged = task;
  const responses = questions.read();
  task = null;
  const { total: seconds } = watch.read();
  const key = newKey();
  const about = { assignment: judged.assignment, action: "vote" };
  let entry;
  try {
    entry = await outbox.add("POST", `/api/assignments/${judged.assignment}/vote`, { key, label, seconds, responses }, about);
  } catch {
    task = judged;
    notify("device", say("notice_device"));
    return;
  }
  finished.add(judged.assignment);
  paces.push(seconds);
  last = { task: judged, key, label, responses, entry };
  countOne();
  outbox.tell({ kind: "left", assignment: judged.assignment, last: { task: judged, key, label, responses } });
  showNext();
}

function countOne() {
  data.progress.done += 1;
  data.progress.total = Math.max(data.progress.total, data.progress.done);
}

async function undo() {
  if (!last) return;
  const { task: back, key, label, responses, entry } = last;
  last = null;
  const unsent = entry !== undefined && (await outbox.withdraw(entry));
  if (!unsent) {
    const about = { assignment: back.assignment, action: "undo" };
    await outbox.add("POST", `/api/assignments/${back.assignment}/undo`, { key }, about);
  }
  finished.delete(back.assignment);
  queue = queue.filter((one) => one.assignment !== back.assignment);
  if (task && task.assignment !== back.assignment) queue.unshift(task);
  task = { ...back, earlier: label, responses };
  paces.pop();
  data.progress.done -= 1;
  outbox.tell({ kind: "undone", assignment: back.assignment });
  show();
}

function keyPressed(event) {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (chosen && event.key === "Escape") return event.preventDefault(), choose(null);
  if (chosen && questions.has(event.target)) return keyInQuestions(event);
  const pressed = buttons.find((button) => button.dataset.key === event.key.toLowerCase());
  if (pressed) answer(pressed.dataset.answer);
  else if (event.key === "ArrowLeft") undo();
  else return;
  event.preventDefault();
}

// Enter goes on to the next question, and from the last one sends.
function keyInQuestions(event) {
  if (event.key !== "Enter" || event.shiftKey || event.target.matches("button")) return;
  event.preventDefault();
  if (!questions.next()) sendChosen();
}

function sent(entry, reply) {
  if (reply.state === "late") notify("late", say("notice_late"));
  outbox.tell({ kind: "sent" });
  goOn(reply.work);
}

function goOn(work) {
  take(work);
  if (task) return;
  if (queue.length) showNext();
  else location.reload(); // the server says why there is nothing to do
}

// What the person's other windows tell

async function heard({ kind, assignment, last: other }) {
  if (kind === "left") {
    finished.add(assignment);
    queue = queue.filter((item) => item.assignment !== assignment);
    last = other;
    countOne();
    if (task?.assignment === assignment) {
      notify("window", say("notice_window_judged"), { look: "notice" });
      showNext();
    } else show();
  } else if (kind === "undone") {
    finished.delete(assignment);
    last = null;
    data.progress.done -= 1;
    show();
  } else if (kind === "sent" && !task) goOn(await askForWork(outbox, "verify"));
}

async function refused(entry, problem) {
  outbox.tell({ kind: "sent" });
  if (problem.status === 422) return location.reload(); // what is asked has changed since this page was opened
  notify("refused", problem.message);
  if (entry.about.action === "undo" && task?.assignment === entry.about.assignment) showNext();
  if (!task) goOn(await askForWork(outbox, "verify"));
}

async function start() {
  nameKeys();
  outbox = await openOutbox({ sent, refused, heard });
  for (const { assignment, action } of await outbox.waiting()) {
    if (action === "vote") finished.add(assignment);
    else finished.delete(assignment);
  }
  take(data.work);
  for (const button of buttons) button.addEventListener("click", () => answer(button.dataset.answer));
  find("send")?.addEventListener("click", sendChosen);
  find("back")?.addEventListener("click", () => choose(null));
  find("undo").addEventListener("click", undo);
  document.addEventListener("keydown", keyPressed);
  showNext();
  outbox.flushAll();
}

start();
