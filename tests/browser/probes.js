// Questions to a page, asked from outside it: checks.py puts this into every page that it loads.
"use strict";

globalThis.mcProbe = (() => {
  const article = () => document.querySelector("article") ?? document.querySelector("main") ?? document.body;
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
    if (over <= 0) return beyondColumn();
    const wide = all("body *").filter((e) => e.getBoundingClientRect().right > width + 1 && !scrollsWithin(e));
    return [`the page scrolls by ${over} px, because of ${names(innermost(wide))}`];
  }

  const innermost = (some) => some.filter((e) => !some.some((other) => other !== e && e.contains(other)));
  const names = (some) => some.slice(0, 3).map(place).join(", ") || "?";

  // The text may stand out of its column and still not make the page scroll, since there is room beside it. A
  // formula's box is wider than its signs by a hair, notes stand beside the column, and what is there for the
  // pointer only, or for the ear, is not to be seen.
  function beyondColumn() {
    const column = article();
    const right = column.getBoundingClientRect().right - parseFloat(getComputedStyle(column).paddingRight);
    const beside = "aside.margin, aside.margin *, .katex *, svg *, .headerlink, .mc-heard, .visually-hidden";
    const wide = all(`:not(${beside})`, column).filter((element) => {
      const box = element.getBoundingClientRect();
      return box.width > 1 && box.right > right + 3 && isShown(element) && !scrollsWithin(element);
    });
    return wide.length ? [`wider than the column: ${names(innermost(wide))}`] : [];
  }

  // ---- letters ----

  // The smallest heading of a level and the largest of the next: size and weight must both fall, or stay.
  function headings() {
    const levels = ["h1", "h2", "h3", "h4"].flatMap((level) => {
      const some = all(level, article()).filter(isShown);
      if (!some.length) return [];
      const { fontSize, fontWeight } = getComputedStyle(some[0]);
      return [{ level, size: parseFloat(fontSize), weight: Number(fontWeight) }];
    });
    return levels.slice(1).flatMap((low, i) => {
      const high = levels[i];
      if (low.weight <= high.weight && low.size * 1.1 <= high.size) return [];
      const said = ({ level, size, weight }) => `${level} (${size} px, ${weight})`;
      return [`${said(low)} looks as weighty as ${said(high)}`];
    });
  }

  function code() {
    const wrong = all("pre", article()).flatMap((pre) => {
      const { fontSize, lineHeight } = getComputedStyle(pre);
      const [size, line] = [parseFloat(fontSize), parseFloat(lineHeight)];
      if (size >= 13.5 && !(line < 1.35 * size)) return [];
      return [`${place(pre)} in letters of ${size} px, its lines ${line} px apart`];
    });
    return [...new Set(wrong)].slice(0, 3);
  }

  // ---- looks ----

  const MEANINGS = {
    "in one minute": ".one-minute",
    quiz: ".quiz",
    erratum: ".erratum",
    note: ".note",
    warning: ".warning",
    statement: ".proof:is(.theorem, .lemma, .proposition, .corollary)",
  };

  // What tells boxes apart must not be a colour alone: the line at the side, and the sign before the title.
  function looks() {
    const seen = new Map();
    const wrong = [];
    Object.entries(MEANINGS).forEach(([meaning, selector]) => {
      const box = article().querySelector(`.admonition${selector}`);
      if (!box) return;
      const { borderLeftStyle, borderLeftWidth } = getComputedStyle(box);
      const title = box.querySelector(".admonition-title") ?? box;
      const signs = ["::before", "::after"].map((part) => getComputedStyle(title, part).content.replace(/^(none|normal|"")$/, ""));
      const look = [borderLeftStyle, borderLeftWidth, ...signs].join(" ");
      if (seen.has(look)) wrong.push(`${meaning} looks as ${seen.get(look)} does, but for colours`);
      else seen.set(look, meaning);
    });
    return wrong;
  }

  // A box that goes on below its last words, because something beside it is higher.
  function stretched() {
    return all(".admonition:not(.dropdown)", article()).flatMap((box) => {
      if (!isShown(box) || box.closest("aside")) return [];
      const parts = all("p, li, pre, table, details, div.math, img, fieldset", box).filter((part) => !part.closest("aside") && isShown(part));
      const last = Math.max(...parts.map((part) => part.getBoundingClientRect().bottom));
      return parts.length && box.getBoundingClientRect().bottom > last + 40 ? [`${place(box)} goes on below its last words`] : [];
    });
  }

  // ---- colours of links ----

  const GROUNDS = "pre, details, summary, .admonition, td, th, tr, .sd-card, .sd-card-header, .cell_output, aside, figure, blockquote, dt, dd";

  const rgba = (color) => {
    const parts = color.match(/[\d.]+/g).map(Number);
    return parts.length < 4 ? [...parts, 1] : parts;
  };
  const luminance = (color) => {
    const [r, g, b] = rgba(color).map((part) => (part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);

  // Links must be readable on every ground that the page has for text, also where none stands today. Axe sees only
  // where they stand.
  function links() {
    const paints = new Set(all(":is(p, li, td, dd) a[href]:not(.headerlink, .sd-btn, .katex *)", article()).map((a) => getComputedStyle(a).color));
    const grounds = new Map();
    all(GROUNDS, article()).forEach((element) => {
      const color = getComputedStyle(element).backgroundColor;
      if (rgba(color)[3] === 1 && !grounds.has(color)) grounds.set(color, place(element));
    });
    return [...paints].flatMap((paint) =>
      [...grounds].flatMap(([ground, where]) =>
        contrast(paint, ground) < 4.5 ? [`a link would have a contrast of ${contrast(paint, ground).toFixed(1)} on ${where}`] : [],
      ),
    );
  }

  // ---- heights that are guessed before a reader comes near ----

  function growth() {
    const before = document.documentElement.scrollHeight;
    const some = all("p, figure, div.math").filter((part) => getComputedStyle(part).contentVisibility === "auto");
    some.forEach((part) => (part.style.contentVisibility = "visible"));
    const after = document.documentElement.scrollHeight;
    some.forEach((part) => part.style.removeProperty("content-visibility"));
    if (Math.abs(after - before) <= after / 10) return [];
    return [`the page ${after > before ? "grows" : "shrinks"} by more than a tenth of its height while it is read`];
  }

  // ---- the contents on a small screen ----

  function findDrawers() {
    return ["primary", "secondary"].filter((name) => {
      const button = document.querySelector(`.${name}-toggle`);
      return button && isShown(button) && drawer(name);
    });
  }

  const drawer = (name) => document.getElementById(`pst-${name}-sidebar-modal`);

  // Open it and choose a place of this page in it; the theme moves things when events have been heard.
  async function useDrawer(name) {
    const soon = () => new Promise((resolve) => setTimeout(resolve, 50));
    document.querySelector(`.${name}-toggle`).click();
    await soon();
    if (!drawer(name).open) return `the drawer ${name} does not open`;
    const link = all("a[href]", drawer(name)).filter((a) => a.getAttribute("href").startsWith("#") && isShown(a)).at(-1);
    link?.click();
    await soon();
    if (!drawer(name).open) return "";
    drawer(name).close();
    await soon();
    return link ? `the drawer ${name} stays open when a place was chosen` : "";
  }

  // ---- what is folded ----

  let foldable = [];
  let kinds = new Set();
  let wasClosed = [];

  const control = (fold) =>
    fold.localName === "details" ? fold.querySelector(":scope > summary") : fold.querySelector("button, summary, [tabindex]");
  const body = (fold) => [...fold.children].filter((child) => !child.matches("summary, .admonition-title, button"));
  const unfolded = (fold) => body(fold).some(isShown);

  function findFolds() {
    kinds = new Set();
    const parts = all(".bd-sidebar-primary details").filter(isShown);
    foldable = [...parts, ...all("details, .dropdown, .toggle", article())].filter((fold) => body(fold).length);
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

  // The next fold, from a number on, that is to be opened by a key, and on the way those that no key reaches. Of each
  // kind the first; the others, which are `<details>` of the same class in a parent of the same class, open without one.
  function nextFold(from) {
    const unreached = [];
    for (let number = from; number < foldable.length; number += 1) {
      const fold = foldable[number];
      const state = focusFold(number);
      if (state === "no focus") unreached.push(number);
      if (state !== "closed") continue;
      const kind = [fold, fold.parentElement].map((one) => `${one.localName}.${one.className}`).join(" in ");
      if (!(kinds.has(kind) && fold.localName === "details")) {
        kinds.add(kind);
        return [number, unreached];
      }
      fold.open = true;
    }
    return [null, unreached];
  }

  const closed = (numbers) => numbers.filter((number) => !unfolded(foldable[number]));

  function openAll() {
    wasClosed = findFolds().flatMap((_, number) => (unfolded(foldable[number]) ? [] : [foldable[number]]));
    all("details", article()).forEach((details) => (details.open = true));
    foldable.forEach((fold) => unfolded(fold) || control(fold)?.click());
  }

  // What a reader opens to come to a quiz, not the quiz's answer.
  function openAround() {
    wasClosed = all("details:not([open])", article()).filter((details) => !details.closest(".quiz"));
    wasClosed.forEach((details) => (details.open = true));
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

  // a still picture is for readers without scripts
  const isStill = (number) => all(".mc-still", figures[number]).some(isShown);

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

  // "again" where a second try is given
  function quizState(number, again) {
    const quiz = quizzes[number];
    const options = all("input[type=radio]", quiz);
    if (again) return all("details", quiz).every((details) => details.open) ? "" : "the second miss does not open the answer";
    if (options.length && options.findIndex((option) => option.checked) !== 1) return "the arrow does not choose the next option";
    if (all("select", quiz).some((choice) => !choice.value)) return "a key does not choose a letter";
    if (!quiz.contains(document.activeElement) || document.activeElement.localName !== "button") {
      return "Tab does not go from the options to the button";
    }
    const silent = all("select", quiz).some((choice) => !words(document.getElementById(choice.getAttribute("aria-describedby"))?.textContent ?? ""));
    if (silent) return "nothing is said of a row";
    const said = words(quiz.querySelector("[role=status]")?.textContent ?? "");
    if (!said) return "Enter on the button says nothing";
    const reasons = all(":scope details ol > li", quiz);
    if (reasons.length && !said.includes(words(reasons[1].textContent))) return "it does not give the reason of what was chosen";
    if (all("details", quiz).every((details) => details.open)) {
      return options.length > 2 && !/right/i.test(said) ? "the first miss opens the answer" : "";
    }
    return options.length === 2 ? "Enter on the button does not open the answer" : "again";
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

  // A chapter has thirty thousand elements, most of them inside formulas and code, where they differ in nothing
  // that axe looks at. A formula becomes a box of its size that holds its text, unless it scrolls or has
  // colours of its own, and loses its MathML, unless it stands in what needs a name; of formulas, words and letters
  // that look alike on the same ground one keeps its wrapper. What is not laid out before a reader comes near has
  // guessed heights, and axe would see it lie upon its neighbours.
  // Everything is looked at before anything is changed: else each change would lay out the whole page again.
  function slim() {
    all("p, figure, div.math").forEach((part) => (part.style.contentVisibility = "visible"));
    const scrolls = (display) => display && display.scrollWidth > display.clientWidth;
    const formulas = all(".katex-html").filter(
      (formula) =>
        !scrolls(formula.closest(".katex-display")) && // nor in a table: its columns would be other ones
        !formula.closest("table") &&
        !formula.querySelector("[style*=color]"),
    );
    const heights = formulas.map((formula) => formula.scrollHeight);
    const spare = repeated();
    formulas.forEach((formula, i) => {
      formula.textContent = formula.textContent;
      if (!formula.closest(".katex-display")) { // it breaks between lines as before, for text: anywhere
        Object.assign(formula.style, { overflowWrap: "anywhere", whiteSpace: "normal" });
        return;
      }
      Object.assign(formula.style, { display: "block", height: `${heights[i]}px`, overflow: "hidden" });
    });
    all("math").forEach((math) => {
      if (math.closest(NAMED)) math.textContent = math.textContent;
      else (math.closest(".katex-mathml") ?? math).remove();
    });
    spare.forEach((wrapper) => wrapper.replaceWith(...wrapper.childNodes));
  }

  // what has its words, or those of its parts, as its name
  const NAMED = "a, button, caption, figcaption, h1, h2, h3, h4, h5, h6, label, legend, summary, th";

  // Wrappers of letters and words that look as another one does, or are not seen.
  function repeated() {
    const seen = new Set();
    const parts = [
      [".highlight pre", "span[class]"],
      ["dt.sig", "span[class], em[class]"],
      ["p", "em, strong, .pre"],
      ["p", ":is(.beside-formula, .math, .katex, .katex-html):not(table *, :has([style*=color]))"],
    ];
    return parts.flatMap(([part, wrappers]) =>
      all(part).flatMap((element) => {
        let ground = element;
        while (ground.parentElement && getComputedStyle(ground).backgroundColor === "rgba(0, 0, 0, 0)") {
          ground = ground.parentElement;
        }
        const on = `${ground.localName}.${ground.className}`;
        return all(wrappers, element).filter((wrapper) => {
          if (wrapper.id || wrapper.closest(`${NAMED}, .katex-html *`)) return false;
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
    return violations.map(({ id, nodes }) => {
      const places = nodes.slice(0, 3).map(({ target }) => String(target.at(-1)));
      return [id, nodes.length > 3 ? [...places, `${nodes.length - 3} more`] : places];
    });
  }

  // ---- on paper ----

  const OFF_PAPER = ".mc-widget, .run-menu, .quiz-feedback, .katex, dialog, nav, footer, .hidden, summary";

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
      const still = [...widget.querySelectorAll("img, svg, table")].some((part) => isShown(part) && part.getBoundingClientRect().width > 50);
      if (!still) wrong.push(`widget ${widget.dataset.widget ?? place(widget)}: no figure in its place`);
    });
    all(".quiz").forEach((quiz, i) => {
      const answer = quiz.querySelector("details");
      if (!answer || !words(answer.textContent)) wrong.push(`quiz ${i + 1}: no answer to unfold`);
    });
    return wrong;
  }

  // the contents, which are a drawer on a small screen: something in them can be seen
  function contents() {
    const found = document.querySelector(".bd-sidebar-primary");
    const seen = found && all("a, summary", found).some((part) => isShown(part) && part.getBoundingClientRect().right > 0);
    return found && !seen ? ["the contents cannot be reached on a small screen"] : [];
  }

  return {
    alts, axe: axeRun, closeAgain, closed, code, contents, findDrawers, findFolds, findMatches, findQuizzes, findSortable,
    findWidgets, focusControl, focusHead, focusMatch, focusQuiz, followsMode, formulas, growth, headings,
    isStill, links, looks, nextFold, openAll, openAround, quizState, read, results, settled, sideways, slim, sortState, stretched,
    unprinted, unscripted, useDrawer,
  }; // prettier-ignore
})();
