// How does a sum of stumps grow, round by round?
//
// A stump [feature, cut, signs] votes signs[l] for label l where the feature exceeds the cut, and -signs[l]
// where it does not; the cut null is minus infinity. A point is [x, y, class]. The stumps are given. All else
// is computed here: with D_1(i,l) = 1/(mk) and y_il = +1 at the class of point i, otherwise -1,
//     error_t = weight of the pairs (i,l) that the stump answers wrongly,
//     alpha_t = log((1 - error_t) / error_t) / 2,   Z_t = 2 sqrt(error_t (1 - error_t)),
//     D_(t+1)(i,l) = D_t(i,l) / (2 (1 - error_t)) if right, D_t(i,l) / (2 error_t) if wrong.
//
// The first half of this file is arithmetic without a page: tests compare it with mcutils.boosting.
// The second half puts a slider into every <div class="mc-widget" data-widget="boosting-rounds">.
"use strict";

(() => {
  const above = (cut, value) => cut === null || value > cut;

  // The k votes of a stump at a place.
  function votes([feature, cut, signs], place) {
    const side = above(cut, place[feature]) ? 1 : -1;
    return signs.map((sign) => sign * side);
  }

  // The k scores after the first t rounds.
  function scores(stumps, alphas, t, place) {
    const total = stumps[0][2].map(() => 0);
    for (let s = 0; s < t; s += 1) votes(stumps[s], place).forEach((vote, l) => (total[l] += alphas[s] * vote));
    return total;
  }

  // The label with the largest score; of several, the one with the smallest index.
  const winner = (list) => list.reduce((best, score, l) => (score > list[best] ? l : best), 0);

  // Entry t describes the state after t rounds: the stump's error and vote, the product of the Z, the share of
  // wrong pairs, the mistakes, and the weight of each point, that is of its k pairs together.
  function run(points, stumps) {
    const labels = stumps[0][2].map((_, l) => l);
    const truth = points.map((point) => labels.map((l) => (l === point[2] ? 1 : -1)));
    const pairs = points.length * labels.length;
    let weights = truth.map((row) => row.map(() => 1 / pairs));
    const sums = truth.map((row) => row.map(() => 0));
    const states = [];
    let product = 1;
    const record = (error, alpha) => {
      const wrong = sums.flatMap((row, i) => row.filter((score, l) => score * truth[i][l] <= 0)).length;
      states.push({
        error,
        alpha,
        product,
        hamming: wrong / pairs,
        wrong: sums.map((row, i) => winner(row) !== points[i][2]),
        weights: weights.map((row) => row.reduce((a, b) => a + b, 0)),
      });
    };
    record(null, null);
    for (const stump of stumps) {
      const answers = points.map((point) => votes(stump, point));
      let error = 0;
      weights.forEach((row, i) => row.forEach((w, l) => (error += answers[i][l] === truth[i][l] ? 0 : w)));
      const alpha = Math.log((1 - error) / error) / 2;
      product *= 2 * Math.sqrt(error * (1 - error));
      weights = weights.map((row, i) =>
        row.map((w, l) => w / (2 * (answers[i][l] === truth[i][l] ? 1 - error : error))),
      );
      answers.forEach((row, i) => row.forEach((vote, l) => (sums[i][l] += alpha * vote)));
      record(error, alpha);
    }
    return states;
  }

  // The boxes between the cuts of the first t stumps, with their winners; neighbours in a row are joined.
  function regions(stumps, alphas, t, [left, right, bottom, top]) {
    const cuts = (feature, low, high) => {
      const own = stumps.slice(0, t).filter(([j, cut]) => j === feature && cut !== null && cut > low && cut < high);
      return [low, ...[...new Set(own.map(([, cut]) => cut))].sort((a, b) => a - b), high];
    };
    const xs = cuts(0, left, right);
    const ys = cuts(1, bottom, top);
    const boxes = [];
    for (let b = 0; b + 1 < ys.length; b += 1) {
      let open = null;
      for (let a = 0; a + 1 < xs.length; a += 1) {
        const label = winner(scores(stumps, alphas, t, [(xs[a] + xs[a + 1]) / 2, (ys[b] + ys[b + 1]) / 2]));
        if (open && open.label === label) open.right = xs[a + 1];
        else boxes.push((open = { left: xs[a], right: xs[a + 1], bottom: ys[b], top: ys[b + 1], label }));
      }
    }
    return boxes;
  }

  // The classes look here as in every figure of the book.
  const CLASS_STYLES = [
    { color: "#0072b2", path: "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0z" },
    { color: "#d55e00", path: "M-4.5,-4.5h9v9h-9z" },
    { color: "#1ea578", path: "M0,-5.5L5.5,4.5h-11z" },
  ];

  globalThis.mcBoosting = { votes, scores, winner, run, regions, CLASS_STYLES };

  if (typeof document === "undefined") return;

  // ---- the page ----

  // The plot, in units that are CSS pixels at the width of a phone.
  const PLOT = { width: 340, height: 300, left: 40, right: 334, top: 8, bottom: 256 };
  const minus = (text) => text.replaceAll("-", "−");

  const marker = (label, size) =>
    `<path d="${CLASS_STYLES[label].path}" fill="${CLASS_STYLES[label].color}" transform="scale(${size.toFixed(2)})"/>`;

  function plot(state, t, { points, stumps, alphas, box, scale, axes }) {
    const xOf = (x) => PLOT.left + ((PLOT.right - PLOT.left) * (x - box[0])) / (box[1] - box[0]);
    const yOf = (y) => PLOT.bottom - ((PLOT.bottom - PLOT.top) * (y - box[2])) / (box[3] - box[2]);
    const areas = regions(stumps, alphas, t, box).map(
      ({ left, right, bottom, top, label }) =>
        `<rect x="${xOf(left).toFixed(1)}" y="${yOf(top).toFixed(1)}" width="${(xOf(right) - xOf(left)).toFixed(1)}"
          height="${(yOf(bottom) - yOf(top)).toFixed(1)}" fill="${CLASS_STYLES[label].color}" fill-opacity="0.22"/>`,
    );
    const dots = points.map(([x, y, label], i) => {
      const size = Math.min(2, Math.max(0.25, 0.5 * Math.sqrt(state.weights[i] * points.length)));
      const ring = state.wrong[i] ? `<circle r="${(6 * size + 2).toFixed(1)}" class="mc-ring"/>` : "";
      return `<g transform="translate(${xOf(x).toFixed(1)} ${yOf(y).toFixed(1)})">${marker(label, size)}${ring}</g>`;
    });
    const [feature, cut] = t ? stumps[t - 1] : [0, null];
    const line = cut === null ? "" : feature === 0 ? `M${xOf(cut)},${PLOT.top}V${PLOT.bottom}` : `M${PLOT.left},${yOf(cut)}H${PLOT.right}`;
    const ticks = (low, high, step) => {
      const list = [];
      for (let v = Math.ceil(low / step) * step; v <= high; v += step) list.push(v);
      return list;
    };
    return `<g class="mc-class">${areas.join("")}${dots.join("")}</g>
      <g class="mc-axes"><path d="M${PLOT.left},${PLOT.top}V${PLOT.bottom}H${PLOT.right}"/>
        <path d="${line}" stroke-dasharray="6 4" stroke-width="2"/></g>
      ${ticks(box[0], box[1], axes[0][1] * scale)
        .map((v) => `<text x="${xOf(v)}" y="${PLOT.bottom + 15}" text-anchor="middle">${v / scale}</text>`)
        .join("")}
      ${ticks(box[2], box[3], axes[1][1] * scale)
        .map((v) => `<text x="${PLOT.left - 5}" y="${yOf(v) + 4}" text-anchor="end">${v / scale}</text>`)
        .join("")}
      <text x="${(PLOT.left + PLOT.right) / 2}" y="${PLOT.bottom + 34}" text-anchor="middle">${axes[0][0]}</text>
      <text transform="translate(11 ${(PLOT.top + PLOT.bottom) / 2}) rotate(-90)" text-anchor="middle">${axes[1][0]}</text>`;
  }

  function sentence(states, t, { stumps, names, scale, axes, points }) {
    const { error, alpha, product, hamming, wrong } = states[t];
    const mistakes = `${wrong.filter(Boolean).length} of ${points.length} mistakes, ${(100 * hamming).toFixed(1)} % wrong pairs, product of the Z ${product.toFixed(3)}.`;
    if (!t) return `Before round 1: all weights are equal, all scores 0. ${mistakes}`;
    const [feature, cut, signs] = stumps[t - 1];
    const said = names.map((name, l) => `${name} ${signs[l] > 0 ? "yes" : "no"}`).join(", ");
    const question = cut === null ? "nothing asked" : `${axes[feature][0]} above ${cut / scale}`;
    return `Round ${t}: ${question}: ${said}. Error ${error.toFixed(3)}, vote ${minus(alpha.toFixed(3))}. ${mistakes}`;
  }

  const controls = (names, last) => `
    <fieldset class="mc-scores mc-settings"><legend>Rounds done</legend>
      <label><span>t</span><input type="range" min="0" max="${last}" step="1" autocomplete="off" aria-label="rounds done"><output aria-live="off"></output></label>
      <div><button type="button" data-step="-1">Back</button> <button type="button" data-step="1">Next round</button></div>
    </fieldset>
    <p>${names
      .map((name, l) => `<svg class="mc-marker" viewBox="-8 -8 16 16" aria-hidden="true"><g class="mc-class">${marker(l, 1)}</g></svg> ${name}`)
      .join(" ")}. Large: heavy. Ringed: a mistake. Dashed: the last cut.</p>
    <svg class="mc-plot" viewBox="0 0 ${PLOT.width} ${PLOT.height}" aria-hidden="true"></svg>
    <p class="mc-summary" role="status" aria-live="polite"></p>`;

  function mount(box) {
    const { points, stumps, names, scale, axes, start } = Object.fromEntries(
      Object.entries(box.dataset)
        .filter(([key]) => !["widget", "fallback"].includes(key))
        .map(([key, text]) => [key, JSON.parse(text)]),
    );
    const states = run(points, stumps);
    const alphas = states.slice(1).map(({ alpha }) => alpha);
    const range = (j) => {
      const values = points.map((point) => point[j]);
      const [low, high] = [Math.min(...values), Math.max(...values)];
      return [low - (high - low) / 20, high + (high - low) / 20];
    };
    const all = { points, stumps, alphas, names, scale, axes, box: [...range(0), ...range(1)] };
    box.innerHTML = controls(names, stumps.length);
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Interactive figure: boosting round by round");
    const slider = box.querySelector("[type=range]");
    const summary = box.querySelector(".mc-summary");

    function render() {
      const t = slider.valueAsNumber;
      slider.nextElementSibling.value = t;
      box.querySelector(".mc-plot").innerHTML = plot(states[t], t, all);
      summary.textContent = sentence(states, t, all);
    }

    box.addEventListener("input", render);
    box.querySelectorAll("button").forEach((button) =>
      button.addEventListener("click", () => {
        slider.valueAsNumber += Number(button.dataset.step);
        render();
      }),
    );
    slider.value = start;
    render();
  }

  document.querySelectorAll('[data-widget="boosting-rounds"]').forEach(mount);
})();
