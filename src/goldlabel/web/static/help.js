// Help beside the work: the link in the top line and the key ? open it, Escape closes it.

const panel = document.getElementById("help");
const link = document.getElementById("help-link");

function show(shown) {
  panel.hidden = !shown;
  document.body.classList.toggle("with-help", shown);
  link.setAttribute("aria-expanded", String(shown));
  (shown ? panel : link).focus({ preventScroll: true });
}

function isTyping(target) {
  return target.matches("input, textarea, select");
}

link.setAttribute("role", "button");
link.setAttribute("aria-controls", "help");
link.setAttribute("aria-expanded", "false");
link.addEventListener("click", (event) => {
  event.preventDefault();
  show(panel.hidden);
});
document.getElementById("help-close").addEventListener("click", () => show(false));
document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && !panel.hidden) show(false);
  else if ((event.key === "?" || event.key === "？") && !isTyping(event.target)) show(panel.hidden);
  else return;
  event.preventDefault();
});
