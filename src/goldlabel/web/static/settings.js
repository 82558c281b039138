// Marks the settings that were changed and are not saved yet, and tells how many they are beside the button.

const form = document.getElementById("settings");
const told = document.getElementById("unsaved");

function isChanged(field) {
  return field.type === "checkbox" ? field.checked !== field.defaultChecked : field.value !== field.defaultValue;
}

function tell() {
  const fields = [...form.elements].filter((field) => field.name && field.type !== "hidden");
  for (const field of fields) field.closest(".field, .choice")?.classList.toggle("unsaved", isChanged(field));
  const count = fields.filter(isChanged).length;
  const text = count === 1 ? told.dataset.one : told.dataset.many.replace("{n}", count);
  told.textContent = count ? text : "";
}

form.addEventListener("input", tell);
tell();
form.querySelector("[aria-invalid=true]")?.focus();
