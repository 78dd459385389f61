// How do the scores of the columns decide the class?
//
// Row r of a code matrix M (entries -1, 0, +1) is the codeword of class r, and f_s is the score of
// column s. Every decoding chooses the row with the smallest distance
//     d(r) = sum over s of L(M(r,s) f_s),
// and only the loss L differs; Hamming decoding is the one with L(z) = (1 - sign z)/2.
//
// And what is a code worth? `report` says whether it is usable, how far its rows are apart, and how many
// wrong answers Hamming decoding repairs.
//
// The first half of this file is arithmetic without a page: tests compare it with mcutils.ecoc.
// The second half fills every <div class="mc-widget" data-widget="ecoc-decoder">.
"use strict";

(() => {
  const LOSSES = {
    hamming: (z) => (1 - Math.sign(z)) / 2, // Math.sign(0) is 0, so a score or an entry 0 costs 1/2
    hinge: (z) => Math.max(0, 1 - z),
    exponential: (z) => Math.exp(-z),
    logistic: (z) => Math.max(0, -z) + Math.log1p(Math.exp(-Math.abs(z))), // log(1 + exp(-z)), no overflow
    linear: (z) => 0 - z, // not -z, which would write a zero as -0
  };

  function loss(name, z) {
    if (!Object.hasOwn(LOSSES, name)) {
      throw new RangeError(`unknown loss "${name}"; allowed: ${Object.keys(LOSSES).join(", ")}`);
    }
    return LOSSES[name](z);
  }

  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

  function distances(code, scores, lossName) {
    return code.map((row) => sum(row.map((entry, s) => loss(lossName, entry * scores[s]))));
  }

  // Sums of the same decimals in another order differ by rounding only: still a tie.
  const ROUNDING = 1e-13;

  // The row with the smallest distance; of several, the one with the smallest index.
  function winner(distances) {
    const smallest = Math.min(...distances);
    const limit = smallest + ROUNDING * Math.max(1, Math.abs(smallest));
    const least = [...distances.keys()].filter((r) => distances[r] <= limit);
    return { index: least[0], tied: least.length > 1, least };
  }

  // Compares sums of e^x over two lists of exponents, of any size: negative if the first is smaller.
  // What both lists have is cancelled first. The sums are equal only if nothing is left then: powers of e
  // with different rational exponents are linearly independent over the rationals (Lindemann, Weierstrass).
  function compareExponential(exponents, others) {
    const rest = [...others];
    const left = exponents.filter((x) => {
      const place = rest.indexOf(x);
      if (place >= 0) rest.splice(place, 1);
      return place < 0;
    });
    const largest = Math.max(...left, ...rest); // taken out of both sums, so that nothing overflows
    const scaled = (list) => sum(list.map((x) => Math.exp(x - largest)));
    return scaled(left) - scaled(rest);
  }

  function exponentialWinner(code, scores) {
    const exponents = code.map((row) => row.map((entry, s) => -entry * scores[s]));
    const index = exponents.reduce((best, row, r) => (compareExponential(row, exponents[best]) < 0 ? r : best), 0);
    const least = [...exponents.keys()].filter((r) => compareExponential(exponents[r], exponents[index]) === 0);
    return { index, tied: least.length > 1, least };
  }

  function decode(code, scores, lossName) {
    const d = distances(code, scores, lossName);
    return { distances: d, ...(lossName === "exponential" ? exponentialWinner(code, scores) : winner(d)) };
  }

  const pairs = (n) => [...Array(n).keys()].flatMap((i) => [...Array(n).keys()].slice(i + 1).map((j) => [i, j]));

  // What mcutils.ecoc.report and check_code say of a code. Rows r and q are apart by
  //     rho = sum over s of (1 - M(r,s) M(q,s)) / 2   and   delta = the number of columns with opposite signs.
  // Hamming decoding repairs w wrong answers, whichever class is true, if and only if
  //     2w < delta(r,q) - |zeros of r - zeros of q| / 2   for all pairs of rows (cor-ecoc-correct, part 3).
  function report(code) {
    const columns = [...code[0].keys()].map((s) => code.map((row) => row[s]));
    const zeros = code.map((row) => row.filter((entry) => entry === 0).length);
    const used = code.map((row) => row.some((entry) => entry !== 0));
    const rows = pairs(code.length).map(([r, q]) => ({
      r,
      q,
      rho: sum(code[r].map((entry, s) => (1 - entry * code[q][s]) / 2)),
      delta: code[r].filter((entry, s) => entry * code[q][s] === -1).length,
    }));
    const margin = Math.min(...rows.map(({ r, q, delta }) => 2 * delta - Math.abs(zeros[r] - zeros[q])));

    const faults = used.flatMap((any, r) => (any ? [] : [`class ${r + 1} is never used (its row is zero)`]));
    columns.forEach((column, s) => {
      const lacks = [["+1", 1], ["-1", -1]].filter(([, sign]) => !column.includes(sign)).map(([name]) => `no ${name}`);
      if (lacks.length) faults.push(`column ${s + 1} (${lacks.join(" and ")})`);
    });
    for (const { r, q, delta } of rows) {
      if (delta === 0 && used[r] && used[q]) faults.push(`classes ${r + 1} and ${q + 1} have opposite signs in no column`);
    }
    const same = (sign) => pairs(columns.length).filter(([s, t]) => columns[s].every((entry, r) => entry === sign * columns[t][r]));
    return {
      usable: faults.length === 0,
      faults,
      rho: Math.min(...rows.map(({ rho }) => rho)),
      separation: Math.min(...rows.map(({ delta }) => delta)),
      repairs: Math.max(-1, Math.floor((margin - 1) / 4)),
      duplicates: same(1),
      complements: same(-1),
    };
  }

  const oneVsAll = (k) => [...Array(k).keys()].map((r) => [...Array(k).keys()].map((s) => (r === s ? 1 : -1)));

  const allPairs = (k) => [...Array(k).keys()].map((c) => pairs(k).map(([r, q]) => (c === r ? 1 : c === q ? -1 : 0)));

  // Every split of k classes in two: the first row is +, below it the columns count in binary.
  function exhaustive(k) {
    const numbers = [...Array(2 ** (k - 1) - 1).keys()];
    return [...Array(k).keys()].map((r) => numbers.map((n) => (r === 0 || (n >> (k - 1 - r)) & 1 ? 1 : -1)));
  }

  // What a click makes of an entry: −, 0, +, and − again.
  const next = (entry) => (entry === 1 ? -1 : entry + 1);

  // The classes look here as in every figure of the book.
  const CLASS_STYLES = [
    { color: "#0072b2", path: "M-6,0a6,6 0 1,0 12,0a6,6 0 1,0 -12,0z" },
    { color: "#d55e00", path: "M-5.5,-5.5h11v11h-11z" },
    { color: "#1ea578", path: "M0,-6.5L6.5,5.5h-13z" },
    { color: "#962d4b", path: "M0,-7L7,0L0,7L-7,0z" },
    { color: "#9678ff", path: "M0,6.5L6.5,-5.5h-13z" },
    { color: "#4b3c00", path: "M-2.3,-7h4.6v4.7h4.7v4.6h-4.7v4.7h-4.6v-4.7h-4.7v-4.6h4.7z" },
  ];

  // The codes to start from, with scores that show something.
  const PRESETS = {
    "one-vs-all": { name: "One-vs-all", code: oneVsAll(4), scores: [-3, -0.2, -1, -2] }, // everybody says no
    "all-pairs": { name: "All-pairs", code: allPairs(4), scores: [0.9, 0.8, 0.7, 9, 9, -1] }, // class 1 wins its duels
    exhaustive: { name: "Exhaustive", code: exhaustive(4), scores: [8, -3, 3, 3, -3, -3, 3] }, // class 3, one wrong answer
  };

  globalThis.mcEcoc = { loss, distances, winner, decode, report, next, PRESETS, CLASS_STYLES };

  if (typeof document === "undefined") return;

  // ---- the page ----

  const LIMIT = 12; // the sliders go from -LIMIT to LIMIT
  const TITLES = {
    hamming: "Hamming",
    hinge: "Hinge",
    exponential: "Exponential",
    logistic: "Logistic",
    linear: "Linear",
  };
  const GLYPHS = { "-1": "−", 0: "0", 1: "+" };

  const minus = (text) => text.replaceAll("-", "−");
  const superscript = (n) => String(n).replace(/[-\d]/g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);

  function distanceText(d, lossName) {
    if (lossName !== "exponential" && lossName !== "logistic") return minus(String(Number(d.toFixed(4))));
    if (d >= 1e-3) return d.toFixed(d < 100 ? 4 : 2);
    const [mantissa, exponent] = d.toExponential(3).split("e");
    return `${mantissa}·10${superscript(Number(exponent))}`;
  }

  function lossText(x) {
    if (x > 0 && x < 0.001) return "&lt;0.001";
    return minus(Math.abs(x) < 1000 ? String(Number(x.toPrecision(3))) : x.toFixed(0));
  }

  // The position of a distance on the axis, 0 to 1, over all that `terms` sliders can reach.
  function axis(lossName, terms) {
    const log = lossName === "exponential";
    const scale = log ? Math.log10 : (x) => x;
    const low = scale(terms * loss(lossName, LIMIT));
    const high = scale(terms * loss(lossName, -LIMIT));
    const position = (x) => Math.min(1, Math.max(0, (scale(x) - low) / (high - low)));
    const step = log ? 4 : [1, 2, 5, 10, 20, 50, 100].find((size) => (high - low) / size <= 8);
    const ticks = [];
    for (let t = Math.ceil(low / step) * step; t <= high; t += step) {
      ticks.push(log ? { x: 10 ** t, text: `10${superscript(t)}` } : { x: t, text: minus(String(t)) });
    }
    return { position, origin: log ? 0 : position(0), ticks };
  }

  const percent = (t) => `${(4 + 92 * t).toFixed(2)}%`; // a margin for the markers at both ends

  function marker(r) {
    const { color, path } = CLASS_STYLES[r % CLASS_STYLES.length];
    return `<path class="mc-class" d="${path}" fill="${color}"/>`;
  }

  function className(r) {
    return `<svg class="mc-marker" viewBox="-8 -8 16 16" aria-hidden="true">${marker(r)}</svg> ${r + 1}`;
  }

  function distanceRow(d, r, { index, least }, lossName, { position, origin }) {
    const verdict = r === index ? "✓ chosen" : least.includes(r) ? "tied" : "";
    return `<tr class="${r === index ? "mc-chosen" : ""}"><th scope="row">${className(r)}</th>
      <td>${distanceText(d, lossName)} <b>${verdict}</b></td>
      <td><svg class="mc-bar" aria-hidden="true">
        <line x1="${percent(origin)}" x2="${percent(position(d))}" y1="50%" y2="50%"/>
        <svg x="${percent(position(d))}" y="50%" overflow="visible">${marker(r)}</svg></svg></td></tr>`;
  }

  function tickRow({ ticks, position }) {
    const texts = ticks.map(({ x, text }) => `<text x="${percent(position(x))}" y="1em">${text}</text>`);
    return `<tr aria-hidden="true"><td colspan="2"></td><td><svg class="mc-ticks">${texts.join("")}</svg></td></tr>`;
  }

  function sentence({ distances, index, tied, least }, lossName) {
    const text = (r) => distanceText(distances[r], lossName);
    const start = `${TITLES[lossName]} decoding: `;
    if (tied) {
      const classes = least.map((r) => r + 1);
      const equal = `${classes.slice(0, -1).join(", ")} and ${classes.at(-1)}`;
      return `${start}classes ${equal} tie at distance ${text(index)}; the smallest index wins: class ${index + 1}.`;
    }
    const next = winner(distances.map((d, r) => (r === index ? Infinity : d))).index;
    return `${start}class ${index + 1}, distance ${text(index)}; next class ${next + 1}, ${text(next)}.`;
  }

  const MOST_CLASSES = 6;
  const MOST_COLUMNS = 10;

  // Is the code usable, how far are its rows apart, what does it repair?
  function verdict(code) {
    const { usable, faults, rho, separation, repairs, duplicates, complements } = report(code);
    const more = faults.length > 3 ? "; and more" : "";
    const first = usable ? "This code is usable." : `This code is not usable: ${minus(faults.slice(0, 3).join("; "))}${more}.`;
    const certain =
      repairs < 0
        ? "a class can lose although none of its answers is wrong"
        : `Hamming decoding repairs ${repairs || "no"} wrong answer${repairs > 1 ? "s" : ""} for certain`;
    const twice = [...duplicates, ...complements].map(([s, t]) => `${s + 1} and ${t + 1}`);
    const repeated = twice.length ? ` The same question twice: columns ${twice.slice(0, 3).join("; ")}${twice.length > 3 ? "; …" : ""}.` : "";
    return `${first} Smallest distance ρ = ${rho}, smallest separation δ = ${separation}; ${certain}.${repeated}`;
  }

  const controls = (name, presets) => `
    <p class="mc-try"><b>Try:</b> choose f<sub>6</sub> and move it slowly to the right: when does the exponential decoder change its mind? Then click entries until the code is usable.</p>
    <fieldset class="mc-actions"><legend>Start from a code</legend>
      ${Object.entries(presets).map(([key, preset]) => `<button type="button" data-preset="${key}">${preset.name}</button>`).join("")}
    </fieldset>
    <fieldset class="mc-decodings"><legend>Decoding, and the class it chooses</legend>
      ${Object.keys(LOSSES)
        .map((key) => `<label><input type="radio" name="${name}" value="${key}"> ${TITLES[key]}: <span></span></label>`)
        .join("")}
    </fieldset>
    <div>
      <div class="mc-tables"><table class="mc-code"></table><table class="mc-distances"></table></div>
      <div class="mc-scores mc-score"><label><span></span>
        <input type="range" min="${-LIMIT}" max="${LIMIT}" step="0.1" autocomplete="off"><output aria-live="off"></output></label></div>
    </div>
    <p class="mc-summary" role="status" aria-live="polite"></p>
    <p class="mc-verdict" role="status" aria-live="polite"></p>
    <fieldset class="mc-actions"><legend>Change the size of the code</legend>
      <button type="button" data-change="row">Add a class</button><button type="button" data-change="-row">Remove a class</button>
      <button type="button" data-change="column">Add a column</button><button type="button" data-change="-column">Remove a column</button>
    </fieldset>`;

  function mount(box, number) {
    const worked = { name: "Worked example", code: JSON.parse(box.dataset.code), scores: JSON.parse(box.dataset.scores) };
    const presets = { worked, ...PRESETS };
    box.innerHTML = controls(`mc-decoding-${number}`, presets);
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Interactive figure: a code, its scores and what they decode to");
    const find = (selector) => box.querySelector(selector);
    const radios = [...box.querySelectorAll("[type=radio]")];
    const slider = find("[type=range]");
    const summary = find(".mc-summary");
    const quality = find(".mc-verdict");
    let code;
    let scores;
    let chosen; // the column whose score the slider moves

    // An unchanged sentence is not read again.
    const say = (place, text) => place.textContent !== text && (place.textContent = text);

    // The cells and their buttons stay where they are, so that the focus does, unless the code changes its size.
    function build() {
      find(".mc-code").classList.toggle("mc-crowded", scores.length > 7); // on a phone, too many for numbers
      find(".mc-code").innerHTML = `<caption></caption>
        <tr><th scope="col">class</th>${scores
          .map((_, s) => `<th scope="col"><button type="button" data-column="${s}">f<sub>${s + 1}</sub><i class="mc-heard">, score </i><small></small></button></th>`)
          .join("")}</tr>
        ${code
          .map((row, r) => `<tr><th scope="row">${className(r)}</th>${row
            .map((_, s) => `<td><button type="button" data-row="${r}" data-entry="${s}"></button><small></small></td>`)
            .join("")}</tr>`)
          .join("")}`;
      const sizes = { row: code.length >= MOST_CLASSES, "-row": code.length <= 2 };
      const widths = { column: scores.length >= MOST_COLUMNS, "-column": scores.length <= 1 };
      for (const [change, impossible] of Object.entries({ ...sizes, ...widths })) find(`[data-change="${change}"]`).disabled = impossible;
    }

    function render() {
      const lossName = radios.find((radio) => radio.checked).value;
      const decoding = decode(code, scores, lossName);
      const scale = axis(lossName, scores.length);
      const share = axis(lossName, 1).position;
      const log = lossName === "exponential";

      slider.value = scores[chosen];
      slider.setAttribute("aria-label", `score of column ${chosen + 1}`);
      slider.previousElementSibling.innerHTML = `f<sub>${chosen + 1}</sub>`;
      slider.nextElementSibling.value = minus(scores[chosen].toFixed(1));
      radios.forEach((radio) => {
        const { index, tied } = decode(code, scores, radio.value);
        radio.parentElement.querySelector("span").textContent = `class ${index + 1}${tied ? " (tie)" : ""}`;
      });
      find(".mc-code caption").textContent = `Entries, to be clicked, filled to ${log ? "the logarithm of their loss" : "their loss"}`;
      box.querySelectorAll("[data-column]").forEach((button) => {
        const s = Number(button.dataset.column);
        button.setAttribute("aria-pressed", s === chosen);
        button.querySelector("small").textContent = minus(scores[s].toFixed(1));
      });
      box.querySelectorAll("[data-entry]").forEach((button) => {
        const [r, s] = [Number(button.dataset.row), Number(button.dataset.entry)];
        const cost = loss(lossName, code[r][s] * scores[s]);
        const words = lossText(cost);
        button.textContent = GLYPHS[code[r][s]];
        button.setAttribute("aria-label", `class ${r + 1}, column ${s + 1}: ${["minus", "zero", "plus"][code[r][s] + 1]}, loss ${words.replace("&lt;", "below ")}`);
        button.nextElementSibling.innerHTML = words;
        button.parentElement.style.setProperty("--share", share(cost).toFixed(3));
      });
      box.querySelectorAll(".mc-code tr").forEach((row, r) => row.classList.toggle("mc-chosen", r - 1 === decoding.index));
      find(".mc-distances").innerHTML = `
        <caption>Distance of a row: the sum of its losses</caption>
        <tr><th scope="col">class</th><th scope="col">distance</th><td>${log ? "logarithmic scale" : ""}</td></tr>
        ${decoding.distances
          .map((d, r) => distanceRow(d, r, decoding, lossName, scale))
          .join("")}${tickRow(scale)}`;
      say(summary, sentence(decoding, lossName));
      say(quality, verdict(code));
    }

    function load({ code: entries, scores: values }) {
      code = entries.map((row) => [...row]);
      scores = [...values];
      chosen = Math.min(5, scores.length - 1);
      build();
      render();
    }

    const CHANGES = {
      row: () => code.push(scores.map(() => 0)),
      "-row": () => code.pop(),
      column: () => {
        code.forEach((row, r) => row.push(r === scores.length % code.length ? 1 : -1));
        scores.push(1);
      },
      "-column": () => {
        code.forEach((row) => row.pop());
        scores.pop();
      },
    };

    slider.addEventListener("input", () => {
      scores[chosen] = slider.valueAsNumber;
      render();
    });
    radios.forEach((radio) => radio.addEventListener("input", render));
    box.addEventListener("click", ({ target }) => {
      const button = target.closest("button");
      if (!button) return;
      const { preset, change, column, row, entry } = button.dataset;
      if (preset) return load(presets[preset]);
      if (change) {
        CHANGES[change]();
        chosen = Math.min(chosen, scores.length - 1);
        build();
      }
      if (column) chosen = Number(column);
      if (entry) {
        code[row][entry] = next(code[row][entry]);
        chosen = Number(entry);
      }
      render();
    });

    radios.find((radio) => radio.value === "exponential").checked = true;
    load(worked);
  }

  document.querySelectorAll('[data-widget="ecoc-decoder"]').forEach(mount);
})();
