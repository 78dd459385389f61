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

  const markAll = () => formulas.forEach(mark);
  const seen = new ResizeObserver((entries) => entries.forEach((entry) => mark(entry.target)));
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
  addEventListener("load", go);
  addEventListener("hashchange", go);
})();
