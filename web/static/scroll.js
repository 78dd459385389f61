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

  const markAll = () => formulas.forEach(markFormula);
  const seen = new ResizeObserver((entries) => entries.forEach((entry) => markFormula(entry.target)));
  formulas.forEach((formula) => seen.observe(formula));
  addEventListener("load", markAll);
  // letters that arrive late make a formula wider, but not its box
  document.fonts.addEventListener("loadingdone", markAll);
  document.addEventListener("toggle", (event) => event.target.querySelectorAll("pre").forEach(mark), true);

  // What is far away has a height that is guessed (see book.css). Where a link leads, the guesses are replaced
  // by heights, and the place moves: go there again, until it stays.
  function goToAnchor(times) {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target || times === 0) return;
    target.scrollIntoView({ behavior: "instant" });
    requestAnimationFrame(() => goToAnchor(times - 1));
  }

  const go = () => goToAnchor(5);
  addEventListener("load", () => {
    // who comes back is put by the browser where they were
    if (performance.getEntriesByType("navigation")[0]?.type === "navigate") go();
  });
  addEventListener("hashchange", go);
})();
