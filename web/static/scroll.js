// Scrolling.
"use strict";

(() => {
  // What is wider than the page scrolls within itself; a keyboard must be able to reach it then. The theme
  // sees to code and tables, except that it does not see folded code on a small screen (see book.css).
  const formulas = [...document.querySelectorAll(".bd-article div.math > .katex-display")];

  function mark(element) {
    if (element.scrollWidth > element.clientWidth) {
      element.tabIndex = 0;
    } else {
      element.removeAttribute("tabindex");
    }
  }

  function markFormula(formula) {
    mark(formula);
    if (formula.tabIndex === 0) {
      formula.setAttribute("role", "group");
      formula.setAttribute("aria-label", "Formula, wider than the page");
    } else {
      formula.removeAttribute("role");
      formula.removeAttribute("aria-label");
    }
  }

  // To know the width of a formula far below it must be laid out. All at once that would hold the page up for a
  // quarter of a second on a phone, so it is done one by one while nothing else is to be done.
  const waiting = new Set();
  const whenIdle = globalThis.requestIdleCallback ?? ((work) => setTimeout(work, 1, { timeRemaining: () => 0 }));

  function markSome(idle) {
    for (const formula of waiting) {
      waiting.delete(formula);
      markFormula(formula);
      if (idle.timeRemaining() <= 1) break;
    }
    if (waiting.size) whenIdle(markSome);
  }

  function markWhenIdle(some) {
    if (!waiting.size && some.length) whenIdle(markSome);
    some.forEach((formula) => waiting.add(formula));
  }

  const seen = new ResizeObserver((entries) => markWhenIdle(entries.map((entry) => entry.target)));
  formulas.forEach((formula) => seen.observe(formula));
  // letters that arrive late make a formula wider, but not its box
  document.fonts.addEventListener("loadingdone", () => markWhenIdle(formulas));
  document.addEventListener("toggle", (event) => event.target.querySelectorAll("pre").forEach(mark), true);

  // What is far away has a height that is guessed (see book.css). Where a link leads, the guesses are replaced
  // by heights, and the place moves: go there again, until it stays.
  function goToAnchor(times) {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || times === 0) return;
    target.scrollIntoView({ behavior: "instant" });
    requestAnimationFrame(() => goToAnchor(times - 1));
  }

  // Who comes back is put by the browser where they were: not at the anchor, if the entry in its history has been
  // visited before.
  function arrive(isNew) {
    if (isNew) goToAnchor(5);
    if (!history.state) history.replaceState({ visited: true }, "");
  }

  addEventListener("load", () => arrive(performance.getEntriesByType("navigation")[0]?.type === "navigate"));
  addEventListener("hashchange", () => arrive(!history.state));
})();
