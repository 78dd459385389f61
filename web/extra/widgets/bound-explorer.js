// Which margin bound says something?
//
// Three bounds add to the empirical margin loss a term that grows with the number of classes k,
//     quadratic  2 k^2 (r Lambda / rho) / sqrt(m),
//     linear     2 sqrt(k) b(k) (r Lambda / rho) / sqrt(m),
//     sqrt       2 b(k) (r Lambda / rho) / sqrt(m),  b(k) = sqrt(k-1) (sqrt(k)+2) / (sqrt(k)+1),
// and the confidence sqrt(log(1/delta) / (2m)). Where the sum is at least 1 a bound says nothing, even if
// the margin loss is 0.
//
// The first half of this file is arithmetic without a page: tests compare it with mcutils.bound.
// The second half puts sliders into every <div class="mc-widget" data-widget="bound-explorer">.
"use strict";

(() => {
  const b = (k) => (Math.sqrt(k - 1) * (Math.sqrt(k) + 2)) / (Math.sqrt(k) + 1);

  const FACTORS = {
    quadratic: (k) => 2 * k ** 2,
    linear: (k) => 2 * Math.sqrt(k) * b(k),
    sqrt: (k) => 2 * b(k),
  };

  function term(kind, k, m, ratio) {
    if (!Object.hasOwn(FACTORS, kind)) {
      throw new RangeError(`unknown kind "${kind}"; allowed: ${Object.keys(FACTORS).join(", ")}`);
    }
    return (FACTORS[kind](k) * ratio) / Math.sqrt(m);
  }

  const confidence = (m, delta) => Math.sqrt(Math.log(1 / delta) / (2 * m));

  const total = (kind, { k, m, ratio, delta }) => term(kind, k, m, ratio) + confidence(m, delta);

  // The least m at which the bound is below 1 with a margin loss of 0. Beyond 2^52 whole numbers have gaps,
  // and the answer is right up to rounding.
  function samplesNeeded(kind, k, ratio, delta) {
    const numerator = term(kind, k, 1, ratio) + confidence(1, delta); // the bound is numerator / sqrt(m)
    let m = Math.max(1, Math.floor(numerator ** 2) - 2);
    while (m < 2 ** 52 && numerator / Math.sqrt(m) >= 1) m += 1;
    return m;
  }

  globalThis.mcBound = { term, confidence, total, samplesNeeded, KINDS: Object.keys(FACTORS) };

  if (typeof document === "undefined") return;

  // ---- the page ----

  // Values that the sliders step through: a slider of 1, 2, 5, 10, … is one of logarithms.
  const steps = (low, high) => {
    const list = [];
    for (let e = low; e <= high; e += 1) {
      for (const digit of e < high ? [1, 2, 5] : [1]) list.push(Number(`${digit}e${e}`));
    }
    return list;
  };
  const SLIDERS = [
    { key: "k", name: "k", what: "classes", values: [2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100, 200, 300, 500, 1000] },
    { key: "m", name: "m", what: "examples", values: steps(2, 9) },
    { key: "ratio", name: "rΛ/ρ", what: "size of the scores against the margin", values: steps(-1, 2) },
    { key: "delta", name: "δ", what: "probability of failure", values: [0.5, 0.2, 0.1, 0.05, 0.01, 1e-3, 1e-4, 1e-6, 1e-9] },
  ];
  const AXES = {
    k: { title: "number of classes k", low: 2, high: 1000, ticks: [2, 10, 100, 1000] },
    m: { title: "number of examples m", low: 100, high: 1e9, ticks: [1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9] },
  };
  const KINDS = {
    quadratic: { name: "k² (lecture)", label: "k²", color: "#0072b2", dash: "", path: "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0z" },
    linear: { name: "k", label: "k", color: "#d55e00", dash: "7 3", path: "M-4.5,-4.5h9v9h-9z" },
    sqrt: { name: "√k", label: "√k", color: "#1ea578", dash: "2 3", path: "M0,-5.5L5.5,4.5h-11z" },
  };

  const superscript = (n) => String(n).replace(/[-\d]/g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);

  // 3 significant digits; large and small numbers as powers of ten
  function number(x) {
    if (x >= 1e6 || x < 1e-3) {
      const [mantissa, exponent] = x.toExponential(2).split("e");
      const digits = Number(mantissa);
      return `${digits === 1 ? "" : `${digits}·`}10${superscript(Number(exponent))}`;
    }
    if (x >= 1e4) return String(Math.round(Number(x.toPrecision(3)))).replace(/\B(?=(\d{3})+$)/g, "\u202f");
    return String(Number(x.toPrecision(3)));
  }

  // The plot, in units that are CSS pixels at the width of a phone.
  const PLOT = { width: 340, height: 262, left: 42, right: 326, top: 8, bottom: 218, low: 1e-3, high: 1e3 };
  const logShare = (x, low, high) => Math.log(x / low) / Math.log(high / low);
  const yOf = (value) => PLOT.bottom - (PLOT.bottom - PLOT.top) * logShare(value, PLOT.low, PLOT.high);

  function plot(state, along) {
    const { low, high, title, ticks } = AXES[along];
    const xOf = (value) => PLOT.left + (PLOT.right - PLOT.left) * logShare(value, low, high);
    const here = xOf(state[along]);
    const inside = (value) => value >= PLOT.low && value <= PLOT.high;

    const curves = Object.entries(KINDS).map(([kind, { label, color, dash, path }]) => {
      const points = [];
      for (let i = 0; i <= 60; i += 1) {
        const at = low * (high / low) ** (i / 60);
        const value = total(kind, { ...state, [along]: at });
        if (inside(value)) points.push([xOf(at), yOf(value)]);
      }
      const value = total(kind, state);
      const marker = inside(value)
        ? `<path d="${path}" fill="${color}" transform="translate(${here.toFixed(1)} ${yOf(value).toFixed(1)})"/>`
        : "";
      const line = points.map((point) => point.map((c) => c.toFixed(1)).join(",")).join(" ");
      const drawn = `<polyline points="${line}" fill="none" stroke="${color}" stroke-width="2" stroke-dasharray="${dash}"/>`;
      const end = points.length ? points[points.length - 1] : null;
      return { drawn: drawn + marker, end, label };
    });

    const labels = curves.filter(({ end }) => end).sort((a, b) => a.end[1] - b.end[1]);
    const placed = [];
    for (const { end, label } of labels) {
      let y = Math.max(PLOT.top + 11, end[1] - (along === "m" ? 11 : 6)); // a falling line needs more room
      const near = placed.find((other) => Math.abs(other.x - end[0]) < 40 && Math.abs(other.y - y) < 13);
      if (near) y = near.y + 13;
      placed.push({ x: end[0] - (y > end[1] ? 10 : 2), y, label }); // beside a curve that leaves at the top
    }

    const yTicks = [-3, -2, -1, 0, 1, 2, 3].map((e) => ({ y: yOf(10 ** e), text: e === 0 ? "1" : `10${superscript(e)}` }));
    const one = yOf(1);
    return `
      <rect x="${PLOT.left}" y="${PLOT.top}" width="${PLOT.right - PLOT.left}" height="${one - PLOT.top}" class="mc-vacuous"/>
      <text x="${along === "m" ? PLOT.right - 6 : PLOT.left + 6}" y="${PLOT.top + 14}" text-anchor="${along === "m" ? "end" : "start"}" class="mc-muted">says nothing</text>
      <g class="mc-axes">
        <path d="M${PLOT.left},${PLOT.top}V${PLOT.bottom}H${PLOT.right}M${PLOT.left},${one}H${PLOT.right}"/>
        <path d="M${here.toFixed(1)},${PLOT.top}V${PLOT.bottom}" stroke-dasharray="1 4"/>
      </g>
      ${yTicks.map(({ y, text }) => `<text x="${PLOT.left - 5}" y="${y + 4}" text-anchor="end">${text}</text>`).join("")}
      ${ticks
        .map((t) => `<text x="${xOf(t)}" y="${PLOT.bottom + 16}" text-anchor="middle">${t < 1e3 && along === "k" ? t : `10${superscript(Math.log10(t).toFixed(0))}`}</text>`)
        .join("")}
      <text x="${(PLOT.left + PLOT.right) / 2}" y="${PLOT.bottom + 36}" text-anchor="middle">${title}</text>
      <g class="mc-class">${curves.map(({ drawn }) => drawn).join("")}</g>
      ${placed.map(({ x, y, label }) => `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="end" class="mc-label">${label}</text>`).join("")}`;
  }

  const swatch = ({ color, dash, path }) =>
    `<svg class="mc-swatch" viewBox="-16 -8 32 16" aria-hidden="true"><g class="mc-class"><path d="M-16,0H16" stroke="${color}" stroke-width="2" stroke-dasharray="${dash}"/><path d="${path}" fill="${color}"/></g></svg>`;

  function row(kind, state) {
    const value = total(kind, state);
    const verdict = value < 1 ? "" : "<small>says nothing</small>";
    return `<tr><th scope="row">${swatch(KINDS[kind])} ${KINDS[kind].name}</th>
      <td>${number(term(kind, state.k, state.m, state.ratio))}</td>
      <td><b>${number(value)}</b>${verdict}</td>
      <td>${number(samplesNeeded(kind, state.k, state.ratio, state.delta))}</td></tr>`;
  }

  function sentence(state) {
    const speaking = Object.keys(KINDS).filter((kind) => total(kind, state) < 1);
    const where = `k = ${state.k}, m = ${number(state.m)}, rΛ/ρ = ${number(state.ratio)}, δ = ${number(state.delta)}`;
    if (!speaking.length) return `${where}: none of the three bounds says anything.`;
    const best = speaking.reduce((a, b) => (total(b, state) < total(a, state) ? b : a));
    const silent = Object.keys(KINDS).filter((kind) => !speaking.includes(kind));
    const rest = silent.length ? `; ${silent.map((kind) => KINDS[kind].label).join(" and ")} ${silent.length > 1 ? "say" : "says"} nothing` : "";
    return `${where}: the smallest, ${KINDS[best].label}, adds ${number(total(best, state))} to the margin loss${rest}.`;
  }

  const controls = (name) => `
    <fieldset class="mc-decodings"><legend>Curves against</legend>
      <label><input type="radio" name="${name}" value="k" checked> classes, k</label>
      <label><input type="radio" name="${name}" value="m"> examples, m</label>
    </fieldset>
    <fieldset class="mc-scores mc-settings"><legend>Setting</legend>
      ${SLIDERS.map(
        ({ key, name: symbol, what, values }) => `
        <label><span>${symbol}<i class="mc-heard">, ${what}</i></span>
          <input type="range" data-key="${key}" min="0" max="${values.length - 1}" step="1"><output></output></label>`,
      ).join("")}
      <button type="button">Reset</button>
    </fieldset>
    <svg class="mc-plot" viewBox="0 0 ${PLOT.width} ${PLOT.height}" aria-hidden="true"></svg>
    <p class="mc-summary" aria-live="polite"></p>
    <div class="mc-tables"><table class="mc-bounds"></table></div>`;

  function mount(box, index) {
    const start = JSON.parse(box.dataset.start);
    box.innerHTML = controls(`mc-along-${index}`);
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Interactive figure: three margin bounds");
    const radios = [...box.querySelectorAll("[type=radio]")];
    const sliders = [...box.querySelectorAll("[type=range]")];
    const summary = box.querySelector(".mc-summary");

    function render() {
      const state = {};
      sliders.forEach((slider, i) => {
        const value = SLIDERS[i].values[slider.valueAsNumber];
        state[SLIDERS[i].key] = value;
        slider.nextElementSibling.value = number(value);
        slider.setAttribute("aria-valuetext", number(value));
      });
      const along = radios.find((radio) => radio.checked).value;
      box.querySelector(".mc-plot").innerHTML = plot(state, along);
      box.querySelector(".mc-bounds").innerHTML = `
        <caption>What each bound adds to the margin loss: its second term; in all, with the confidence term; and
          the m from which that is below 1. Drawn against the ${AXES[along].title}.</caption>
        <tr><th scope="col">bound</th><th scope="col">second term</th><th scope="col">in all</th>
          <th scope="col">below 1 from</th></tr>
        ${Object.keys(KINDS)
          .map((kind) => row(kind, state))
          .join("")}`;
      const text = sentence(state);
      if (summary.textContent !== text) summary.textContent = text; // an unchanged sentence is not read again
    }

    function reset() {
      sliders.forEach((slider, i) => {
        slider.value = SLIDERS[i].values.indexOf(start[SLIDERS[i].key]);
      });
      render();
    }

    box.addEventListener("input", render);
    box.querySelector("button").addEventListener("click", reset);
    reset();
  }

  document.querySelectorAll('[data-widget="bound-explorer"]').forEach(mount);
})();
