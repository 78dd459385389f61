// A formula that is wider than the page scrolls within itself; a keyboard must be able to reach it then.
// (The theme does the same for code and tables.)
"use strict";

(() => {
  const formulas = [...document.querySelectorAll(".bd-article div.math > .katex-display")];

  function mark(formula) {
    if (formula.scrollWidth > formula.clientWidth) {
      formula.tabIndex = 0;
    } else {
      formula.removeAttribute("tabindex");
    }
  }

  const seen = new ResizeObserver((entries) => entries.forEach((entry) => mark(entry.target)));
  formulas.forEach((formula) => seen.observe(formula));
  // letters that arrive late make a formula wider, but not its box
  document.fonts?.ready.then(() => formulas.forEach(mark));
})();
