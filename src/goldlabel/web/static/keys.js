// A key for every button and link that names one in data-key.

document.addEventListener("keydown", (event) => {
  if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.target.matches("input, textarea, select")) return;
  const wanted = event.key.toLowerCase();
  const target = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === wanted);
  if (!target) return;
  event.preventDefault();
  target.click();
});
