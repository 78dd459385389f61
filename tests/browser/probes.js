// Questions to a page, asked from outside it: checks.py puts this into every page that it loads.
"use strict";

globalThis.mcProbe = (() => {
  const article = () => document.querySelector("article") ?? document.body;
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const words = (text) => text.replace(/\s+/g, " ").trim();
  const short = (text) => (words(text).length > 70 ? `${words(text).slice(0, 70)}…` : words(text));
  const isShown = (element) => element.checkVisibility({ checkVisibilityCSS: true, contentVisibilityAuto: false });

  // the tag, and what tells an element from others like it
  function place(element) {
    const own = element.id ? `#${element.id}` : element.classList[0] ? `.${element.classList[0]}` : "";
    const near = own.startsWith("#") ? null : element.parentElement?.closest("[id]");
    return `${near ? `#${near.id} ` : ""}${element.localName}${own}`;
  }

  function followsMode(mode) {
    return new Promise((resolve) => {
      const root = document.documentElement;
      const start = performance.now();
      (function look() {
        if (root.dataset.theme === mode) resolve([]);
        else if (performance.now() - start > 2000) {
          resolve([`the reader's system is ${mode}, the page is ${root.dataset.theme ?? "always the same"}`]);
        } else setTimeout(look, 20);
      })();
    });
  }

  // ---- formulas ----

  const RAW = /\\\(.*|\\\[.*|\\begin\{.*|\$[^\s$][^$]*\$|\$\$.*/;

  function formulas() {
    const wrong = all(".katex-error, merror, .katex [mathcolor='#cc0000']").map(
      (element) => `an error: ${short(element.textContent)}`,
    );
    all(".math").forEach((element) => {
      if (!element.querySelector(".katex-html, .katex-error")) wrong.push(`not typeset: ${short(element.textContent)}`);
    });
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const parent = walker.currentNode.parentElement;
      if (parent.closest("pre, code, script, style, noscript, textarea, .katex, .katex-error, .math")) continue;
      const raw = RAW.exec(words(walker.currentNode.data));
      if (raw) wrong.push(`TeX in the text: ${short(raw[0])}`);
    }
    return wrong;
  }

  // ---- alternative texts ----

  const FILE = /\.(svg|png|jpe?g|gif|webp|avif)$|^[\w./-]*[0-9a-f]{16}/i;

  function alts() {
    const wrong = [];
    all("img").forEach((img) => {
      const alt = words(img.getAttribute("alt") ?? "");
      const file = img.getAttribute("src").split("/").at(-1);
      if (["presentation", "none"].includes(img.getAttribute("role")) || img.closest("[aria-hidden=true]")) return;
      if (!alt) wrong.push(`${file} has no alternative text`);
      else if (FILE.test(alt)) wrong.push(`${file} has the name of a file for its alternative text: ${alt}`);
      // a picture of the text says what is to be seen; one in a link or beside a name may be brief
      else if (article().contains(img) && !img.closest("a") && alt.split(" ").length < 4) {
        wrong.push(`${file} has an alternative text that says nothing: ${alt}`);
      }
    });
    all("[role=img]:not(img, [aria-hidden=true])").forEach((drawing) => {
      const name = drawing.ariaLabel ?? drawing.getAttribute("aria-labelledby") ?? drawing.querySelector("title")?.textContent;
      if (!words(name ?? "")) wrong.push(`${place(drawing)} has no alternative text`);
    });
    return wrong;
  }

  // ---- what is wider than the window ----

  function scrollsWithin(element) {
    for (let e = element.parentElement; e && e !== document.body; e = e.parentElement) {
      if (getComputedStyle(e).overflowX !== "visible") return true;
    }
    return false;
  }

  function sideways() {
    const width = document.documentElement.clientWidth;
    const over = Math.max(document.documentElement.scrollWidth, document.body.scrollWidth) - width;
    if (over <= 0) return [];
    const wide = all("body *").filter((e) => e.getBoundingClientRect().right > width + 1 && !scrollsWithin(e));
    const innermost = wide.filter((e) => !wide.some((other) => other !== e && e.contains(other)));
    return [`the page scrolls by ${over} px, because of ${innermost.slice(0, 3).map(place).join(", ") || "?"}`];
  }

  // ---- what is folded ----

  let foldable = [];
  let wasClosed = [];

  const control = (fold) =>
    fold.localName === "details" ? fold.querySelector(":scope > summary") : fold.querySelector("button, summary, [tabindex]");
  const body = (fold) => [...fold.children].filter((child) => !child.matches("summary, .admonition-title, button"));
  const unfolded = (fold) => body(fold).some(isShown);

  function findFolds() {
    foldable = all("details, .dropdown, .toggle", article()).filter((fold) => body(fold).length);
    return foldable.map((fold) => {
      const title = fold.querySelector("summary, .admonition-title");
      return `${fold.id ? `#${fold.id}` : fold.localName} “${short(title?.textContent ?? "")}”`;
    });
  }

  function focusFold(number) {
    const fold = foldable[number];
    if (unfolded(fold)) return "open";
    const opener = control(fold);
    opener?.focus();
    return opener && document.activeElement === opener && opener.tabIndex >= 0 ? "closed" : "no focus";
  }

  const closed = (numbers) => numbers.filter((number) => !unfolded(foldable[number]));

  function openAll() {
    wasClosed = findFolds().flatMap((_, number) => (unfolded(foldable[number]) ? [] : [foldable[number]]));
    all("details", article()).forEach((details) => (details.open = true));
    foldable.forEach((fold) => unfolded(fold) || control(fold)?.click());
  }

  function closeAgain() {
    wasClosed.forEach((fold) => (fold.localName === "details" ? (fold.open = false) : control(fold)?.click()));
  }

  // ---- interactive figures and quizzes ----

  let figures = [];
  let quizzes = [];

  const CONTROLS = {
    range: "input[type=range]",
    radio: "input[type=radio]:checked",
    button: 'button:not([aria-pressed="true"])', // to choose again what is chosen changes nothing
    select: "select",
    application: "[role=application]", // a picture with keys of its own
  };

  function findWidgets() {
    figures = all(".mc-widget");
    return figures.map((figure) => [
      `widget ${figure.dataset.widget ?? place(figure)}`,
      Object.keys(CONTROLS).filter((kind) => figure.querySelector(CONTROLS[kind])),
    ]);
  }

  const read = (number) => words(figures[number].innerText);

  function focusControl(number, kind) {
    const before = read(number);
    figures[number].querySelector(CONTROLS[kind]).focus();
    return before;
  }

  function findQuizzes() {
    quizzes = all(".quiz:not(.match)");
    return quizzes.map((quiz, i) => `quiz ${i + 1}`);
  }

  function findMatches() {
    quizzes = all(".match");
    return quizzes.map((match, i) => [`match ${i + 1}`, all("select", match).length]);
  }

  function focusMatch(number) {
    const choice = quizzes[number].querySelector("select");
    choice?.focus();
    return Boolean(choice) && document.activeElement === choice;
  }

  function focusQuiz(number) {
    const option = quizzes[number].querySelector("input[type=radio]");
    option?.focus();
    return Boolean(option) && document.activeElement === option;
  }

  function quizState(number) {
    const quiz = quizzes[number];
    const options = all("input[type=radio]", quiz);
    if (options.length && options.findIndex((option) => option.checked) !== 1) return "the arrow does not choose the next option";
    if (all("select", quiz).some((choice) => !choice.value)) return "a key does not choose a letter";
    if (!quiz.contains(document.activeElement) || document.activeElement.localName !== "button") {
      return "Tab does not go from the options to the button";
    }
    const silent = all("select", quiz).some((choice) => !words(document.getElementById(choice.getAttribute("aria-describedby"))?.textContent ?? ""));
    if (silent) return "nothing is said of a row";
    if (!words(quiz.querySelector("[role=status]")?.textContent ?? "")) return "Enter on the button says nothing";
    return all("details", quiz).every((details) => details.open) ? "" : "Enter on the button does not open the answer";
  }

  // ---- tables of results ----

  let tables = [];

  const nameOf = (table) => `“${short(table.caption?.textContent ?? "")}”`;

  function results() {
    return all("table.results").flatMap((table, i) => {
      const wrong = [];
      const say = (complaint) => wrong.push(`table ${i + 1} ${nameOf(table)}: ${complaint}`);
      if (!words(table.caption?.textContent ?? "")) say("no caption");
      all("th", table).forEach((th) => {
        const scope = th.closest("thead") ? "col" : "row";
        if (th.getAttribute("scope") !== scope) say(`the head “${short(th.textContent)}” is not of a ${scope}`);
        if (!words(th.textContent)) say(`a head of a ${scope} without words`);
      });
      if (!table.tHead?.rows.length) say("no heads of columns");
      all("tbody tr, thead tr", table).forEach((row) => {
        if (row.cells.length !== table.rows[0].cells.length) say(`a row of ${row.cells.length} cells`);
      });
      return wrong;
    });
  }

  function findSortable() {
    tables = all("table.results.sortable");
    return tables.map((table, i) => `sortable table ${i + 1} ${nameOf(table)}`);
  }

  function focusHead(number) {
    const button = tables[number].querySelector("thead th:last-child button");
    button?.focus();
    return Boolean(button) && document.activeElement === button;
  }

  // the sorted direction, the words of the last column from above to below, and what was said
  function sortState(number) {
    const head = tables[number].querySelector("thead th:last-child");
    const cells = all("tbody tr", tables[number]).map((row) => words(row.cells[row.cells.length - 1].textContent));
    const said = all("[role=status]").map((status) => words(status.textContent)).find((text) => text.startsWith("Sorted by"));
    return [head.getAttribute("aria-sort"), cells, said ?? ""];
  }

  // ---- axe ----

  // A chapter has forty thousand elements, most of them inside formulas and code, where they differ in nothing
  // that axe looks at. A formula becomes a box of its size that holds its text, unless it scrolls or has
  // colours of its own; of words and letters that look alike on the same ground one keeps its wrapper. What is
  // not laid out before a reader comes near has guessed heights, and axe would see it lie upon its neighbours.
  // Everything is looked at before anything is changed: else each change would lay out the whole page again.
  function slim() {
    all("p, figure, div.math").forEach((part) => (part.style.contentVisibility = "visible"));
    const scrolls = (display) => display && display.scrollWidth > display.clientWidth;
    const formulas = all(".katex-html").filter(
      (formula) => !scrolls(formula.closest(".katex-display")) && !formula.querySelector("[style*=color]"),
    );
    const heights = formulas.map((formula) => formula.scrollHeight);
    const spare = repeated();
    spare.forEach((wrapper) => wrapper.replaceWith(...wrapper.childNodes));
    formulas.forEach((formula, i) => {
      formula.textContent = formula.textContent;
      if (!formula.closest(".katex-display")) { // it breaks between lines as before, for text: anywhere
        Object.assign(formula.style, { overflowWrap: "anywhere", whiteSpace: "normal" });
        return;
      }
      Object.assign(formula.style, { display: "block", height: `${heights[i]}px`, overflow: "hidden" });
    });
    all("math").forEach((math) => (math.textContent = math.textContent));
  }

  // Wrappers of letters and words that look as another one does, or are not seen.
  function repeated() {
    const seen = new Set();
    const parts = [
      [".highlight pre", "span[class]"],
      ["dt.sig", "span[class], em[class]"],
      ["p", "em, strong, .pre"],
    ];
    return parts.flatMap(([part, wrappers]) =>
      all(part).flatMap((element) => {
        let ground = element;
        while (ground.parentElement && getComputedStyle(ground).backgroundColor === "rgba(0, 0, 0, 0)") {
          ground = ground.parentElement;
        }
        const on = `${ground.localName}.${ground.className}`;
        return all(wrappers, element).filter((wrapper) => {
          if (wrapper.id || wrapper.closest(".katex")) return false;
          const { color, fontSize, fontWeight } = getComputedStyle(wrapper);
          const parent = wrapper.parentElement;
          const look = [wrapper.localName, wrapper.className, parent.localName, parent.className, color, fontSize, fontWeight, on];
          const kind = look.join(" ");
          if (seen.has(kind) || !isShown(wrapper)) return true;
          seen.add(kind);
          return false;
        });
      }),
    );
  }

  // The page marks what scrolls when nothing else is to be done, on a busy machine a while after it was laid out.
  function settled() {
    const start = performance.now();
    const unmarked = (part) => part.scrollWidth > part.clientWidth && part.tabIndex < 0;
    return new Promise((resolve) => {
      (function look() {
        if (performance.now() - start > 2000 || !all(".katex-display, article .highlight pre").some(unmarked)) resolve(null);
        else setTimeout(look, 20);
      })();
    });
  }

  async function axeRun(rules) {
    const { violations } = await axe.run(document, {
      resultTypes: ["violations"],
      preload: false,
      elementRef: true,
      ...(rules.length ? { runOnly: rules } : {}),
    });
    // A formula is read to the reader as MathML, which axe does not count as words.
    const isFormula = ({ element }) => words(element.querySelector("math")?.textContent ?? "");
    violations.forEach((violation) => {
      if (violation.id === "empty-table-header") violation.nodes = violation.nodes.filter((node) => !isFormula(node));
    });
    return violations.filter(({ nodes }) => nodes.length).map(({ id, nodes }) => {
      const places = nodes.slice(0, 3).map(({ target }) => String(target.at(-1)));
      return [id, nodes.length > 3 ? [...places, `${nodes.length - 3} more`] : places];
    });
  }

  // ---- on paper ----

  const OFF_PAPER = ".mc-widget, .quiz-feedback, .katex, dialog, nav, footer, .hidden, summary";

  function unprinted() {
    const lost = all("h1, h2, h3, h4, p, figure, table", article()).filter(
      (element) => !element.closest(OFF_PAPER) && words(element.textContent) && !isShown(element),
    );
    return lost.map((element) => `not printed: ${place(element)} “${short(element.textContent)}”`);
  }

  // ---- without scripts ----

  function unscripted() {
    const wrong = formulas();
    all(".katex-html", article()).forEach((formula) => {
      if (isShown(formula) && !formula.getBoundingClientRect().width) wrong.push(`an empty formula: ${place(formula)}`);
    });
    all("p, li, img, pre, table", article()).forEach((element) => {
      const script = element.closest("noscript, .pst-js-only, dialog, nav, .katex, .collapsed, .expanded");
      const folded = element.closest("details:not([open])");
      if (!script && !folded && !isShown(element) && words(element.textContent || element.alt || "")) {
        wrong.push(`never seen: ${place(element)} “${short(element.textContent || element.alt)}”`);
      }
    });
    all(".mc-widget").forEach((widget) => {
      const figure = document.getElementById(widget.dataset.fallback ?? "");
      const name = widget.dataset.widget ?? place(widget);
      if (!figure?.querySelector("img") || !isShown(figure)) wrong.push(`widget ${name}: no figure in its place`);
    });
    all(".quiz").forEach((quiz, i) => {
      const answer = quiz.querySelector("details");
      if (!answer || !words(answer.textContent)) wrong.push(`quiz ${i + 1}: no answer to unfold`);
    });
    return wrong;
  }

  return {
    alts, axe: axeRun, closeAgain, closed, findFolds, findMatches, findQuizzes, findSortable, findWidgets, focusControl,
    focusFold, focusHead, focusMatch, focusQuiz, followsMode, formulas, openAll, quizState, read, results, settled, sideways,
    slim, sortState, unprinted,
    unscripted,
  }; // prettier-ignore
})();
