// Which answer is best when mistakes differ in cost?
//
// Three classes have the probabilities p(1), p(2), p(3) at an input: a point of a triangle. An answer a has
// the expected cost
//     E(a) = sum over y of p(y) cost(y, a),
// and the best answers are those with the smallest. A fourth answer may be to abstain.
//
// The first half of this file is arithmetic without a page: tests compare it with mcutils.risk. Probabilities
// are whole numbers of hundredths and costs whole numbers of tenths, so a tie is found exactly.
// The second half builds a panel in every <div class="mc-widget" data-widget="cost-triangle">.
"use strict";

(() => {
  const PARTS = 100;
  const TENTHS = 10;

  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

  // Row y of costs belongs to the true class y, column a to the answer a.
  const expected = (costs, p) => costs[0].map((_, a) => sum(p.map((share, y) => share * costs[y][a])));

  // The answer with the smallest expected cost; if there are several, the one with the smallest index.
  function best(values) {
    const smallest = Math.min(...values);
    const least = [...values.keys()].filter((a) => values[a] === smallest);
    return { index: least[0], tied: least.length > 1, least };
  }

  // The part of a polygon where a linear function of p is at least 0.
  function clip(polygon, slope) {
    const value = (p) => sum(p.map((share, y) => share * slope[y]));
    return polygon.flatMap((here, i) => {
      const before = polygon.at(i - 1);
      const [u, v] = [value(before), value(here)];
      const kept = v >= 0 ? [here] : [];
      if (u * v >= 0) return kept;
      return [here.map((share, y) => (before[y] * v - share * u) / (v - u)), ...kept];
    });
  }

  // The polygon on which an answer is chosen: no other answer is better, and no earlier one always ties.
  function region(costs, a) {
    let polygon = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
    for (const b of costs[0].keys()) {
      if (b === a) continue;
      const slope = costs.map((row) => row[b] - row[a]);
      if (b < a && slope.every((difference) => difference === 0)) return [];
      polygon = clip(polygon, slope);
    }
    return area(polygon) > 1e-9 ? polygon : [];
  }

  // As a share of the whole triangle.
  function area(polygon) {
    return Math.abs(sum(polygon.map(([, b, c], i) => {
      const [, e, f] = polygon.at(i - 1);
      return e * c - b * f;
    })));
  }

  // The centre of mass of a polygon.
  function centre(polygon) {
    const pieces = polygon.slice(2).map((last, i) => [polygon[0], polygon[i + 1], last]);
    const weights = pieces.map(area);
    const middles = pieces.map(([a, b, c]) => a.map((share, y) => (share + b[y] + c[y]) / 3));
    return [0, 1, 2].map((y) => sum(middles.map((middle, i) => middle[y] * weights[i])) / sum(weights));
  }

  // The point of the grid next to three numbers with sum 1, of which some may be negative.
  function snap(shares) {
    const inside = shares.map((share) => Math.max(0, share));
    const exact = inside.map((share) => (PARTS * share) / sum(inside));
    const whole = exact.map(Math.floor);
    const order = [0, 1, 2].sort((a, b) => exact[b] - whole[b] - (exact[a] - whole[a]));
    for (let i = 0; sum(whole) < PARTS; i += 1) whole[order[i]] += 1;
    return whole;
  }

  // One press of an arrow key: left and right move between classes 1 and 2, up and down to and from class 3.
  function move(p, key, step) {
    const next = [...p];
    const shift = (from, to, most) => {
      const amount = Math.min(most, next[from]);
      next[from] -= amount;
      next[to] += amount;
      return amount;
    };
    if (key === "ArrowRight") shift(0, 1, step);
    if (key === "ArrowLeft") shift(1, 0, step);
    if (key === "ArrowUp") {
      const [more, less] = next[0] >= next[1] ? [0, 1] : [1, 0];
      const taken = shift(less, 2, Math.floor(step / 2));
      shift(less, 2, step - taken - shift(more, 2, step - taken));
    }
    if (key === "ArrowDown") {
      const [more, less] = next[0] >= next[1] ? [0, 1] : [1, 0];
      shift(2, less, Math.ceil(step / 2));
      shift(2, more, Math.floor(step / 2));
    }
    return next;
  }

  // Costs in tenths. Without a fourth column nobody may abstain.
  const EQUAL = [[0, 10, 10], [10, 0, 10], [10, 10, 0]];
  const PRESETS = {
    equal: { name: "All mistakes cost 1", costs: EQUAL, abstain: null },
    miss: { name: "Missing class 3 costs 4", costs: [[0, 10, 10], [10, 0, 10], [40, 40, 0]], abstain: null },
    line: { name: "Classes on a line", costs: [[0, 5, 10], [5, 0, 5], [10, 5, 0]], abstain: null },
    abstain: { name: "Abstaining costs 0.4", costs: EQUAL, abstain: 4 },
  };
  const START = { preset: "miss", p: [45, 30, 25] };

  const matrix = ({ costs, abstain }) => costs.map((row) => (abstain === null ? row : [...row, abstain]));

  // The classes 1 to 3 look here as in every figure of the book.
  const CLASS_STYLES = [
    { color: "#0072b2", path: "M-6,0a6,6 0 1,0 12,0a6,6 0 1,0 -12,0z" },
    { color: "#d55e00", path: "M-5.5,-5.5h11v11h-11z" },
    { color: "#1ea578", path: "M0,-6.5L6.5,5.5h-13z" },
  ];

  globalThis.mcCosts = { PARTS, TENTHS, expected, best, region, area, snap, move, matrix, PRESETS, START, CLASS_STYLES };

  if (typeof document === "undefined") return;

  // ---- the page ----

  const [WIDTH, HEIGHT] = [320, 292]; // of the drawing
  const [LEFT, BOTTOM, SIDE] = [30, 268, 260];
  const ABSTAIN = 3;
  const PLACES = [START.p, [40, 40, 20], [34, 33, 33], [10, 80, 10]]; // where Enter leads, one after the other
  const GREY = "#666666";

  const at = ([, b, c]) => [LEFT + SIDE * (b + c / 2), BOTTOM - (SIDE * Math.sqrt(3) * c) / 2];
  const text = (tenths) => String(Number((tenths / TENTHS).toFixed(1)));
  const costText = (value) => (value / (PARTS * TENTHS)).toFixed(3).replace(/0$/, "");
  const shareText = (share) => (share / PARTS).toFixed(2);
  const answerName = (a) => (a === ABSTAIN ? "abstaining" : `answer ${a + 1}`);

  function marker(a) {
    if (a === ABSTAIN) return `<text class="mc-abstain" y="5" text-anchor="middle">?</text>`;
    return `<path class="mc-class" d="${CLASS_STYLES[a].path}" fill="${CLASS_STYLES[a].color}"/>`;
  }

  const symbol = (a) => `<svg class="mc-marker" viewBox="-8 -8 16 16" aria-hidden="true">${marker(a)}</svg>`;

  // Stripes in a direction of its own for each answer, so that no region depends on its colour.
  function patterns(id) {
    return [0, 1, 2, 3]
      .map((a) => {
        const color = CLASS_STYLES[a]?.color ?? GREY;
        return `<pattern id="${id}-${a}" width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(${45 * a})">
          <rect width="8" height="8" fill="${color}" fill-opacity="0.22"/><path d="M0,0V8" stroke="${color}" stroke-opacity="0.55"/></pattern>`;
      })
      .join("");
  }

  function picture(costs, p, chosen, id) {
    const outline = (polygon) => polygon.map((point) => at(point).map((x) => x.toFixed(1)).join()).join(" ");
    const regions = [...costs[0].keys()].map((a) => [a, region(costs, a)]).filter(([, polygon]) => polygon.length);
    const corners = [[LEFT - 16, BOTTOM + 16], [LEFT + SIDE + 16, BOTTOM + 16], [WIDTH / 2, BOTTOM - SIDE * 0.866 - 10]];
    const [x, y] = at(p.map((share) => share / PARTS));
    return `<svg class="mc-plot" viewBox="0 0 ${WIDTH} ${HEIGHT}" aria-hidden="true"><defs>${patterns(id)}</defs>
      ${regions.map(([a, polygon]) => `<polygon class="mc-class" points="${outline(polygon)}" fill="url(#${id}-${a})" stroke="#1a1a1a"/>`).join("")}
      ${regions
        .map(([a, polygon]) => {
          const [u, v] = at(centre(polygon));
          return `<text class="mc-answer" x="${u.toFixed(1)}" y="${(v + 5).toFixed(1)}" text-anchor="middle">${a === ABSTAIN ? "?" : a + 1}</text>`;
        })
        .join("")}
      ${corners.map(([u, v], i) => `<g transform="translate(${u},${v})">${marker(i)}</g>`).join("")}
      <circle class="mc-spot" cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="8"/><g transform="translate(${x.toFixed(1)},${y.toFixed(1)}) scale(0.8)">${marker(chosen)}</g></svg>`;
  }

  function bars(values, { index, least }, most) {
    const rows = values.map((value, a) => {
      const verdict = a === index ? "✓ best" : least.includes(a) ? "tied" : "";
      return `<tr class="${a === index ? "mc-chosen" : ""}"><th scope="row">${symbol(a)} ${a === ABSTAIN ? "abstain" : a + 1}</th>
        <td>${costText(value)}</td><td style="--share:${(value / most).toFixed(3)}"><b>${verdict}</b></td></tr>`;
    });
    return `<caption>Expected cost of each answer at the point</caption>
      <tr><th scope="col">answer</th><th scope="col">cost</th><td></td></tr>${rows.join("")}`;
  }

  function sentence(p, values, { index, tied, least }) {
    const shares = `At p = (${p.map(shareText).join(", ")})`;
    if (tied) {
      const names = least.map(answerName);
      const equal = `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
      return `${shares}, ${equal} tie at expected cost ${costText(values[index])}; the first one wins.`;
    }
    const likely = best(p.map((share) => -share));
    const surprise = index !== ABSTAIN && index !== likely.index && !likely.tied ? `, although class ${likely.index + 1} is the most probable` : "";
    return `${shares}, ${answerName(index)} has the smallest expected cost, ${costText(values[index])}${surprise}.`;
  }

  const cell = (y, a) =>
    y === a
      ? `<td>0</td>`
      : `<td><input type="number" min="0" max="9" step="0.1" inputmode="decimal" data-y="${y}" data-a="${a}" aria-label="cost of answer ${a + 1} when class ${y + 1} is true" autocomplete="off"></td>`;

  const controls = (id) => `
    <div class="mc-cost-stage">
      <div class="mc-simplex"><div class="mc-drawn"></div>
        <div class="mc-handle" tabindex="0" role="application" aria-roledescription="point in a triangle"
          aria-label="The probabilities of the three classes. Left and right: between class 1 and class 2. Up and down: to and from class 3. Shift: small steps. Enter: another point."></div></div>
      <table class="mc-expected"></table>
    </div>
    <div class="mc-cost-panel">
      <p class="mc-summary" role="status" aria-live="polite"></p>
      <p class="mc-try"><b>Try:</b> choose “All mistakes cost 1”. Then raise the cost of answer 1 when class 3 is true until the best answer changes.</p>
      <fieldset class="mc-actions"><legend>Costs to start from</legend>
        ${Object.entries(PRESETS).map(([key, { name }]) => `<button type="button" data-preset="${key}">${name}</button>`).join("")}
      </fieldset>
      <table class="mc-costs"><caption>Cost of each mistake, 0 to 9</caption>
        <tr><th scope="col">true class</th>${[0, 1, 2].map((a) => `<th scope="col">answer ${a + 1}</th>`).join("")}</tr>
        ${[0, 1, 2].map((y) => `<tr><th scope="row">${symbol(y)} ${y + 1}</th>${[0, 1, 2].map((a) => cell(y, a)).join("")}</tr>`).join("")}
      </table>
      <div class="mc-abstaining">
        <label><input type="checkbox" autocomplete="off"> “I don’t know” is allowed</label>
        <label for="${id}-price">at cost</label>
        <input id="${id}-price" type="range" min="0" max="10" step="1" autocomplete="off"><output for="${id}-price" aria-live="off"></output>
      </div>
    </div>`;

  function mount(box, number) {
    const id = `mc-costs-${number}`;
    // what a reader sees without scripts stays for the printer; a link to its figure leads to this panel
    const still = document.createElement("div");
    still.className = "mc-on-paper";
    still.append(...box.childNodes);
    still.querySelectorAll("details").forEach((fold) => fold.remove()); // nobody could open them
    const live = document.createElement("div");
    live.className = "mc-live";
    live.innerHTML = controls(id);
    live.id = box.dataset.fallback;
    still.querySelector(`#${live.id}`)?.removeAttribute("id");
    box.append(live, still);
    live.setAttribute("role", "group");
    live.setAttribute("aria-label", "Interactive figure: costs and the best answer");

    const find = (selector) => live.querySelector(selector);
    const simplex = find(".mc-simplex");
    const handle = find(".mc-handle");
    const inputs = [...live.querySelectorAll("[type=number]")];
    const allowed = find("[type=checkbox]");
    const price = find("[type=range]");
    const summary = find(".mc-summary");
    let costs = EQUAL;
    let p = START.p;

    function render() {
      const abstain = allowed.checked ? price.valueAsNumber : null;
      const table = matrix({ costs, abstain });
      const values = expected(table, p);
      const choice = best(values);
      find(".mc-drawn").innerHTML = picture(table, p, choice.index, id);
      find(".mc-expected").innerHTML = bars(values, choice, Math.max(...values, PARTS * TENTHS));
      const [x, y] = at(p.map((share) => share / PARTS));
      handle.style.left = `${(100 * x) / WIDTH}%`;
      handle.style.top = `${(100 * y) / HEIGHT}%`;
      price.nextElementSibling.value = text(price.valueAsNumber);
      price.setAttribute("aria-valuetext", text(price.valueAsNumber));
      const words = sentence(p, values, choice);
      if (summary.textContent !== words) summary.textContent = words; // an unchanged sentence is not read again
    }

    function load(key) {
      const preset = PRESETS[key];
      costs = preset.costs.map((row) => [...row]);
      inputs.forEach((input) => (input.value = text(costs[input.dataset.y][input.dataset.a])));
      allowed.checked = preset.abstain !== null;
      price.value = preset.abstain ?? 4;
      render();
    }

    inputs.forEach((input) => {
      input.addEventListener("input", () => {
        if (!Number.isFinite(input.valueAsNumber)) return; // being typed
        const tenths = Math.round(TENTHS * Math.min(9, Math.max(0, input.valueAsNumber)));
        costs[input.dataset.y][input.dataset.a] = tenths;
        render();
      });
      // what is shown is what is used
      input.addEventListener("change", () => (input.value = text(costs[input.dataset.y][input.dataset.a])));
    });
    allowed.addEventListener("input", render);
    price.addEventListener("input", () => {
      allowed.checked = true;
      render();
    });
    live.querySelectorAll("[data-preset]").forEach((button) => button.addEventListener("click", () => load(button.dataset.preset)));

    // ---- the point: a press anywhere puts it there, a drag moves it, arrow keys too ----

    function follow({ clientX, clientY }) {
      const { left, top, width } = simplex.getBoundingClientRect();
      const scale = WIDTH / width;
      const c = (BOTTOM - scale * (clientY - top)) / (SIDE * Math.sqrt(0.75));
      const b = (scale * (clientX - left) - LEFT) / SIDE - c / 2;
      p = snap([1 - b - c, b, c]);
      render();
    }

    let dragged = null;
    handle.addEventListener("pointerdown", (event) => {
      if (!event.isPrimary || event.button !== 0) return;
      dragged = event.pointerId;
      handle.setPointerCapture(dragged);
    });
    handle.addEventListener("pointermove", (event) => event.pointerId === dragged && follow(event));
    for (const end of ["pointerup", "pointercancel"]) handle.addEventListener(end, () => (dragged = null));
    simplex.addEventListener("click", (event) => event.target !== handle && follow(event));

    handle.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "Enter") p = PLACES[(PLACES.indexOf(p) + 1) % PLACES.length];
      else if (event.key.startsWith("Arrow")) p = move(p, event.key, event.shiftKey ? 1 : 6);
      else return;
      event.preventDefault();
      render();
    });

    load(START.preset);
  }

  document.querySelectorAll('[data-widget="cost-triangle"]').forEach(mount);
})();
