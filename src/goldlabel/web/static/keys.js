// A key for every button, link and choice that names one in data-key; in a field of text only Ctrl ↵, for what has ↵.

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.altKey || event.isComposing) return;
  const wanted = event.key.toLowerCase();
  const held = event.ctrlKey || event.metaKey;
  const inText = event.target.matches("textarea, select, input:not([type=checkbox], [type=radio])");
  if (held ? wanted !== "enter" : inText) return;
  const target = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === wanted);
  if (!target) return;
  event.preventDefault();
  target.click();
});
