// Story or Full: which folds of a page are open (tools/sphinx/folds.py), and what is printed.
//
// The choice is remembered through the book where the browser lets a page remember, else for the page. A link
// that leads into a fold opens it.
"use strict";

(() => {
  const OPEN_IN_FULL = "details.fold:is(.section, .proof, .lectures, .aside)";
  const KEY = "layer";

  // "story" unless the other was chosen: in the address (?layer=full), or earlier
  function chosen(search, remembered) {
    const asked = new URLSearchParams(search).get(KEY);
    return [asked, remembered].find((layer) => layer === "story" || layer === "full") ?? "story";
  }

  globalThis.mcLayers = { chosen };

  if (typeof document === "undefined") return;

  const root = document.documentElement;
  const buttons = [...document.querySelectorAll(".layers button")];
  if (!buttons.length && !document.querySelector("details.fold")) return;

  function remembered() {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // storage can be forbidden, as from the disk
    }
  }

  function remember(layer) {
    try {
      localStorage.setItem(KEY, layer);
    } catch {} // then it holds for this page
  }

  // what the reader sees first below the head of the page, to keep it there
  function anchor() {
    const places = document.querySelectorAll(".bd-article :is(h1, h2, h3, p, div.math, figure, .admonition)");
    return [...places].find((place) => place.getClientRects().length && place.getBoundingClientRect().top > 60);
  }

  function show(layer) {
    root.dataset.layer = layer;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.layer === layer));
    for (const fold of document.querySelectorAll(OPEN_IN_FULL)) fold.open = layer === "full";
  }

  function choose(layer) {
    const kept = anchor();
    const before = kept?.getBoundingClientRect().top;
    show(layer);
    remember(layer);
    if (!kept) return;
    // what was seen may be folded now: then what folds it
    const seen = kept.getClientRects().length ? kept : kept.closest("details.fold:not([open])");
    if (seen) scrollBy({ top: seen.getBoundingClientRect().top - before, behavior: "instant" });
  }

  // a link leads to what is folded, or to a section whose content is
  function reveal() {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let place = target; place; place = place.parentElement) if (place.tagName === "DETAILS") place.open = true;
    target.querySelectorAll(":scope > details.fold.section").forEach((fold) => (fold.open = true));
  }

  for (const button of buttons) button.addEventListener("click", () => choose(button.dataset.layer));
  addEventListener("keydown", (event) => {
    if (event.altKey && event.code === "KeyL" && !event.ctrlKey && !event.metaKey && buttons.length) {
      event.preventDefault();
      choose(root.dataset.layer === "full" ? "story" : "full");
    }
  });
  addEventListener("hashchange", reveal); // before web/static/scroll.js goes there

  // a link to the place where one is already changes no address
  addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='#']");
    if (link && link.hash === location.hash) reveal();
  });

  // ---- paper ----

  let opened = [];
  addEventListener("beforeprint", () => {
    root.dataset.paper ||= root.dataset.layer ?? "story";
    const folds = { story: [], full: document.querySelectorAll(OPEN_IN_FULL), everything: document.querySelectorAll("details") };
    opened = [...folds[root.dataset.paper]].filter((fold) => !fold.open);
    for (const fold of opened) fold.open = true;
  });
  addEventListener("afterprint", () => {
    for (const fold of opened) fold.open = false;
    delete root.dataset.paper;
  });
  for (const button of document.querySelectorAll(".print-menu button")) {
    button.addEventListener("click", () => {
      root.dataset.paper = button.dataset.print;
      print();
    });
  }

  show(chosen(location.search, remembered()));
  reveal();
})();
