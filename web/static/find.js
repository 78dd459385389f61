// The search of the notation: one field that keeps, of all tables of the page, the rows with a symbol or a word.
//
// A letter, also written out (g, γ, gamma, \gamma), is looked for as a symbol, in the columns that hold symbols; what
// has an index or a bracket (f_y, \Phi_\rho) as a part of one; anything else as words. Rows of other pages come with
// the page (tools/sphinx/notation.py), and are answered by links. Without this script the page shows all.
//
// The first half of this file is arithmetic without a page, which tests look at.
"use strict";

(() => {
  const GREEK = Object.fromEntries(
    (
      "α alpha β beta γ gamma δ delta ε epsilon ϵ epsilon ζ zeta η eta θ theta ϑ theta ι iota κ kappa λ lambda μ mu " +
      "µ mu ν nu ξ xi π pi ρ rho σ sigma ς sigma τ tau υ upsilon φ phi ϕ phi χ chi ψ psi ω omega " +
      "Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Φ Phi Ψ Psi Ω Omega ℍ H ℝ R ℕ N 𝔼 E ℙ P"
    )
      .split(" ")
      .reduce((pairs, one, n, all) => (n % 2 ? pairs : [...pairs, [one, all[n + 1]]]), []),
  );
  const NAMES = new Set(Object.values(GREEK).filter((name) => name.length > 1));
  const FONTS = /\\(?:math(?:cal|bb|bf|sf|rm|frak|it)|operatorname|text(?:rm|it)?|[tb]frac|d?frac|left|right|big[lrg]*)(?![A-Za-z])/gi;

  // "\mathcal F_{\varepsilon}" -> "F_\epsilon"
  const plain = (tex) =>
    [...tex]
      .map((sign) => (sign in GREEK ? (GREEK[sign].length > 1 ? `\\${GREEK[sign]} ` : GREEK[sign]) : sign))
      .join("")
      .replace(/\\var(?=epsilon|theta|rho|sigma|phi|kappa|pi)/g, "\\")
      .replace(FONTS, "")
      .replace(/[{}$]/g, "")
      .replace(/\\(?=\W)|\\[,;!:]/g, "")
      .replace(/\s+/g, " ")
      .trim();

  const joined = (tex) => plain(tex).replace(/[\s\\]/g, "");

  // The symbols of a formula: "\hat R_{S,\rho}" -> hat R S rho; names of operators are one.
  function symbols(tex) {
    const operators = [...tex.matchAll(/\\(?:operatorname|mathrm|text)\{([A-Za-z]+)\}/g)].map((match) => match[1]);
    const rest = plain(tex.replace(/\\(?:operatorname|mathrm|text)\{[A-Za-z]+\}/g, " "));
    return new Set([...operators, ...(rest.match(/\\[A-Za-z]+|[A-Za-z]/g) ?? []).map((one) => one.replace("\\", ""))]);
  }

  // A row: the formulas of its symbols, and its words.
  const row = (formulas, words) => ({
    symbols: new Set(formulas.flatMap((tex) => [...symbols(tex)])),
    formulas: formulas.map(joined),
    words: words.toLowerCase().replace(/[‐‑–−]/g, "-"),
  });

  const lower = (set) => new Set([...set].map((one) => one.toLowerCase()));

  // What was typed, as tests of a row, all of which it must pass; `loose` does not mind capitals.
  function tests(typed, loose = false) {
    return typed
      .replace(/[‐‑–−]/g, "-")
      .split(/\s+/)
      .filter((term) => joined(term))
      .map((term) => {
        const name = joined(term);
        const small = name.toLowerCase();
        if (/^[A-Za-z]$/.test(name) || NAMES.has(name) || (loose && NAMES.has(small))) {
          const word = name.length > 1 ? new RegExp(`(^|[^a-z])${small}($|[^a-z])`) : null;
          return (one) =>
            (loose ? lower(one.symbols).has(small) : one.symbols.has(name)) || Boolean(word?.test(one.words));
        }
        if (/[_^(\\]/.test(term)) {
          return (one) =>
            one.formulas.some((tex) => (loose ? tex.toLowerCase().includes(small) : tex.includes(name)));
        }
        return (one) =>
          one.words.includes(term.toLowerCase()) ||
          [...one.symbols].some((symbol) => symbol.length > 1 && symbol.toLowerCase().startsWith(small));
      });
  }

  // Which of the rows have what was typed. Capitals count, unless nothing is found with them.
  function find(typed, rows) {
    const pass = (loose) => {
      const all = tests(typed, loose);
      return rows.map((one) => all.every((test) => test(one)));
    };
    const exact = pass(false);
    return exact.includes(true) ? exact : pass(true);
  }

  globalThis.mcFind = { find, row, symbols };

  if (typeof document === "undefined") return;

  const source = document.querySelector("script.find");
  if (!source) return;
  const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
  const article = document.querySelector(".bd-article");

  const tex = (cells) => cells.flatMap((cell) => [...cell.querySelectorAll("annotation")].map((one) => one.textContent));
  function words(line) {
    const copy = line.cloneNode(true);
    for (const formula of copy.querySelectorAll(".katex")) formula.replaceWith(" ");
    return copy.textContent;
  }
  const lines = [...article.querySelectorAll("table.notation-table tbody tr")];
  const here = lines.map((line) => {
    const heads = [...line.closest("table").querySelectorAll("thead th")];
    const holds = heads.map((head) => /Symbol|Letter|writes?$/.test(head.textContent.trim()));
    const cells = [...line.cells];
    return row(tex(holds.includes(true) ? cells.filter((_, n) => holds[n]) : cells), words(line));
  });
  const others = JSON.parse(source.textContent);
  const there = others.flatMap((section, n) => section.rows.map(([formulas, text]) => ({ ...row(formulas, text), n })));

  const bar = make("form", { className: "filters find" });
  bar.setAttribute("role", "search");
  bar.setAttribute("aria-label", "Notation");
  const label = make("label", { textContent: "Find a symbol or a word" });
  const field = make("input", { type: "search", autocomplete: "off", spellcheck: false, placeholder: "γ, gamma, f_y, margin" });
  field.setAttribute("autocapitalize", "none");
  label.append(field);
  const count = make("output", {});
  const elsewhere = make("nav", { hidden: true });
  elsewhere.setAttribute("aria-label", "Found elsewhere");
  bar.append(label, count, elsewhere);
  source.after(bar);

  const sections = [...article.querySelectorAll("section")].filter((one) => !one.contains(bar));
  const boxes = [...article.querySelectorAll("table.notation-table")].map((table) => table.closest("details") ?? table);
  const opened = new Set(); // the folds that the search has opened

  function apply() {
    const typed = field.value.trim();
    const found = typed ? find(typed, [...here, ...there]) : null;
    lines.forEach((line, n) => (line.hidden = Boolean(found && !found[n])));
    for (const part of [...sections, ...boxes]) {
      part.hidden = Boolean(found) && ![...part.querySelectorAll("tbody tr")].some((line) => !line.hidden);
    }
    for (const fold of article.querySelectorAll("details:has(table.notation-table)")) {
      if (found && !fold.hidden && !fold.open) opened.add(fold);
      if (opened.has(fold)) fold.open = Boolean(found) && !fold.hidden;
      if (!found) opened.delete(fold);
    }

    const shown = found ? found.slice(0, lines.length).filter(Boolean).length : lines.length;
    const hits = others.map((_, n) => there.filter((one, i) => one.n === n && found?.[lines.length + i]).length);
    const links = others.flatMap((section, n) => {
      if (!hits[n]) return [];
      const href = `${section.page}?find=${encodeURIComponent(typed)}#${section.anchor}`;
      return [make("a", { href, textContent: `${section.title} (${hits[n]})` }), " "];
    });
    elsewhere.hidden = !links.length;
    elsewhere.replaceChildren("Elsewhere: ", ...links);
    const further = links.length ? `, and ${hits.reduce((a, b) => a + b)} elsewhere` : "";
    count.textContent = found ? `${shown} of ${lines.length} rows${further}` : `${lines.length} rows`;
  }

  // What was typed stands in the address, so that it can be linked.
  function change() {
    apply();
    const query = field.value.trim() && `?find=${encodeURIComponent(field.value.trim())}`;
    history.replaceState(history.state, "", location.pathname + query + location.hash);
  }

  // A link to what the search hides shows it: the search is emptied.
  function show() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target?.closest("[hidden]")) return;
    field.value = "";
    change();
    target.scrollIntoView();
  }

  field.addEventListener("input", change);
  bar.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", show);
  field.value = new URLSearchParams(location.search).get("find") ?? "";
  apply();
  show();
  if (field.value && location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
})();
