// What does a margin loss measure?
//
// Of the margins u_1, …, u_m of a sample, F(v) is the share that is at most v. The margin loss at rho > 0 is
// the mean of min(1, max(0, 1 - u_i / rho)), which is the mean height of F between 0 and rho: the area under
// F over [0, rho], divided by rho. It lies between the two counts F(0) and F(rho). When all scores are
// multiplied by nu > 0, all margins are, and no prediction changes.
//
// The first half of this file is arithmetic without a page: tests compare it with mcutils.margin.
// The second half puts a ruler into every <div class="mc-widget" data-widget="margin-ruler">, in the place
// of the image of the figure that data-fallback names.
"use strict";

(() => {
  const shareOf = (margins, holds) => margins.filter(holds).length / margins.length;

  // The shares of margins below 0, up to 0 and up to rho, and the margin loss, with all scores times nu.
  function shares(margins, rho, nu) {
    const scaled = margins.map((u) => nu * u);
    const losses = scaled.map((u) => Math.min(1, Math.max(0, 1 - u / rho)));
    return {
      negative: shareOf(scaled, (u) => u < 0),
      nonpositive: shareOf(scaled, (u) => u <= 0),
      loss: losses.reduce((sum, loss) => sum + loss, 0) / losses.length,
      atMost: shareOf(scaled, (u) => u <= rho),
    };
  }

  // The staircase F: its corners [v, height from v on], by increasing v.
  function staircase(margins, nu) {
    const sorted = margins.map((u) => nu * u).sort((a, b) => a - b);
    const corners = [];
    sorted.forEach((v, i) => {
      if (corners.length && corners[corners.length - 1][0] === v) corners.pop();
      corners.push([v, (i + 1) / sorted.length]);
    });
    return corners;
  }

  // The part of the staircase over [low, high]: pieces [from, to, height].
  function pieces(corners, low, high) {
    const found = [];
    let height = 0;
    let from = low;
    for (const [v, next] of corners) {
      if (v >= high) break;
      if (v > from) {
        found.push([from, v, height]);
        from = v;
      }
      height = next;
    }
    found.push([from, high, height]);
    return found;
  }

  const area = (corners, low, high) =>
    pieces(corners, low, high).reduce((sum, [from, to, height]) => sum + (to - from) * height, 0);

  globalThis.mcRuler = { shares, staircase, pieces, area };

  if (typeof document === "undefined") return;

  // ---- the page ----

  const RHO = { least: 0.1, most: 10, step: 0.1 };
  const OCTAVES = 5; // scores times 1/32 to 32, in quarters of an octave
  const PRESETS = [
    ["Start", 2, 0],
    ["ρ small", 0.1, 0],
    ["ρ large", 10, 0],
    ["Scores × 32", 2, 5],
    ["Scores ÷ 32", 2, -5],
  ];
  // Each bar has the marker that shows its height in the picture; a dash for the loss, as its dashed line.
  const BARS = [
    { name: "margin ≤ 0", color: "#0072b2", path: "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0z" },
    { name: "margin loss", color: "#d55e00", path: "M-7,-1.25h5v2.5h-5zM2,-1.25h5v2.5h-5z" },
    { name: "margin ≤ ρ", color: "#1ea578", path: "M0,-5.5L5.5,4.5h-11z" },
  ];

  // In units that are CSS pixels at the width of a phone.
  const PLOT = { width: 340, height: 216, left: 34, right: 330, top: 18, bottom: 176, low: -2, high: 10.4 };
  const xOf = (v) => PLOT.left + ((PLOT.right - PLOT.left) * (v - PLOT.low)) / (PLOT.high - PLOT.low);
  const yOf = (share) => PLOT.bottom - (PLOT.bottom - PLOT.top) * share;

  const percent = (share) => `${(100 * share).toFixed(1)}%`;
  const times = (nu) => (nu >= 1 ? `× ${Number(nu.toPrecision(3))}` : `÷ ${Number((1 / nu).toPrecision(3))}`);

  const outline = (list) =>
    list
      .map(([from, to, height], i) => {
        const [x, end, y] = [xOf(from), xOf(to), yOf(height)].map((c) => c.toFixed(1));
        return `${i ? "V" : `M${x},`}${y}H${end}`;
      })
      .join("");

  function plot(margins, rho, nu) {
    const corners = staircase(margins, nu);
    const { loss, nonpositive, atMost } = shares(margins, rho, nu);
    const under = pieces(corners, 0, rho);
    const at = xOf(rho);
    const mark = (i, x, y) => `<path d="${BARS[i].path}" fill="${BARS[i].color}" transform="translate(${x.toFixed(1)} ${y.toFixed(1)})"/>`;
    return `
      <path class="mc-shade" d="${outline(under)}V${yOf(0)}H${xOf(0)}Z"/>
      <g class="mc-axes"><path d="M${PLOT.left},${PLOT.top}V${PLOT.bottom}H${PLOT.right}M${xOf(0)},${PLOT.top}V${PLOT.bottom}"/></g>
      ${[0, 0.5, 1].map((share) => `<text x="${PLOT.left - 5}" y="${yOf(share) + 4}" text-anchor="end">${share}</text>`).join("")}
      ${[-2, 0, 2, 4, 6, 8, 10].map((v) => `<text x="${xOf(v)}" y="${PLOT.bottom + 15}" text-anchor="middle">${String(v).replace("-", "−")}</text>`).join("")}
      <text x="${(PLOT.left + PLOT.right) / 2}" y="${PLOT.bottom + 34}" text-anchor="middle">margin v</text>
      <path class="mc-curve" d="${outline(pieces(corners, PLOT.low, PLOT.high))}"/>
      <path class="mc-mean" d="M${xOf(0)},${yOf(loss).toFixed(1)}H${at.toFixed(1)}"/>
      <g class="mc-class">${mark(0, xOf(0), yOf(nonpositive))}${mark(2, at, yOf(atMost))}</g>
      <g class="mc-rule"><path d="M${at.toFixed(1)},${PLOT.top}V${PLOT.bottom}"/><circle cx="${at.toFixed(1)}" cy="${PLOT.bottom}" r="9"/>
        <path d="M${(at - 3).toFixed(1)},${PLOT.bottom - 4}v8M${(at + 3).toFixed(1)},${PLOT.bottom - 4}v8"/></g>
      <text x="${at.toFixed(1)}" y="${PLOT.top - 5}" text-anchor="middle" class="mc-label">ρ</text>`;
  }

  function bars(margins, rho, nu) {
    const { loss, nonpositive, atMost } = shares(margins, rho, nu);
    return [nonpositive, loss, atMost]
      .map(
        (share, i) => `<tr><th scope="row"><svg class="mc-marker" viewBox="-8 -8 16 16" aria-hidden="true"><path class="mc-class" d="${BARS[i].path}" fill="${BARS[i].color}"/></svg> ${BARS[i].name}</th>
        <td aria-hidden="true"><svg class="mc-share" viewBox="0 0 100 10" preserveAspectRatio="none"><rect class="mc-class" width="${(100 * share).toFixed(2)}" height="10" fill="${BARS[i].color}"/></svg></td>
        <td>${percent(share)}</td></tr>`,
      )
      .join("");
  }

  function sentence(margins, rho, nu) {
    const { negative, nonpositive, loss } = shares(margins, rho, nu);
    const shaded = area(staircase(margins, nu), 0, rho);
    const counts = [negative, nonpositive].map((share) => Math.round(share * margins.length));
    const wrong = counts[0] === counts[1] ? counts[0] : counts.join(" to "); // ties may go either way
    return `Scores ${times(nu)}: ${wrong} of ${margins.length} predictions wrong; no factor changes this. Shaded area ${shaded.toFixed(3)}, divided by ρ = ${rho.toFixed(1)}: margin loss ${percent(loss)}.`;
  }

  const CONTROLS = `
    <div class="mc-stage"><svg class="mc-plot mc-ruler" viewBox="0 0 ${PLOT.width} ${PLOT.height}" aria-hidden="true"></svg></div>
    <div class="mc-panel">
      <fieldset class="mc-scores mc-settings"><legend>Margin asked for, and scale of the scores</legend>
        <label><span>ρ<i class="mc-heard">, margin asked for</i></span>
          <input type="range" data-key="rho" min="${RHO.least}" max="${RHO.most}" step="${RHO.step}" autocomplete="off"><output aria-live="off"></output></label>
        <label><span>ν<i class="mc-heard">, factor of all scores</i></span>
          <input type="range" data-key="nu" min="${-OCTAVES}" max="${OCTAVES}" step="0.25" autocomplete="off"><output aria-live="off"></output></label>
      </fieldset>
      <table class="mc-stats mc-shares"></table>
      <div class="mc-actions" role="group" aria-label="Positions">${PRESETS.map(([name], i) => `<button type="button" data-preset="${i}">${name}</button>`).join("")}</div>
      <p class="mc-summary" role="status" aria-live="polite"></p>
    </div>
    <p class="mc-help"><strong>Try:</strong> multiply the scores by 4, then ask for a ρ four times as large. Which numbers come back?</p>`;

  function mount(box) {
    const margins = JSON.parse(box.dataset.hundredths).map((u) => u / 100);
    box.innerHTML = CONTROLS;
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Interactive figure: the margin ruler");
    const [rho, nu] = box.querySelectorAll("[type=range]");
    const drawing = box.querySelector(".mc-ruler");
    const summary = box.querySelector(".mc-summary");

    function render() {
      const values = [rho.valueAsNumber, 2 ** nu.valueAsNumber];
      drawing.innerHTML = plot(margins, ...values);
      box.querySelector(".mc-shares").innerHTML = `<caption>Shares of the sample</caption>${bars(margins, ...values)}`;
      [values[0].toFixed(1), times(values[1])].forEach((text, i) => {
        const slider = [rho, nu][i];
        slider.nextElementSibling.value = text;
        slider.setAttribute("aria-valuetext", text);
      });
      const said = sentence(margins, ...values);
      if (summary.textContent !== said) summary.textContent = said; // an unchanged sentence is not read again
    }

    function set(newRho, octaves) {
      rho.valueAsNumber = newRho;
      if (octaves !== undefined) nu.valueAsNumber = octaves;
      render();
    }

    // The ruler follows a finger or the mouse; the slider rounds and keeps it in range.
    function drag(event) {
      const frame = drawing.getBoundingClientRect();
      const x = ((event.clientX - frame.left) * PLOT.width) / frame.width;
      const v = PLOT.low + ((x - PLOT.left) * (PLOT.high - PLOT.low)) / (PLOT.right - PLOT.left);
      set(Math.min(RHO.most, Math.max(RHO.least, v)));
    }
    drawing.addEventListener("pointerdown", (event) => {
      drawing.setPointerCapture(event.pointerId);
      drag(event);
    });
    drawing.addEventListener("pointermove", (event) => {
      if (drawing.hasPointerCapture(event.pointerId)) drag(event);
    });
    box.addEventListener("input", render);
    box.addEventListener("click", ({ target }) => {
      const preset = PRESETS[target.dataset.preset];
      if (preset) set(preset[1], preset[2]);
    });

    // On the screen the ruler stands for the image; the caption below says what both show. Paper keeps the image.
    const figure = document.getElementById(box.dataset.fallback ?? "");
    const image = figure?.querySelector("img");
    if (image) {
      image.classList.add("mc-static");
      figure.insertBefore(box, figure.querySelector("figcaption"));
    }
    set(PRESETS[0][1], PRESETS[0][2]);
  }

  document.querySelectorAll('[data-widget="margin-ruler"]').forEach(mount);
})();
