// Place points of two to five classes, and see the support vector machine that separates them.
//
// The machines are in svm-machine.js, which the page loads before. Here are the data to begin with; the picture, which
// turns a machine into pixels on a canvas; and the page, which puts both into every
// <div class="mc-widget" data-widget="svm-demo"> and listens to mouse, fingers and keys.
"use strict";

// ---- data to begin with, the same on every machine ----
(() => {
  // mulberry32: a small generator of random numbers from a seed
  function generator(seed) {
    let state = seed;
    return () => {
      state = (state + 0x6d2b79f5) | 0;
      let t = Math.imul(state ^ (state >>> 15), state | 1);
      t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
      return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
    };
  }

  // a little from the frame
  const inside = (x) => Math.round(1000 * Math.min(0.97, Math.max(-0.97, x))) / 1000;

  // `rule(uniform, normal, i)` gives the i-th example: two coordinates and a class, 0 to 4.
  function sample(count, seed, rule) {
    const random = generator(seed);
    const uniform = (low, high) => low + (high - low) * random();
    const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return Array.from({ length: count }, (_, i) => {
      const [x, y, c] = rule(uniform, normal, i);
      return [inside(x), inside(y), Number(c)];
    });
  }

  // A cloud for each of k classes, their centres on a circle.
  const around = (k, radius, spread) => (_, normal, i) => {
    const angle = Math.PI * (0.5 + (2 * (i % k)) / k);
    return [radius * Math.cos(angle) + spread * normal(), radius * Math.sin(angle) + spread * normal(), i % k];
  };

  const EXAMPLES = {
    clouds: {
      name: "two clouds",
      points: () =>
        sample(60, 3, (_, normal, i) => {
          const side = i % 2 ? 0.35 : -0.35;
          return [side + 0.22 * normal(), 0.6 * side + 0.28 * normal(), i % 2];
        }),
    },
    outlier: {
      name: "separable but for one",
      points: () =>
        sample(41, 5, (uniform, _, i) => {
          if (i === 40) return [-0.6, 0.35, 1];
          return [(i % 2 ? 1 : -1) * uniform(0.15, 0.9), uniform(-0.9, 0.9), i % 2];
        }),
    },
    circle: {
      name: "a circle inside",
      points: () =>
        sample(90, 8, (uniform, normal) => {
          const [x, y] = [uniform(-0.95, 0.95), uniform(-0.95, 0.95)];
          return [x, y, Math.hypot(x, y) + 0.07 * normal() < 0.6];
        }),
    },
    squares: {
      name: "four squares",
      points: () =>
        sample(100, 2, (uniform) => {
          const [x, y] = [uniform(-0.95, 0.95), uniform(-0.95, 0.95)];
          return [x, y, x > 0 !== y > 0];
        }),
    },
    spirals: {
      name: "two spirals",
      points: () =>
        sample(120, 4, (_, normal, i) => {
          const turn = (i >> 1) / 60;
          const angle = 0.4 + 3.2 * Math.PI * Math.sqrt(turn) + (i % 2) * Math.PI;
          const radius = 0.06 + 0.86 * Math.sqrt(turn);
          return [radius * Math.cos(angle) + 0.015 * normal(), radius * Math.sin(angle) + 0.015 * normal(), i % 2];
        }),
    },
    many: {
      name: "200 points that overlap",
      points: () =>
        sample(200, 6, (_, normal, i) => {
          const side = i % 2 ? 0.22 : -0.22;
          return [side + 0.33 * normal(), 0.38 * normal() + (i % 2 ? 1 : -1) * 0.1, i % 2];
        }),
    },
    chance: {
      name: "classes by chance",
      points: () => sample(80, 9, (uniform) => [uniform(-0.95, 0.95), uniform(-0.95, 0.95), uniform(0, 1) < 0.5]),
    },
    three: { name: "three clouds", points: () => sample(75, 11, around(3, 0.5, 0.24)) },
    nested: {
      name: "three classes, one between two",
      points: () =>
        sample(90, 12, (uniform, normal, i) => {
          const x = (i % 3) * 0.5 - 0.5 + 0.13 * normal();
          return [x, uniform(-0.9, 0.9), i % 3];
        }),
    },
    sectors: {
      name: "five sectors",
      points: () =>
        sample(100, 13, (uniform, normal) => {
          const [x, y] = [uniform(-0.95, 0.95), uniform(-0.95, 0.95)];
          const turn = (Math.atan2(y, x) + 0.08 * normal()) / (2 * Math.PI);
          return [x, y, Math.floor(5 * (turn - Math.floor(turn)))];
        }),
    },
    five: { name: "200 points of five classes", points: () => sample(200, 14, around(5, 0.55, 0.24)) },
  };

  // The classes look here as in every figure of the book.
  const STYLES = [
    { name: "circle", color: "#0072b2", path: "M-5.5,0a5.5,5.5 0 1,0 11,0a5.5,5.5 0 1,0 -11,0z" },
    { name: "square", color: "#d55e00", path: "M-5,-5h10v10h-10z" },
    { name: "triangle", color: "#1ea578", path: "M0,-6.5L6,5h-12z" },
    { name: "diamond", color: "#962d4b", path: "M0,-6.5L6.5,0L0,6.5L-6.5,0z" },
    { name: "wedge", color: "#9678ff", path: "M0,6.5L6,-5h-12z" },
  ];

  Object.assign(globalThis.mcSvm, { EXAMPLES, STYLES });
})();

// ---- the picture ----
(() => {
  if (typeof document === "undefined") return;

  const { STYLES, contours, rounded } = globalThis.mcSvm;
  const INK = "#1a1a1a";
  const PAPER = 255;
  const LEVELS = [
    { level: 0, width: 2.6, dash: [] },
    { level: 1, width: 1.5, dash: [7, 4] },
    { level: -1, width: 1.5, dash: [1.5, 4] },
  ];
  const RINGS = { free: { dash: [], width: 1.8 }, bound: { dash: [2.5, 2.5], width: 1.8 } };
  const RING = 9;
  const HATCH = 9; // pixels from line to line
  const TINTS = { within: 0.09, beyond: 0.2, line: 0.45 }; // shares of the class's colour

  // Fine enough for the kernel's width; the time grows with the square.
  function fineness({ kernel, gamma }) {
    if (kernel !== "rbf" || gamma < 20) return 97;
    return gamma < 1000 ? 161 : 241;
  }

  // What is to be drawn of a machine: `fields` are the scores of classes on a lattice, of which the largest wins, and
  // of equals the first; `lines` are levels of functions there.

  // Of the two-class machine, from its scores. Half a score for one side and half for the other, so that they differ
  // by the score; 0 is the second class.
  function sides(scores) {
    // a score that is a level up to rounding does not flicker between its sides
    const values = scores.map((score) => LEVELS.reduce((x, { level }) => (Math.abs(score - level) < 1e-6 ? level : x), score));
    return {
      fields: [
        { c: 1, values: values.map((score) => -score / 2) },
        { c: 0, values: values.map((score) => score / 2) },
      ],
      lines: LEVELS.map((line) => ({ ...line, values })),
    };
  }

  // Of several classes: where each has the largest score, and where by 1.
  function regions(list) {
    const fields = list.map(({ c, scores }) => ({ c, values: scores.map(rounded) }));
    const leads = fields.map(({ values }) =>
      values.map((score, i) => score - fields.reduce((most, other) => (other.values === values ? most : Math.max(most, other.values[i])), -Infinity)),
    );
    return { fields, lines: leads.flatMap((values) => [LEVELS[0], LEVELS[1]].map((line) => ({ ...line, values }))) };
  }

  // The hatchings of the classes go in different directions; that of the fifth in two.
  const HATCHINGS = [
    (x, y, period) => (x - y + 1e3 * period) % period,
    (x, y, period) => (x + y) % period,
    (_, y, period) => y % period,
    (x, _, period) => x % period,
    (x, y, period) => Math.min((x + y) % (2 * period), (x - y + 1e3 * period) % (2 * period)),
  ];

  // Each class's side in a tint: strong and hatched beyond the margin, faint within it.
  function shade(context, fields, n, size, ratio) {
    const width = Math.round(size * ratio);
    const image = context.createImageData(width, width);
    const data = new Uint32Array(image.data.buffer);
    const mix = (color, share) => {
      const [x, y, z] = [1, 3, 5].map((at) => Math.round(PAPER + (parseInt(color.slice(at, at + 2), 16) - PAPER) * share));
      return ((255 << 24) | (z << 16) | (y << 8) | x) >>> 0;
    };
    const tints = fields.map(({ c }) => [TINTS.within, TINTS.beyond, TINTS.line].map((share) => mix(STYLES[c].color, share)));
    const hatchings = fields.map(({ c }) => HATCHINGS[c]);
    const period = HATCH * ratio;
    const rows = fields.map(() => new Float64Array(n));
    for (let py = 0; py < width; py += 1) {
      const y = (py / (width - 1)) * (n - 1);
      const r = Math.min(n - 2, Math.floor(y));
      rows.forEach((row, f) => {
        const { values } = fields[f];
        for (let c = 0; c < n; c += 1) row[c] = values[r * n + c] * (r + 1 - y) + values[(r + 1) * n + c] * (y - r);
      });
      for (let px = 0; px < width; px += 1) {
        const x = (px / (width - 1)) * (n - 1);
        const c = Math.min(n - 2, Math.floor(x));
        let [first, best, second] = [0, -Infinity, -Infinity];
        for (let f = 0; f < rows.length; f += 1) {
          const score = rows[f][c] * (c + 1 - x) + rows[f][c + 1] * (x - c);
          if (score > best) {
            second = best;
            best = score;
            first = f;
          } else if (score > second) second = score;
        }
        const line = hatchings[first](px, py, period) < ratio;
        data[py * width + px] = tints[first][best - second <= 1 ? 0 : line ? 2 : 1];
      }
    }
    context.putImageData(image, 0, 0);
  }

  function ring(context, x, y, { dash, width }) {
    context.setLineDash(dash);
    context.lineWidth = width;
    context.beginPath();
    context.arc(x, y, RING, 0, 2 * Math.PI);
    context.stroke();
  }

  // What is on the canvas: fields and lines (none where there is no machine), the points with their kinds and mistakes,
  // and the cross where the keys are, if any.
  function draw(canvas, { fields, lines, n, points, kinds, mistakes, cross }) {
    const size = canvas.clientWidth;
    if (!size) return; // on paper it is not shown
    const ratio = Math.min(2, globalThis.devicePixelRatio || 1);
    canvas.width = canvas.height = Math.round(size * ratio);
    const context = canvas.getContext("2d");
    context.fillStyle = "#fff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    if (fields.length) shade(context, fields, n, size, ratio);
    context.scale(ratio, ratio);
    context.strokeStyle = INK;
    context.lineJoin = "round";
    const scale = size / (n - 1);
    lines.forEach(({ values, level, width, dash }) => {
      context.lineWidth = width;
      context.setLineDash(dash);
      context.beginPath();
      contours(values, n, level).forEach((line) => {
        line.forEach(([x, y], i) => context[i ? "lineTo" : "moveTo"](x * scale, y * scale));
      });
      context.stroke();
    });
    const pixel = ([x, y]) => [((x + 1) / 2) * size, ((1 - y) / 2) * size];
    const shapes = STYLES.map(({ path }) => new Path2D(path));
    points.forEach((point, i) => {
      const [x, y] = pixel(point);
      context.save();
      context.translate(x, y);
      context.setLineDash([]);
      context.fillStyle = STYLES[point[2]].color;
      context.fill(shapes[point[2]]);
      context.strokeStyle = "#fff";
      context.lineWidth = 1;
      context.stroke(shapes[point[2]]);
      if (mistakes[i]) {
        context.lineWidth = 1.8;
        context.stroke(new Path2D("M-3,-3L3,3M-3,3L3,-3"));
      }
      context.restore();
    });
    points.forEach((point, i) => RINGS[kinds[i]] && ring(context, ...pixel(point), RINGS[kinds[i]]));
    context.setLineDash([]);
    if (cross) {
      const [x, y] = pixel(cross);
      const path = new Path2D(`M${x - 18},${y}h10M${x + 8},${y}h10M${x},${y - 18}v10M${x},${y + 8}v10`);
      context.strokeStyle = "#fff";
      context.lineWidth = 5;
      context.stroke(path);
      context.strokeStyle = INK;
      context.lineWidth = 2;
      context.stroke(path);
    }
  }

  // The same marks for the key beside the picture.
  const small = (content) => `<svg class="mc-sign" viewBox="-12 -12 24 24" aria-hidden="true"><g class="mc-class">${content}</g></svg>`;
  const marker = (c) => `<path d="${STYLES[c].path}" fill="${STYLES[c].color}"/>`;
  const ringSign = ({ dash, width }) => `<circle r="${RING}" fill="none" stroke="${INK}" stroke-width="${width}" stroke-dasharray="${dash}"/>`;
  const lineSign = ({ width, dash }) => `<path d="M-12,0H12" stroke="${INK}" stroke-width="${width}" stroke-dasharray="${dash}"/>`;
  const HATCHED = [
    "M-10,-10L10,10M-1,-10L10,1M-10,-1L1,10",
    "M10,-10L-10,10M1,-10L-10,1M10,-1L-1,10",
    "M-10,-6H10M-10,0H10M-10,6H10",
    "M-6,-10V10M0,-10V10M6,-10V10",
    "M-10,-10L10,10M10,-10L-10,10",
  ];
  const area = (c) => `<g fill="${STYLES[c].color}" stroke="${STYLES[c].color}">
    <path d="M-10,-10h20v20h-20z" stroke="none" fill-opacity="${TINTS.beyond}"/>
    <path d="${HATCHED[c]}" stroke-opacity="${TINTS.line}"/></g>`;
  const SIGNS = {
    areas: STYLES.map((_, c) => small(area(c))),
    classes: STYLES.map((_, c) => small(marker(c))),
    free: small(marker(0) + ringSign(RINGS.free)),
    bound: small(marker(0) + ringSign(RINGS.bound)),
    mistake: small(`${marker(1)}<path d="M-3,-3L3,3M-3,3L3,-3" stroke="#fff" stroke-width="1.8"/>`),
    levels: LEVELS.map((line) => small(lineSign(line))),
  };

  globalThis.mcSvm.picture = { draw, fineness, sides, regions, SIGNS };
})();

// ---- the page ----
(() => {
  if (typeof document === "undefined") return;

  const { EXAMPLES, STYLES, machine: ofTwo, classes: ofMany, kernel: kernelOf, lattice, rounded, picture } = globalThis.mcSvm;
  const { SIGNS } = picture;
  const NAMES = STYLES.map(({ name }) => name);
  const SIGN = [1, -1]; // the labels of circles and squares
  const MOST = 400; // points
  const SLICE = 20; // milliseconds of solving at a time, so that the page stays responsive
  const SPEECH = 400; // milliseconds of quiet before the summary is said
  const STEP = { large: 0.1, small: 0.02 }; // of the cross
  const REACH = 12; // pixels from a point that still mean the point

  const decades = (low, high) => {
    const list = [];
    for (let e = low; e <= high; e += 1) {
      for (const digit of e < high ? [1, 2, 5] : [1]) list.push(Number(`${digit}e${e}`));
    }
    return list;
  };
  const SLIDERS = [
    { key: "C", name: "C", what: "cost of slack", values: decades(-2, 4), kernel: null },
    { key: "gamma", name: "γ", what: "of the RBF kernel", values: decades(-2, 4), kernel: "rbf" },
    { key: "degree", name: "q", what: "degree of the polynomial kernel", values: [1, 2, 3, 4, 5, 6, 8], kernel: "polynomial" },
  ];
  const KERNELS = {
    linear: { name: "linear", formula: () => "⟨x, x′⟩" },
    polynomial: { name: "polynomial", formula: ({ degree }) => `(⟨x, x′⟩ + 1)<sup>${degree}</sup>` },
    rbf: { name: "RBF", formula: ({ gamma }) => `exp(−${gamma === 1 ? "" : `${number(gamma)} `}‖x − x′‖²)` },
  };
  // Three or more classes have the second machine only.
  const MACHINES = {
    two: {
      name: "two classes, free bias",
      note: "½‖w‖² + C · slack: the bias b costs nothing.",
    },
    many: {
      name: "Crammer–Singer on K + 1",
      note: `½ Σ (‖w<sub>r</sub>‖² + b<sub>r</sub>²) + C · slack, r over the classes on the picture. The 1 makes the biases
        b<sub>r</sub> weights like the others: they are <em>regularised</em>. From three classes on there is this machine only.`,
    },
  };
  const LECTURE = [
    { kernel: "linear", C: 1 },
    { kernel: "linear", C: 10000 },
    { kernel: "rbf", C: 1, gamma: 0.01 },
    { kernel: "rbf", C: 10, gamma: 100 },
    { kernel: "rbf", C: 10, gamma: 10000 },
  ];
  const START = { kernel: "rbf", C: 10, gamma: 5, degree: 2, example: "circle" };

  const minus = (text) => text.replaceAll("-", "−");
  const superscript = (n) => String(n).replace(/[-\d]/g, (c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);

  // 4 significant digits; very large and very small numbers as powers of ten
  function number(x, digits = 4) {
    if (x === 0) return "0";
    if (Math.abs(x) >= 1e6 || Math.abs(x) < 1e-3) {
      const [mantissa, exponent] = x.toExponential(Math.min(digits - 1, 2)).split("e");
      return minus(`${Number(mantissa) === 1 ? "" : `${Number(mantissa)}·`}10${superscript(Number(exponent))}`);
    }
    return minus(String(Number(x.toPrecision(digits))));
  }
  const gapText = (gap) => (gap < 1e-12 ? "below 10⁻¹²" : number(gap, 1));
  const count = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;
  const at = ([x, y]) => minus(`(${x.toFixed(2)}, ${y.toFixed(2)})`);

  function title({ kernel, C, gamma, degree }) {
    const own = { linear: () => "", polynomial: () => `, q = ${degree}`, rbf: () => `, γ = ${number(gamma)}` };
    return `${KERNELS[kernel].name}, C = ${number(C)}${own[kernel]()}`;
  }

  function biasText({ bias, interval: [left, right] }) {
    if (right === Infinity) return `any from ${number(left)}`;
    if (left === -Infinity) return `any up to ${number(right)}`;
    if (right - left > 1e-4 * Math.max(1, Math.abs(bias))) return `any from ${number(left)} to ${number(right)}`;
    return number(Math.abs(bias) < 1e-6 ? 0 : bias);
  }

  // What has been found, in words. `present` are the classes of a machine for several, null for the other machine.
  function sentence(settings, points, machine, present) {
    if (!points.length) return "No points yet.";
    const here = NAMES.filter((_, c) => points.some((point) => point[2] === c));
    if (here.length === 1) {
      const all = points.length === 1 ? `the one point is a ${here[0]}` : `all ${points.length} points are ${here[0]}s`;
      const sign = SIGN[NAMES.indexOf(here[0])] > 0 ? "at least 1" : "at most −1";
      const found = present ? "Every multiplier is 0," : `Every α is 0, every b of ${sign} is optimal,`;
      return `One class only: ${all}, and nothing is to be separated. ${found} and every place is a ${here[0]}’s.`;
    }
    const kinds = machine.kinds();
    const [free, bound] = ["free", "bound"].map((kind) => kinds.filter((one) => one === kind).length);
    const wrong = machine.mistakes().filter(Boolean).length;
    const { gap } = machine.certificate;
    const start = `${present ? "Crammer–Singer on K + 1, " : ""}${title(settings)}: `;
    const of = present ? ` of ${here.length} classes` : "";
    const end = machine.done && gap > 1e-6 ? `; stopped at a relative gap of ${gapText(gap)}` : "";
    return `${start}${count(points.length, "point")}${of}, ${count(free + bound, "support vector")} (${free} free, ${bound} at the bound), ${count(wrong, "training error")}${end}.`;
  }

  // The key to the picture.
  function key(present) {
    const [boundary, margin, area, bound] = present
      ? ["two classes’ scores are equal, and the largest", "a class is ahead by 1", "ahead by more", "whose multipliers sum to C"]
      : ["boundary, f = 0", "f = 1, the circles’ side", "beyond the margin", "with α = C"];
    const items = [
      `${SIGNS.levels[0]} ${boundary}`,
      `${SIGNS.levels[1]} ${margin}`,
      ...(present ? [] : [`${SIGNS.levels[2]} f = −1, the squares’ side`]),
      `${(present ?? [0, 1]).map((c) => SIGNS.areas[c]).join("")} ${area}`,
      `${SIGNS.free} free support vector`,
      `${SIGNS.bound} support vector ${bound}`,
      `${SIGNS.mistake} training error`,
    ];
    return items.map((item) => `<li>${item}</li>`).join("");
  }

  const radio = (name, value, label, checked) => `
    <label><input type="radio" name="${name}" value="${value}"${checked ? " checked" : ""} autocomplete="off"> ${label}</label>`;

  const controls = (id, examples) => `
    <div class="mc-stage">
      <fieldset class="mc-decodings"><legend>A click, a tap or Enter on the picture: what it does</legend>
        ${NAMES.map((name, c) => radio(`${id}-tool`, c, `<span>${SIGNS.classes[c]} ${name}</span>`, c === 0)).join("")}
        ${radio(`${id}-tool`, "delete", "delete", false)}
      </fieldset>
      <div class="mc-plane" tabindex="0" role="application" aria-label="Picture: the plane, its points and the machine"
        aria-describedby="${id}-help ${id}-seen"><canvas aria-hidden="true"></canvas></div>
      <p class="mc-hint" role="status">Now placing circles.</p>
      <div class="mc-actions">
        <button type="button" data-action="clear">Clear</button>
        <button type="button" data-action="undo">Undo</button>
        <label>Data: <select data-choice="example" autocomplete="off">
          <option value="">your own</option>
          ${Object.entries(examples)
            .map(([key, { name }]) => `<option value="${key}">${name}</option>`)
            .join("")}</select></label>
      </div>
    </div>
    <div class="mc-panel">
      <fieldset class="mc-decodings"><legend>Machine</legend>
        ${Object.entries(MACHINES)
          .map(([key, { name }]) => radio(`${id}-machine`, key, name, key === "two"))
          .join("")}
        <p class="mc-note"></p>
      </fieldset>
      <fieldset class="mc-decodings"><legend>Kernel <span class="mc-formula"></span></legend>
        ${Object.entries(KERNELS)
          .map(([key, { name }]) => radio(`${id}-kernel`, key, name, false))
          .join("")}
      </fieldset>
      <fieldset class="mc-scores mc-settings"><legend>Parameters</legend>
        ${SLIDERS.map(
          ({ key, name, what, values }) => `
          <label><span>${name}<i class="mc-heard">, ${what}</i></span>
            <input type="range" data-key="${key}" min="0" max="${values.length - 1}" step="1" autocomplete="off"><output></output></label>`,
        ).join("")}
        <label class="mc-choice">As in the lecture: <select data-choice="lecture" autocomplete="off">
          <option value="">choose…</option>
          ${LECTURE.map((settings, i) => `<option value="${i}">${title(settings)}</option>`).join("")}</select></label>
      </fieldset>
      <p class="mc-summary" id="${id}-seen"></p>
      <table class="mc-stats"><caption class="mc-heard">The machine in numbers</caption><tbody></tbody></table>
      <ul class="mc-key" aria-label="Key to the picture"></ul>
    </div>
    <p class="mc-help" id="${id}-help">A mouse also drags points. Keys, once the picture has the focus: arrows move a cross (with Shift by less),
      Enter does what is chosen, 1 places a circle, 2 a square, 3 a triangle, 4 a diamond, 5 a wedge, Delete deletes, N goes to
      the next point, U undoes.</p>`;

  function mount(box, index) {
    // the points of a figure of the chapter, as [x, y, class], come first
    const figure = box.dataset.points && JSON.parse(box.dataset.points);
    const examples = figure ? { figure: { name: "those of the figure", points: () => figure }, ...EXAMPLES } : EXAMPLES;
    const start = { ...START, ...(figure && { example: "figure" }), ...JSON.parse(box.dataset.start ?? "{}") };
    const id = `mc-svm-${index}`;
    box.innerHTML = controls(id, examples);
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Interactive figure: a support vector machine for two to five classes");
    const find = (selector) => box.querySelector(selector);
    const plane = find(".mc-plane");
    const canvas = find("canvas");
    const sliders = [...box.querySelectorAll("[type=range]")];
    const radios = (name) => [...box.querySelectorAll(`[name="${id}-${name}"]`)];
    const chosen = (name) => radios(name).find((one) => one.checked).value;
    const choice = (name) => find(`[data-choice=${name}]`);
    const calm = matchMedia("(prefers-reduced-motion: reduce)");

    let points = []; // of coordinates and class; changed by replacing the list, so that undo can keep the old one
    let settings = null;
    let past = [];
    let machine = null;
    let present = null; // the classes of a machine for several
    let wish = "two"; // the machine that the reader wants, where there is a choice
    let begun = 0; // when the present machine was
    let worked = 0; // milliseconds that it has taken, without the page's other work
    let drawn = 0; // when the picture was, last
    let waiting = 0; // the timer of the next slice
    let frame = 0; // the next animation frame, in which the picture is drawn
    let speech = 0; // the timer of the summary
    let cross = [0, 0];
    let keys = false; // whether the cross is shown
    let near = false; // whether the reader has come near

    // ---- the machine and what is shown of it ----

    function shapes(n) {
      if (!present) return picture.sides(lattice(points, machine.v, machine.certificate.bias, settings, n));
      const { v, certificate } = machine.best;
      const k = present.length;
      const column = (r) => points.map((_, i) => v[i * k + r]);
      return picture.regions(present.map((c, r) => ({ c, scores: lattice(points, column(r), certificate.biases[r], settings, n) })));
    }

    function show() {
      frame = 0;
      if (!near) return;
      drawn = performance.now();
      const solved = machine && points.length === machine.m;
      const n = picture.fineness(settings);
      picture.draw(canvas, {
        ...(solved ? shapes(n) : { fields: [], lines: [] }),
        n,
        points,
        kinds: solved ? machine.kinds() : [],
        mistakes: solved ? machine.mistakes() : [],
        cross: keys ? cross : null,
      });
    }

    function report() {
      const sizes = NAMES.map((name, c) => [points.filter((point) => point[2] === c).length, name]);
      const shown = sizes.filter(([size], c) => (present ? size : c < 2));
      const rows = [["points", shown.map(([size, name]) => count(size, name)).join(", ")]];
      if (machine) {
        const { primal, dual, gap, norm, biases } = machine.certificate;
        const kinds = machine.kinds();
        const many = (kind) => kinds.filter((one) => one === kind).length;
        rows.push(
          ["support vectors", `${many("free")} free, ${many("bound")} at C`],
          ["training errors", machine.mistakes().filter(Boolean).length],
          present ? ["norm of W and b", number(norm)] : ["norm of w", number(norm)],
          present
            ? ["biases b", present.map((c, r) => `${NAMES[c]} ${number(Math.abs(biases[r]) < 1e-6 ? 0 : biases[r], 3)}`).join(", ")]
            : ["bias b", biasText(machine.certificate)],
          ["primal value", number(primal, 6)],
          ["dual value", number(dual, 6)],
          ["relative gap", gapText(Math.max(0, gap))],
          [machine.done ? "solved in" : "solving for", `${Math.max(1, Math.round(worked))} ms, ${count(machine.steps, "step")}`],
        );
      }
      find(".mc-stats tbody").innerHTML = rows.map(([name, value]) => `<tr><th scope="row">${name}</th><td>${value}</td></tr>`).join("");
    }

    function say() {
      const text = sentence(settings, points, machine, present);
      const summary = find(".mc-summary");
      if (summary.textContent !== text) summary.textContent = text; // an unchanged sentence is not read again
    }

    function slice() {
      waiting = 0;
      const start = performance.now();
      const late = () => performance.now() > start + SLICE;
      while (machine && !machine.done && !late()) machine.advance(late);
      worked += performance.now() - start;
      const done = !machine || machine.done;
      if (done) Object.assign(box.dataset, { worked: worked.toFixed(1), milliseconds: (performance.now() - begun).toFixed(1) });
      report();
      if (!frame && (done || (!calm.matches && performance.now() - drawn > 100))) frame = requestAnimationFrame(show);
      if (!done) waiting = setTimeout(slice);
      else speech = setTimeout(say, SPEECH);
    }

    const written = {}; // by selector: an unchanged text stays as it is

    // What is said of the machine itself.
    function describe(kind) {
      const set = (selector, html) => {
        if (written[selector] !== html) find(selector).innerHTML = written[selector] = html;
      };
      set(".mc-note", MACHINES[kind].note);
      set(".mc-formula", `K(x, x′) = ${KERNELS[settings.kernel].formula(settings)}`);
      set(".mc-key", key(present));
      box.classList.toggle("mc-many", kind === "many");
    }

    function solve() {
      clearTimeout(speech);
      delete box.dataset.milliseconds;
      begun = performance.now();
      const all = NAMES.map((_, c) => c).filter((c) => points.some((point) => point[2] === c));
      const forced = all.some((c) => c > 1);
      const kind = forced ? "many" : wish;
      const [two, many] = radios("machine");
      two.disabled = forced;
      (kind === "two" ? two : many).checked = true;
      present = kind === "two" ? null : all;
      machine = null;
      if (points.length) {
        machine = present
          ? ofMany(points, points.map((point) => all.indexOf(point[2])), all.length, settings)
          : ofTwo(points, points.map((point) => SIGN[point[2]]), settings);
      }
      describe(kind);
      worked = performance.now() - begun;
      report();
      if (!waiting) waiting = setTimeout(slice); // after all that the reader has just done
    }

    function read() {
      settings = { kernel: chosen("kernel") };
      sliders.forEach((slider, i) => {
        const { key, values, kernel } = SLIDERS[i];
        settings[key] = values[slider.valueAsNumber];
        slider.nextElementSibling.value = number(settings[key]);
        slider.setAttribute("aria-valuetext", number(settings[key]));
        slider.disabled = kernel !== null && kernel !== settings.kernel;
      });
      solve();
    }

    function put(values) {
      radios("kernel").forEach((one) => (one.checked = one.value === values.kernel));
      sliders.forEach((slider, i) => {
        const { key, values: steps } = SLIDERS[i];
        if (values[key] !== undefined) slider.value = steps.indexOf(values[key]);
      });
      read();
    }

    // ---- the points ----

    const hint = (text) => (find(".mc-hint").textContent = text);

    function change(next, words) {
      past = [...past.slice(-199), points];
      points = next;
      choice("example").value = "";
      hint(words);
      solve();
    }

    const bounded = (where) => where.map((x) => Math.round(1000 * Math.min(1, Math.max(-1, x))) / 1000);

    function place(where, c) {
      if (points.length >= MOST) return hint(`${MOST} points are the limit.`);
      const point = [...bounded(where), c];
      change([...points, point], `A ${NAMES[c]} at ${at(point)}.`);
    }

    const pixels = (one, other) => (Math.hypot(one[0] - other[0], one[1] - other[1]) * canvas.clientWidth) / 2;

    function nearest(where) {
      let best = -1;
      points.forEach((point, i) => {
        const distance = pixels(point, where);
        if (distance <= REACH && (best < 0 || distance <= pixels(points[best], where))) best = i;
      });
      return best;
    }

    function remove(where) {
      const i = nearest(where);
      if (i < 0) return hint(`No point near ${at(where)}.`);
      change(points.filter((_, j) => j !== i), `The ${NAMES[points[i][2]]} at ${at(points[i])} is deleted.`);
    }

    function use(where) {
      const tool = chosen("tool");
      if (tool === "delete") remove(where);
      else place(where, Number(tool));
    }

    function undo() {
      if (!past.length) return hint("Nothing to undo.");
      points = past.at(-1);
      past = past.slice(0, -1);
      hint(`Undone: ${count(points.length, "point")}.`);
      solve();
    }

    function load(key) {
      const loaded = examples[key].points();
      change(loaded, `${count(loaded.length, "point")}: ${examples[key].name}.`);
      choice("example").value = key;
    }

    function sign() {
      const K = kernelOf(settings);
      const { v, certificate } = machine;
      const score = points.reduce((total, point, j) => total + v[j] * K(point, cross), certificate.bias);
      const where = Math.abs(score) < 1 ? "within the margin" : "beyond the margin";
      return `score ${number(score, 3)}, a ${NAMES[score > 0 ? 0 : 1]}’s side, ${where}`;
    }

    function side() {
      const K = kernelOf(settings);
      const { v, certificate } = machine.best;
      const k = present.length;
      const scores = present.map((_, r) =>
        rounded(points.reduce((total, point, j) => total + v[j * k + r] * K(point, cross), certificate.biases[r])),
      );
      const best = scores.indexOf(Math.max(...scores));
      const lead = scores[best] - Math.max(...scores.filter((_, r) => r !== best));
      const ahead = k > 1 ? `, ahead by ${number(lead, 3)}, ${lead < 1 ? "within the margin" : "beyond the margin"}` : "";
      return `a ${NAMES[present[best]]}’s side${ahead}; scores: ${scores.map((score, r) => `${NAMES[present[r]]} ${number(score, 2)}`).join(", ")}`;
    }

    // What is at the cross, in words.
    function look() {
      const i = nearest(cross);
      const parts = [`Cross at ${at(cross)}`];
      if (machine?.m === points.length) {
        parts.push(present ? side() : sign());
        if (i >= 0) {
          const kind = { none: "", free: ", a free support vector", bound: ", a support vector at the bound" }[machine.kinds()[i]];
          parts.push(`here is a ${NAMES[points[i][2]]}${kind}${machine.mistakes()[i] ? ", a training error" : ""}`);
        }
      }
      hint(`${parts.join("; ")}.`);
      show();
    }

    // ---- mouse and fingers: a press that does not move is a click; a mouse drags what it pressed on ----

    const position = (event) => {
      const { left, top, width, height } = canvas.getBoundingClientRect();
      return [(2 * (event.clientX - left)) / width - 1, 1 - (2 * (event.clientY - top)) / height];
    };
    let press = null;

    plane.addEventListener("pointerdown", (event) => {
      if (!event.isPrimary || event.button !== 0) return;
      if (keys) {
        keys = false;
        show();
      }
      const where = position(event);
      const grabs = event.pointerType !== "touch" && chosen("tool") !== "delete"; // a finger that moves scrolls the page
      press = { where, before: points, point: grabs ? nearest(where) : -1, moved: false };
      plane.setPointerCapture(event.pointerId);
    });
    plane.addEventListener("pointermove", (event) => {
      if (!press || !event.isPrimary) {
        if (event.pointerType === "mouse") plane.classList.toggle("mc-grab", chosen("tool") !== "delete" && nearest(position(event)) >= 0);
        return;
      }
      const where = position(event);
      press.moved ||= pixels(where, press.where) > (event.pointerType === "touch" ? 10 : 4);
      if (!press.moved || press.point < 0) return;
      points = points.map((point, i) => (i === press.point ? [...bounded(where), point[2]] : point));
      solve();
    });
    plane.addEventListener("pointerup", (event) => {
      if (!press || !event.isPrimary) return;
      const { where, before, point, moved } = press;
      press = null;
      if (!moved) use(where);
      else if (point >= 0) {
        const after = points;
        points = before; // for undo
        change(after, `The ${NAMES[after[point][2]]} is now at ${at(after[point])}.`);
      }
    });
    plane.addEventListener("pointercancel", () => {
      if (press?.moved && press.point >= 0) {
        points = press.before;
        solve();
      }
      press = null;
    });

    // ---- keys ----

    const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

    plane.addEventListener("keydown", (event) => {
      const undoing = event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey;
      if (!undoing && (event.ctrlKey || event.metaKey || event.altKey)) return;
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      const shown = keys;
      keys = true;
      if (ARROWS[key]) {
        const step = event.shiftKey ? STEP.small : STEP.large;
        cross = bounded(cross.map((x, i) => x + step * ARROWS[key][i]));
        look();
      } else if (key === "Enter" || key === " ") use(cross);
      else if (NAMES[Number(key) - 1]) place(cross, Number(key) - 1);
      else if (key === "Delete" || key === "Backspace") remove(cross);
      else if (key === "u" || undoing) undo();
      else if (key === "n" && points.length) {
        const here = points.findLastIndex((point) => point[0] === cross[0] && point[1] === cross[1]);
        cross = points[(here + 1) % points.length].slice(0, 2);
        look();
      } else {
        keys = shown;
        return;
      }
      event.preventDefault();
    });
    plane.addEventListener("focus", () => {
      if (!plane.matches(":focus-visible")) return;
      keys = true;
      show();
    });
    plane.addEventListener("blur", () => {
      if (!keys) return;
      keys = false;
      show();
    });

    // ---- the other controls ----

    // nothing is said before the reader has come here
    box.addEventListener("focusin", () => find(".mc-summary").setAttribute("aria-live", "polite"), { once: true });

    radios("tool").forEach((one) =>
      one.addEventListener("input", () => hint(one.value === "delete" ? "Now deleting." : `Now placing ${NAMES[one.value]}s.`)),
    );
    [...radios("kernel"), ...sliders].forEach((one) =>
      one.addEventListener("input", () => {
        choice("lecture").value = "";
        read();
      }),
    );
    radios("machine").forEach((one) =>
      one.addEventListener("input", () => {
        wish = one.value;
        solve();
      }),
    );
    find("[data-action=clear]").addEventListener("click", () => change([], "All points are gone; Undo brings them back."));
    find("[data-action=undo]").addEventListener("click", undo);
    choice("example").addEventListener("change", (event) => event.target.value && load(event.target.value));
    choice("lecture").addEventListener("change", (event) => event.target.value && put(LECTURE[event.target.value]));

    points = examples[start.example].points();
    choice("example").value = start.example;
    put(start);
    new ResizeObserver(show).observe(canvas);
    // the picture is drawn when the reader comes near, not while the page loads
    const watch = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return;
        watch.disconnect();
        near = true;
        show();
      },
      { rootMargin: "100%" },
    );
    watch.observe(canvas);
  }

  document.querySelectorAll('[data-widget="svm-demo"]').forEach(mount);
})();
