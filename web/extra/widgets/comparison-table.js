// Which differences between classifiers are shown?
//
// Of each classifier and data set the page has the mistakes in J splits. Two classifiers are compared on a data
// set by the J differences D of their errors: with mean m and sample variance S2, t = |m| / sqrt(c S2) is looked
// up in Student's distribution with J - 1 degrees of freedom. The naive test takes c = 1/J, the corrected one
// c = 1/J + n_test/n_train. Holm's procedure corrects the p-values of the whole family, all classifiers against
// the baseline on all data sets that are shown: sorted, p(1) <= ... <= p(n), they become
// max over j <= i of min(1, (n - j + 1) p(j)).
//
// The first half of this file is arithmetic without a page: tests compare it with mcutils.comparison.
// The second half puts a table into every <div class="mc-widget" data-widget="comparison-table">.
"use strict";

(() => {
  const LEVEL = 0.05;
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

  // The probability that a Student variable with df degrees of freedom is larger than t >= 0 in absolute value.
  // With theta = atan(t / sqrt(df)) it is 1 minus a sum of df/2 terms (Abramowitz and Stegun 26.7.3, 26.7.4).
  function student(t, df) {
    if (t === Infinity) return 0;
    const theta = Math.atan2(t, Math.sqrt(df));
    const square = Math.cos(theta) ** 2;
    const odd = df % 2;
    let [term, total] = [odd ? Math.cos(theta) : 1, 0];
    for (let i = odd ? 3 : 2; i <= df; i += 2) {
      total += term;
      term *= (square * (i - 1)) / i;
    }
    const inside = odd ? (2 / Math.PI) * (theta + Math.sin(theta) * total) : Math.sin(theta) * total;
    return Math.max(0, 1 - inside);
  }

  // Paired errors of two classifiers, and what the test says of their mean difference.
  function difference(ours, theirs, { n_train, n_test }, method) {
    const d = ours.map((one, j) => one - theirs[j]);
    const J = d.length;
    const mean = sum(d) / J / n_test;
    const equal = d.every((one) => one === d[0]); // no variance, whatever the mean is rounded to
    const variance = equal ? 0 : sum(d.map((one) => (one / n_test - mean) ** 2)) / (J - 1);
    const factor = 1 / J + (method === "naive" ? 0 : n_test / n_train);
    const p = equal ? Number(d[0] === 0) : student(Math.abs(mean) / Math.sqrt(factor * variance), J - 1);
    return { mean, p };
  }

  function holm(values) {
    const order = [...values.keys()].sort((a, b) => values[a] - values[b]);
    const adjusted = [];
    let largest = 0;
    order.forEach((i, j) => {
      largest = Math.max(largest, (values.length - j) * values[i]);
      adjusted[i] = Math.min(1, largest);
    });
    return adjusted;
  }

  // All classifiers against one, on the data sets whose numbers are shown; the method is "naive", "corrected" or
  // "holm". In the table that is returned, rows are classifiers, and the baseline's row has no verdicts.
  function compare({ sets, mistakes }, shown, baseline, method) {
    const found = mistakes.map((row, c) =>
      shown.map((s) => (c === baseline ? null : difference(row[s], mistakes[baseline][s], sets[s], method))),
    );
    const family = found.flat().filter((one) => one);
    const p = family.map((one) => one.p);
    (method === "holm" ? holm(p) : p).forEach((value, i) => {
      const sign = Math.sign(family[i].mean);
      Object.assign(family[i], { adjusted: value, verdict: value <= LEVEL && sign ? (sign > 0 ? "worse" : "better") : "open" });
    });
    const count = (verdict) => family.filter((one) => one.verdict === verdict).length;
    return { table: found, family: family.length, worse: count("worse"), better: count("better"), open: count("open") };
  }

  // Ranks from 1, equal numbers sharing the mean of theirs.
  function ranks(numbers) {
    return numbers.map((one) => {
      const below = numbers.filter((other) => other < one).length;
      return below + (numbers.filter((other) => other === one).length + 1) / 2;
    });
  }

  function median(numbers) {
    const [sorted, half] = [[...numbers].sort((a, b) => a - b), (numbers.length - 1) / 2];
    return (sorted[Math.floor(half)] + sorted[Math.ceil(half)]) / 2;
  }

  // Of each classifier: its errors in per cent and its mean and median rank on the data sets that are shown.
  function summary({ sets, mistakes }, shown) {
    const totals = shown.map((s) => mistakes.map((row) => sum(row[s]))); // whole numbers: ties are exact
    const places = totals.map(ranks);
    return mistakes.map((row, c) => {
      const own = places.map((place) => place[c]);
      const errors = shown.map((s, i) => (100 * totals[i][c]) / (row[s].length * sets[s].n_test));
      return { errors, mean: sum(own) / own.length, median: median(own) };
    });
  }

  // The order of the rows by the numbers of one column; of equal ones the first stays first.
  function sorted(values, descending) {
    return [...values.keys()].sort((a, b) => (values[a] === values[b] ? a - b : (values[a] < values[b] ? -1 : 1) * (descending ? -1 : 1)));
  }

  // What is done to how many comparisons, in words.
  function told({ family, worse, better, open }, { name, sets, method }) {
    const where = sets === 1 ? "1 data set" : `${sets} data sets`;
    const how = {
      naive: `each judged alone by the naive t test`,
      corrected: `each judged alone by the corrected t test`,
      holm: `corrected t tests with Holm’s correction for all ${family}`,
    }[method];
    return `${family} comparisons with ${name} on ${where}, ${how}: ${worse} shown worse, ${better} shown better, ${open} open.`;
  }

  globalThis.mcComparison = { student, difference, holm, compare, ranks, median, summary, sorted, told };

  if (typeof document === "undefined") return;

  // ---- the page ----

  const METHODS = { naive: "naive t", corrected: "corrected t", holm: "corrected t and Holm" };
  const MARKS = { worse: "+", better: "−", open: "·" };
  const KEY = [
    ["mc-worse", MARKS.worse, "shown worse"],
    ["mc-better", MARKS.better, "shown better"],
    ["", MARKS.open, "open"],
    ["", "=", "the baseline"],
  ];
  const MEAN = "mean rank";
  const MEDIAN = "median rank";
  const NAME = "classifier";

  const tenths = (value) => (value + 1e-9).toFixed(1); // halves upwards, whatever is behind them
  const escape = (text) => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const mark = (verdict) =>
    `<i class="mc-mark mc-${verdict}" aria-hidden="true">${MARKS[verdict]}</i><i class="mc-heard"> ${verdict}</i>`;

  function mount(box, number) {
    const data = JSON.parse(box.dataset.results);
    const names = data.sets.map(({ name }) => name);
    const everything = [...names.keys()];
    const state = { shown: everything, baseline: data.classifiers.indexOf(box.dataset.baseline), method: "holm", by: MEAN, down: false };
    const start = { ...state };
    const only = (name) => [names.indexOf(name)];
    const presets = [
      ["Naive t", { method: "naive" }],
      ["Digits alone", { shown: only("digits") }],
      ["Against linear one-vs-all", { baseline: data.classifiers.indexOf("one-vs-all, linear") }],
      ["As in the text", {}],
    ];
    box.innerHTML = `
      <p class="mc-try">Try: “Naive t” judges each difference by itself, “Digits alone” makes the family small. Both show more than the whole table supports.</p>
      <div class="mc-actions mc-presets">${presets.map(([name], i) => `<button type="button" data-preset="${i}">${name}</button>`).join("")}</div>
      <div class="mc-actions mc-choices">
        <label>Baseline <select data-set="baseline">${data.classifiers.map((name, c) => `<option value="${c}">${escape(name)}</option>`).join("")}</select></label>
        <label>Test <select data-set="method">${Object.entries(METHODS).map(([key, name]) => `<option value="${key}">${name}</option>`).join("")}</select></label>
      </div>
      <fieldset class="mc-decodings"><legend>Data sets shown</legend>${names
        .map((name, s) => `<label><input type="checkbox" value="${s}" autocomplete="off"> ${escape(name)}</label>`)
        .join("")}</fieldset>
      <p class="mc-summary" role="status" aria-live="polite"></p>
      <ul class="mc-key">${KEY.map(([kind, sign, words]) => `<li><i class="mc-mark ${kind}" aria-hidden="true">${sign}</i> ${words}</li>`).join("")}</ul>
      <div class="mc-scroll" role="region" tabindex="0" aria-label="Table of errors; it scrolls"><table class="mc-grid" id="mc-grid-${number}"></table></div>`;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Interactive table: errors of 25 classifiers on eight data sets");
    const table = box.querySelector("table");

    function values(rows) {
      if (state.by === NAME) return data.classifiers.map((name) => name.toLowerCase());
      if (state.by === MEAN) return rows.map(({ mean }) => mean);
      if (state.by === MEDIAN) return rows.map((row) => row.median);
      const column = state.shown.indexOf(names.indexOf(state.by));
      return rows.map(({ errors }) => errors[column]);
    }

    function head(name) {
      const chosen = name === state.by;
      const sort = chosen ? ` aria-sort="${state.down ? "descending" : "ascending"}"` : "";
      return `<th scope="col"${sort}><button type="button" data-sort="${escape(name)}">${escape(name)}${chosen ? `<i aria-hidden="true">${state.down ? "▼" : "▲"}</i>` : ""}</button></th>`;
    }

    function render() {
      if (![...state.shown.map((s) => names[s]), NAME, MEAN, MEDIAN].includes(state.by)) Object.assign(state, { by: MEAN, down: false });
      const { shown, baseline, method } = state;
      const rows = summary(data, shown);
      const found = compare(data, shown, baseline, method);
      const line = (c) => {
        const cells = rows[c].errors.map((error, i) => {
          const verdict = found.table[c][i]?.verdict;
          return `<td>${tenths(error)}${verdict ? mark(verdict) : '<i class="mc-mark" aria-hidden="true">=</i>'}</td>`;
        });
        const own = c === baseline;
        return `<tr class="${own ? "mc-chosen" : ""}"><th scope="row">${escape(data.classifiers[c])}${own ? '<i class="mc-heard">, the baseline</i>' : ""}</th>
          ${cells.join("")}<td>${tenths(rows[c].mean)}</td><td>${tenths(rows[c].median)}</td></tr>`;
      };
      table.innerHTML = `<caption><span>Test error in per cent, mean of ten splits, and verdicts against ${escape(data.classifiers[baseline])}</span></caption>
        <thead><tr>${[NAME, ...shown.map((s) => names[s]), MEAN, MEDIAN].map(head).join("")}</tr></thead>
        <tbody>${sorted(values(rows), state.down).map(line).join("")}</tbody>`;
      box.querySelectorAll("select").forEach((select) => (select.value = state[select.dataset.set]));
      box.querySelectorAll("[type=checkbox]").forEach((choice) => {
        choice.checked = shown.includes(Number(choice.value));
        choice.disabled = choice.checked && shown.length === 1; // one must stay
      });
      const same = (to) => JSON.stringify({ ...state, by: "", down: "" }) === JSON.stringify({ ...start, ...to, by: "", down: "" });
      box.querySelectorAll("[data-preset]").forEach((button, i) => button.setAttribute("aria-pressed", same(presets[i][1])));
      const said = told(found, { name: data.classifiers[baseline], sets: shown.length, method });
      const status = box.querySelector(".mc-summary");
      if (status.textContent !== said) status.textContent = said; // an unchanged sentence is not read again
    }

    box.addEventListener("click", ({ target }) => {
      const button = target.closest("button");
      if (!button) return;
      const { preset, sort } = button.dataset;
      if (preset) Object.assign(state, start, presets[preset][1]);
      else Object.assign(state, { by: sort, down: sort === state.by && !state.down });
      render();
      if (sort) [...table.querySelectorAll("[data-sort]")].find((one) => one.dataset.sort === sort).focus();
    });
    box.addEventListener("change", ({ target }) => {
      if (target.type === "checkbox") {
        const s = Number(target.value);
        state.shown = everything.filter((one) => (one === s ? target.checked : state.shown.includes(one)));
      } else {
        state[target.dataset.set] = target.dataset.set === "baseline" ? Number(target.value) : target.value;
      }
      render();
    });
    render();
  }

  document.querySelectorAll('[data-widget="comparison-table"]').forEach(mount);
})();
