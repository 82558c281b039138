// Tables with many columns are cards on a phone: each cell is told its column, which the style sheet then shows before
// it. They stay tables to whoever has the page read out.

function tell(table) {
  const names = [...table.querySelectorAll("thead tr:last-child > *")]
    .flatMap((head) => Array(head.colSpan).fill(head.textContent.trim()));
  table.setAttribute("role", "table");
  for (const part of table.querySelectorAll("thead, tbody, tfoot")) part.setAttribute("role", "rowgroup");
  for (const row of table.querySelectorAll("tr")) {
    row.setAttribute("role", "row");
    let column = 0;
    for (const cell of row.cells) {
      const inHead = row.parentElement.tagName === "THEAD";
      cell.setAttribute("role", cell.tagName === "TD" ? "cell" : inHead ? "columnheader" : "rowheader");
      if (!inHead && cell.colSpan === 1) cell.dataset.column = names[column] ?? "";
      if (!inHead && ["", "–"].includes(cell.textContent.trim()) && !cell.firstElementChild) cell.dataset.empty = "";
      column += cell.colSpan;
    }
  }
}

function tellAll() {
  document.querySelectorAll("table.figures:not(.tight):not([role])").forEach(tell);
}

tellAll();
new MutationObserver(tellAll).observe(document.getElementById("main"), { childList: true, subtree: true });
document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
