/* Tables sort by a click on a column's name, and show the rows that have all words of the filter; a link opens the folds
   around what it leads to. */
(() => {
  const reveal = () => {
    const target = document.querySelector(":target");
    for (let place = target; place; place = place.parentElement) if (place.localName === "details") place.open = true;
    target?.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  addEventListener("load", reveal);
  const key = (row, place) => {
    const cell = row.cells[place];
    return cell.dataset.value ?? cell.textContent.trim();
  };
  const compare = (first, second) => {
    if (!first || !second) return (first ? 0 : 1) - (second ? 0 : 1); // what is empty comes last
    const [one, other] = [Number.parseFloat(first), Number.parseFloat(second)];
    return Number.isFinite(one) && Number.isFinite(other) ? one - other : first.localeCompare(second);
  };
  for (const holder of document.querySelectorAll(".k-table")) {
    const body = holder.querySelector("tbody");
    const rows = [...body.rows];
    const heads = [...holder.querySelectorAll("thead th")];
    if (rows.length > 1) {
      heads.forEach((head, place) => {
        const button = document.createElement("button");
        button.type = "button";
        button.append(...head.childNodes);
        head.append(button);
        button.addEventListener("click", () => {
          const sign = head.getAttribute("aria-sort") === "descending" ? 1 : head.ariaSort ? -1 : head.classList.contains("number") ? -1 : 1;
          heads.forEach((other) => other.removeAttribute("aria-sort"));
          head.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
          const keyed = rows.map((row) => [key(row, place), row]);
          keyed.sort(([first], [second]) => (first && second ? sign * compare(first, second) : compare(first, second)));
          body.append(...keyed.map(([, row]) => row));
        });
      });
    }
    const filter = holder.querySelector(".k-filter");
    if (!filter) continue;
    filter.hidden = false;
    filter.querySelector("input").addEventListener("input", ({ target }) => {
      const words = target.value.toLowerCase().split(/\s+/);
      rows.forEach((row) => (row.hidden = !words.every((word) => row.textContent.toLowerCase().includes(word))));
      const shown = rows.filter((row) => !row.hidden).length;
      const told = filter.dataset.shown.replace("{shown}", shown).replace("{rows}", rows.length);
      filter.querySelector("small").textContent = shown < rows.length ? told : "";
    });
  }
})();
