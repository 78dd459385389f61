// How do the scores of the columns decide the class?
//
// Row r of a code matrix M (entries -1, 0, +1) is the codeword of class r, and f_s is the score of
// column s. Every decoding chooses the row with the smallest distance
//     d(r) = sum over s of L(M(r,s) f_s),
// and only the loss L differs; Hamming decoding is the one with L(z) = (1 - sign z)/2.
//
// The first half of this file is arithmetic without a page: tests compare it with mcutils.ecoc.
// The second half puts sliders into every <div class="mc-widget" data-widget="ecoc-decoder">.
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

  // The classes 1 to 4 look here as in every figure of the book.
  const CLASS_STYLES = [
    { color: "#0072b2", path: "M-6,0a6,6 0 1,0 12,0a6,6 0 1,0 -12,0z" },
    { color: "#d55e00", path: "M-5.5,-5.5h11v11h-11z" },
    { color: "#1ea578", path: "M0,-6.5L6.5,5.5h-13z" },
    { color: "#962d4b", path: "M0,-7L7,0L0,7L-7,0z" },
  ];

  globalThis.mcEcoc = { loss, distances, winner, decode, CLASS_STYLES };

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

  function codeRow(row, r, scores, lossName, chosen) {
    const share = axis(lossName, 1).position;
    const cells = row.map((entry, s) => {
      const cost = loss(lossName, entry * scores[s]);
      return `<td style="--share:${share(cost).toFixed(3)}">${GLYPHS[entry]}<i class="mc-heard">, loss </i><small>${lossText(cost)}</small></td>`;
    });
    return `<tr class="${chosen ? "mc-chosen" : ""}"><th scope="row">${className(r)}</th>${cells.join("")}</tr>`;
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

  const controls = (columns, name) => `
    <fieldset class="mc-decodings"><legend>Decoding, and the class it chooses</legend>
      ${Object.keys(LOSSES)
        .map((key) => `<label><input type="radio" name="${name}" value="${key}"> ${TITLES[key]}: <span></span></label>`)
        .join("")}
    </fieldset>
    <fieldset class="mc-scores"><legend>Scores</legend>
      ${columns
        .map((s) => `<label><span>f<sub>${s + 1}</sub></span>
          <input type="range" min="${-LIMIT}" max="${LIMIT}" step="0.1" autocomplete="off"><output aria-live="off"></output></label>`)
        .join("")}
      <button type="button">Reset to the lecture’s scores</button>
    </fieldset>
    <p class="mc-summary" role="status" aria-live="polite"></p>
    <div class="mc-tables"><table class="mc-code"></table><table class="mc-distances"></table></div>`;

  function mount(box, number) {
    const code = JSON.parse(box.dataset.code);
    const lecture = JSON.parse(box.dataset.scores);
    box.innerHTML = controls([...lecture.keys()], `mc-decoding-${number}`);
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", `Interactive figure: decode ${lecture.length} scores`);
    const radios = [...box.querySelectorAll("[type=radio]")];
    const sliders = [...box.querySelectorAll("[type=range]")];
    const summary = box.querySelector(".mc-summary");

    function render() {
      const scores = sliders.map((slider) => slider.valueAsNumber);
      const lossName = radios.find((radio) => radio.checked).value;
      const decoding = decode(code, scores, lossName);
      const scale = axis(lossName, lecture.length);
      const log = lossName === "exponential";

      sliders.forEach((slider, s) => (slider.nextElementSibling.value = minus(scores[s].toFixed(1))));
      radios.forEach((radio) => {
        const { index, tied } = decode(code, scores, radio.value);
        radio.parentElement.querySelector("span").textContent = `class ${index + 1}${tied ? " (tie)" : ""}`;
      });
      box.querySelector(".mc-code").innerHTML = `
        <caption>Entries M(r, s), filled to ${log ? "the logarithm of their loss" : "their loss"}</caption>
        <tr><th scope="col">class</th>${scores
          .map((f, s) => `<th scope="col">f<sub>${s + 1}</sub><small>${minus(f.toFixed(1))}</small></th>`)
          .join("")}</tr>
        ${code.map((row, r) => codeRow(row, r, scores, lossName, r === decoding.index)).join("")}`;
      box.querySelector(".mc-distances").innerHTML = `
        <caption>Distance of a row: the sum of its losses</caption>
        <tr><th scope="col">class</th><th scope="col">distance</th><td>${log ? "logarithmic scale" : ""}</td></tr>
        ${decoding.distances
          .map((d, r) => distanceRow(d, r, decoding, lossName, scale))
          .join("")}${tickRow(scale)}`;
      const text = sentence(decoding, lossName);
      if (summary.textContent !== text) summary.textContent = text; // an unchanged sentence is not read again
    }

    function reset() {
      sliders.forEach((slider, s) => (slider.value = lecture[s]));
      render();
    }

    radios.find((radio) => radio.value === "exponential").checked = true;
    box.addEventListener("input", render);
    box.querySelector("button").addEventListener("click", reset);
    reset();
  }

  document.querySelectorAll('[data-widget="ecoc-decoder"]').forEach(mount);
})();
