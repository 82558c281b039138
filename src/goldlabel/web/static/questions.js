// Questions of the requester's own, asked after the main answer. A digit takes an option of the question in focus.

export class Questions {
  constructor(root) {
    this.root = root;
    this.fields = root ? [...root.querySelectorAll("[data-question]")] : [];
    for (const field of this.fields) {
      field.addEventListener("keydown", (event) => this.#pressed(field, event));
      for (const radio of radios(field)) radio.addEventListener("click", () => letGo(field, radio));
    }
  }

  get any() {
    return this.fields.length > 0;
  }

  // What was answered, by the names of the questions.
  read() {
    const said = this.fields.map((field) => [field.dataset.question, value(field)]);
    return Object.fromEntries(said.filter(([, text]) => text));
  }

  show(responses) {
    for (const field of this.fields) {
      const text = responses?.[field.dataset.question] ?? "";
      for (const radio of radios(field)) take(radio, radio.value === text);
      const box = field.querySelector("textarea");
      if (box) box.value = text;
    }
  }

  // The first question that must be answered and is not.
  get missing() {
    return this.fields.find((field) => field.dataset.required === "true" && !value(field)) ?? null;
  }

  has(element) {
    return Boolean(this.root?.contains(element));
  }

  focus(field = this.fields[0]) {
    (field.querySelector("input:checked") ?? field.querySelector("input, textarea")).focus();
  }

  // Go to the question after the one in focus; say whether there is one.
  next() {
    const place = this.fields.findIndex((field) => field.contains(document.activeElement));
    const following = this.fields[place + 1];
    if (following) this.focus(following);
    return Boolean(following);
  }

  #pressed(field, event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("textarea")) return;
    const radio = radios(field)[Number(event.key) - 1];
    if (!radio) return;
    event.preventDefault();
    event.stopPropagation();
    radio.focus();
    radio.click();
  }
}

function radios(field) {
  return [...field.querySelectorAll("input[type=radio]")];
}

function value(field) {
  return (field.querySelector("input:checked")?.value ?? field.querySelector("textarea")?.value ?? "").trim();
}

function take(radio, taken) {
  radio.checked = taken;
  radio.dataset.taken = String(taken);
}

// What need not be answered can be left open again: by a second click on the option that was taken.
function letGo(field, radio) {
  const again = radio.dataset.taken === "true" && field.dataset.required !== "true";
  for (const one of radios(field)) take(one, one === radio && !again);
  field.dispatchEvent(new Event("input", { bubbles: true }));
}
