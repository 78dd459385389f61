// Which branches go when a leaf costs more?
//
// A pruned tree has the value G = Q + lambda |leaves|, where Q counts its training mistakes. For every
// price lambda one tree of the least G is contained in all others, and weakest-link pruning finds them:
// of the inner nodes n of a tree, those with the least link
//     r(n) = (Q(n) - Q(branch of n)) / (leaves of the branch - 1)
// are collapsed, all of them together, and so on until the root is left.
//
// The first half of this file is arithmetic without a page: tests compare it with mcutils.pruning. Links
// are pairs of whole numbers [numerator, denominator > 0], so that ties are exact.
// The second half puts a slider into every <div class="mc-widget" data-widget="pruning-path">.
"use strict";

(() => {
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  const mistakes = (counts) => sum(counts) - Math.max(...counts);
  const compare = ([a, b], [c, d]) => a * d - c * b; // of fractions, as their difference

  // Of the nodes that are left: is it a leaf, how many leaves are below it, what do they cost.
  function branches({ left, right }, risks, kept) {
    const below = left.map((child, n) => ({ leaf: child < 0 || !kept[child], leaves: 1, risk: risks[n] }));
    for (let n = left.length - 1; n >= 0; n -= 1) {
      if (!kept[n] || below[n].leaf) continue;
      const sides = [below[left[n]], below[right[n]]];
      below[n].leaves = sum(sides.map((side) => side.leaves));
      below[n].risk = sum(sides.map((side) => side.risk));
    }
    return below;
  }

  // r(n) of the inner nodes, null elsewhere.
  function links(shape, risks, kept) {
    const below = branches(shape, risks, kept);
    return below.map(({ leaf, leaves, risk }, n) => (leaf || !kept[n] ? null : [risks[n] - risk, leaves - 1]));
  }

  // What is left when some nodes become leaves. Children have larger numbers than their parents.
  function collapse({ left, right }, kept, chosen) {
    const still = [...kept];
    left.forEach((child, n) => {
      if (child < 0 || (still[n] && !chosen[n])) return;
      still[child] = false;
      still[right[n]] = false;
    });
    return still;
  }

  // All smallest minimisers for prices from 0 on: each from its price to the next one's.
  function sequence(shape, risks) {
    const found = [];
    let kept = risks.map(() => true);
    let price = [0, 1];
    for (;;) {
      const ratios = links(shape, risks, kept);
      const inner = ratios.filter((ratio) => ratio);
      const least = inner.reduce((a, b) => (compare(b, a) < 0 ? b : a), inner[0] ?? null);
      if (least && compare(least, price) === 0) {
        // of price 0, before the first tree: it costs nothing
        kept = collapse(shape, kept, ratios.map((ratio) => ratio && compare(ratio, least) === 0));
        continue;
      }
      const { leaves, risk } = branches(shape, risks, kept)[0];
      const weakest = ratios.map((ratio) => Boolean(ratio) && compare(ratio, least) === 0);
      found.push({ price, leaves, risk, kept, links: ratios, weakest });
      if (!least) return found;
      kept = collapse(shape, kept, weakest);
      price = least;
    }
  }

  // Places of the nodes: the leaves of the full tree side by side, a node in the middle above its children.
  function layout({ left, right }) {
    const x = left.map(() => 0);
    const depth = left.map(() => 0);
    let next = 0;
    (function place(n) {
      if (left[n] < 0) {
        x[n] = next;
        next += 1;
        return;
      }
      for (const child of [left[n], right[n]]) {
        depth[child] = depth[n] + 1;
        place(child);
      }
      x[n] = (x[left[n]] + x[right[n]]) / 2;
    })(0);
    return { x, depth, width: next };
  }

  // The classes 1 to 4 look here as in every figure of the book.
  const CLASS_STYLES = [
    { color: "#0072b2", path: "M-6,0a6,6 0 1,0 12,0a6,6 0 1,0 -12,0z" },
    { color: "#d55e00", path: "M-5.5,-5.5h11v11h-11z" },
    { color: "#1ea578", path: "M0,-6.5L6.5,5.5h-13z" },
    { color: "#962d4b", path: "M0,-7L7,0L0,7L-7,0z" },
  ];

  globalThis.mcPruning = { mistakes, links, sequence, layout, CLASS_STYLES };

  if (typeof document === "undefined") return;

  // ---- the page ----

  const [WIDTH, MARGIN, STEP] = [360, 16, 44]; // of the drawing: its unit is a pixel at the width of a phone

  const number = ([a, b]) => String(Number((a / b).toFixed(2)));
  const count = (n, one, several) => `${n} ${n === 1 ? one : several}`;

  function marker(y) {
    const { color, path } = CLASS_STYLES[y % CLASS_STYLES.length];
    return `<path class="mc-class" d="${path}" fill="${color}"/>`;
  }

  function drawing({ tree, risks, places, letters }, { kept, links: ratios, weakest }) {
    const { x, depth, width } = places;
    const at = (n) => [MARGIN + (x[n] * (WIDTH - 2 * MARGIN)) / Math.max(1, width - 1), MARGIN + depth[n] * STEP];
    const edges = { there: [], gone: [] };
    tree.left.forEach((child, n) => {
      if (child < 0) return;
      const list = kept[child] ? edges.there : edges.gone;
      for (const end of [child, tree.right[n]]) list.push(`M${at(n).join()}L${at(end).join()}`);
    });
    const nodes = tree.counts.map((counts, n) => {
      if (!kept[n]) return "";
      const inside = ratios[n]
        ? `<circle r="9" class="${weakest[n] ? "mc-weakest" : "mc-inner"}"/><text y="4" text-anchor="middle">${letters[n]}</text>`
        : `${marker(counts.indexOf(Math.max(...counts)))}<text y="20" text-anchor="middle">${risks[n]}</text>`;
      return `<g transform="translate(${at(n).join()})">${inside}</g>`;
    });
    const height = 2 * MARGIN + 12 + Math.max(...depth) * STEP;
    return `<svg class="mc-plot mc-tree" viewBox="0 0 ${WIDTH} ${height}" aria-hidden="true">
      <path class="mc-gone" d="${edges.gone.join("")}"/><path class="mc-edges" d="${edges.there.join("")}"/>${nodes.join("")}</svg>`;
  }

  function row(n, { tree, letters }, { links: ratios, weakest }) {
    const verdict = weakest[n] ? "weakest" : "";
    return `<tr class="${weakest[n] ? "mc-chosen" : ""}"><th scope="row">${letters[n]}</th>
      <td>${tree.questions[n]}</td><td>${number(ratios[n])} <b>${verdict}</b></td></tr>`;
  }

  function range(path, i) {
    const from = number(path[i].price);
    return i + 1 < path.length ? `${from} ≤ λ < ${number(path[i + 1].price)}` : `λ ≥ ${from}`;
  }

  function sentence(path, i, letters) {
    const { leaves, risk, weakest } = path[i];
    const start = `${range(path, i)}: ${count(leaves, "leaf", "leaves")}, ${count(risk, "training mistake", "training mistakes")}.`;
    if (i + 1 === path.length) return `${start} Only the root is left.`;
    const names = letters.filter((_, n) => weakest[n]);
    const saved = leaves - path[i + 1].leaves;
    const more = path[i + 1].risk - risk;
    const who = names.length > 1 ? `nodes ${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : `node ${names[0]}`;
    return `${start} Next ${who}: ${count(saved, "leaf", "leaves")} saved for ${count(more, "mistake", "mistakes")} more.`;
  }

  function mount(box) {
    const tree = JSON.parse(box.dataset.tree);
    const risks = tree.counts.map(mistakes);
    const path = sequence(tree, risks);
    let used = 0;
    const letters = tree.left.map((child) => (child < 0 ? "" : String.fromCharCode(65 + used++)));
    const all = { tree, risks, places: layout(tree), letters };
    box.innerHTML = `
      <fieldset class="mc-scores mc-path"><legend>The price λ of a leaf, one step for each tree of the sequence</legend>
        <label><span>λ<i class="mc-heard">, price of a leaf</i></span>
          <input type="range" min="0" max="${path.length - 1}" step="1" autocomplete="off"><output aria-live="off"></output></label>
      </fieldset>
      <p class="mc-summary" role="status" aria-live="polite"></p>
      <ul class="mc-key">${tree.classes
        .map((name, y) => `<li><svg class="mc-marker" viewBox="-8 -8 16 16" aria-hidden="true">${marker(y)}</svg> ${name}</li>`)
        .join("")}<li>number: training mistakes of the leaf</li><li>yes goes to the right</li></ul>
      <div class="mc-tables"><div class="mc-drawn"></div><table class="mc-links"></table></div>`;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Interactive figure: the sequence of pruned trees");
    const slider = box.querySelector("[type=range]");
    const summary = box.querySelector(".mc-summary");

    function render() {
      const i = slider.valueAsNumber;
      const text = range(path, i);
      slider.nextElementSibling.value = text;
      slider.setAttribute("aria-valuetext", text);
      box.querySelector(".mc-drawn").innerHTML = drawing(all, path[i]);
      const inner = [...letters.keys()].filter((n) => path[i].links[n]);
      box.querySelector(".mc-links").innerHTML = `
        <caption>The inner nodes that are left, and their links r</caption>
        <tr><th scope="col">node</th><th scope="col">question</th><th scope="col">r</th></tr>
        ${inner.map((n) => row(n, all, path[i])).join("")}`;
      const said = sentence(path, i, letters);
      if (summary.textContent !== said) summary.textContent = said; // an unchanged sentence is not read again
    }

    slider.value = 0;
    box.addEventListener("input", render);
    render();
  }

  document.querySelectorAll('[data-widget="pruning-path"]').forEach(mount);
})();
