// Tables of results that can be sorted: `plot.table` gives its table the class "sortable" when it has more than
// six rows. The heads of the columns become buttons: the first press sorts upwards, the second downwards, the
// third brings back the order in which the table was printed. Numbers are compared by their data-value, words in
// the order of the language; what does not exist comes last, either way. Without this script the table is what
// it is.
//
// The first half of this file is arithmetic without a page, which tests look at.
"use strict";

(() => {
  const collator = new Intl.Collator("en", { numeric: true });

  // "none" -> "ascending" -> "descending" -> "none"
  const next = (direction) => ({ none: "ascending", ascending: "descending" })[direction] ?? "none";

  // A cell's key: a number, a text, or null for what does not exist. Numbers come before words.
  function compare(a, b) {
    if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
    return typeof a === "number" ? a - b : collator.compare(a, b);
  }

  // The rows in their new order: order(["b", "a", null], "ascending") is [1, 0, 2]. Rows that are equal in this
  // column keep the order that `before` has, the one on the page.
  function order(keys, direction, before = keys.map((_, row) => row)) {
    if (direction === "none") return keys.map((_, row) => row);
    const sign = direction === "ascending" ? 1 : -1;
    const there = before.filter((row) => keys[row] !== null);
    const sorted = there.sort((a, b) => sign * compare(keys[a], keys[b])); // stable, by the language's own rule
    return [...sorted, ...before.filter((row) => keys[row] === null)];
  }

  function announcement(head, direction, numeric) {
    if (direction === "none") return "The rows are in their first order.";
    const [up, down] = numeric ? ["smallest first", "largest first"] : ["from A to Z", "from Z to A"];
    return `Sorted by ${head}, ${direction === "ascending" ? up : down}.`;
  }

  const NOTHING = "–";

  // "0.25", "0.250" -> 0.25; undefined, "yes" -> "yes"; undefined, "–" -> null
  function key(value, text) {
    if (value) return Number(value.replace("inf", "Infinity"));
    return text.trim() === NOTHING ? null : text.trim();
  }

  globalThis.mcTables = { announcement, compare, key, next, order };

  if (typeof document === "undefined") return;

  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
  let status = null; // one voice for all tables of the page, there before it speaks

  function enhance(table) {
    const heads = [...table.querySelectorAll(":scope > thead th")];
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const columns = heads.map((_, j) => rows.map(({ cells }) => key(cells[j].dataset.value, cells[j].textContent)));
    let shown = rows.map((_, row) => row);

    heads.forEach((head, j) => {
      const name = head.textContent;
      const button = make("button", { type: "button", textContent: name });
      head.replaceChildren(button);
      button.addEventListener("click", () => {
        const direction = next(head.getAttribute("aria-sort") ?? "none");
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        if (direction !== "none") head.setAttribute("aria-sort", direction);
        shown = order(columns[j], direction, shown);
        body.append(...shown.map((row) => rows[row]));
        status.textContent = announcement(name, direction, columns[j].some((entry) => typeof entry === "number"));
      });
    });
  }

  function start() {
    const tables = document.querySelectorAll("table.results.sortable");
    if (!tables.length) return;
    status = make("p", { className: "results-heard" });
    status.setAttribute("role", "status");
    (document.querySelector("main") ?? document.body).append(status);
    tables.forEach(enhance);
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
