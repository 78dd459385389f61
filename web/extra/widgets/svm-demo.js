// Place points of two classes, and see the support vector machine that separates them.
//
// Three parts, each of which could be exchanged without the others: the solver is arithmetic without a page,
// and tests compare it with Python; the picture turns a machine into pixels on a canvas; the page puts both into
// every <div class="mc-widget" data-widget="svm-demo"> and listens to mouse, fingers and keys.
"use strict";

// ---- the solver ----
//
// The dual of the soft machine with bias, in the signed multipliers v_i = y_i alpha_i: maximise
//     sum_i y_i v_i - 1/2 sum_ij v_i v_j K(x_i, x_j)
// where the v_i sum to 0, and 0 <= v_i <= C for y_i = +1, -C <= v_i <= 0 for y_i = -1.
// The score is f(x) = sum_i v_i K(x_i, x) + b. What is left of the labels, F_i = y_i - sum_j v_j K(x_j, x_i), is the
// gradient; example i has slack max(0, y_i (F_i - b)).
(() => {
  const dot = (x, z) => x[0] * z[0] + x[1] * z[1];

  const KERNELS = {
    linear: () => dot,
    polynomial: ({ degree }) => (x, z) => (dot(x, z) + 1) ** degree,
    rbf: ({ gamma }) => (x, z) => Math.exp(-gamma * ((x[0] - z[0]) ** 2 + (x[1] - z[1]) ** 2)),
  };

  function kernel(settings) {
    if (!Object.hasOwn(KERNELS, settings.kernel)) {
      throw new RangeError(`unknown kernel "${settings.kernel}"; allowed: ${Object.keys(KERNELS).join(", ")}`);
    }
    return KERNELS[settings.kernel](settings);
  }

  function gram(points, settings) {
    const m = points.length;
    const K = kernel(settings);
    const G = new Float64Array(m * m);
    for (let i = 0; i < m; i += 1) {
      for (let j = 0; j <= i; j += 1) G[i * m + j] = G[j * m + i] = K(points[i], points[j]);
    }
    return G;
  }

  const TOLERANCE = 1e-6; // of the relative gap
  const EXACT = 1e-12; // a gap that can hardly be improved
  const POLISH = 20; // rounds that may try so, once the tolerance is met
  const PAIRS = 20; // steps of SMO in a round
  const FACES = 20; // steps on a face after them, at most
  const ROUNDS = 4000; // then rounding is what keeps the gap open

  class Machine {
    constructor(G, y, C) {
      const m = y.length;
      Object.assign(this, { G, y, C, m, rounds: 0, met: 0, steps: 0 });
      this.v = new Float64Array(m);
      this.F = Float64Array.from(y);
      this.low = Float64Array.from(y, (sign) => (sign > 0 ? 0 : -C));
      this.high = Float64Array.from(y, (sign) => (sign > 0 ? C : 0));
      this.certificate = this.certify();
      this.done = this.certificate.gap <= TOLERANCE;
    }

    // Sequential minimal optimisation: raise one multiplier and lower another by as much, so that the sum stays 0.
    // The first is the one with the largest gradient; the second, for it, the one that promises most. False when
    // no pair is left.
    pairs(count) {
      const { m, G, v, F, low, high } = this;
      for (let n = 0; n < count; n += 1) {
        let i = -1;
        for (let t = 0; t < m; t += 1) if (v[t] < high[t] && (i < 0 || F[t] > F[i])) i = t;
        if (i < 0) return false;
        let j = -1;
        let most = 0;
        let curvature = 0;
        for (let t = 0; t < m; t += 1) {
          if (v[t] <= low[t] || F[t] >= F[i]) continue;
          const bend = Math.max(G[i * m + i] + G[t * m + t] - 2 * G[i * m + t], 1e-12); // 0 for equal points
          const gain = (F[i] - F[t]) ** 2 / bend;
          if (gain > most) [most, j, curvature] = [gain, t, bend];
        }
        if (j < 0) return false;
        const [up, down] = [high[i] - v[i], v[j] - low[j]];
        const step = Math.min((F[i] - F[j]) / curvature, up, down);
        v[i] = step === up ? high[i] : v[i] + step; // exactly at its bound, or it would count as free
        v[j] = step === down ? low[j] : v[j] - step;
        for (let t = 0; t < m; t += 1) F[t] -= step * (G[i * m + t] - G[j * m + t]);
        this.steps += 1;
      }
      return true;
    }

    // Steps of Newton's method in the free multipliers alone, all at once: what costs SMO a million steps for a
    // large C takes a few of them. A step ends at the first bound it meets; false when it met none.
    face() {
      const { m, G, v, F, low, high } = this;
      const free = [];
      for (let t = 0; t < m; t += 1) if (v[t] > low[t] && v[t] < high[t]) free.push(t);
      const f = free.length;
      if (f < 2) return false;

      // L L' = G on the face, plus a little, because G may be singular there
      const largest = free.reduce((most, t) => Math.max(most, G[t * m + t]), 0);
      const little = 1e-11 * largest;
      const L = new Float64Array(f * f);
      for (let a = 0; a < f; a += 1) {
        for (let c = 0; c <= a; c += 1) {
          let x = G[free[a] * m + free[c]];
          for (let e = 0; e < c; e += 1) x -= L[a * f + e] * L[c * f + e];
          L[a * f + c] = a === c ? Math.sqrt(Math.max(x + little, little)) : x / L[c * f + c];
        }
      }
      const solve = (z) => {
        for (let a = 0; a < f; a += 1) {
          for (let e = 0; e < a; e += 1) z[a] -= L[a * f + e] * z[e];
          z[a] /= L[a * f + a];
        }
        for (let a = f - 1; a >= 0; a -= 1) {
          for (let e = a + 1; e < f; e += 1) z[a] -= L[e * f + a] * z[e];
          z[a] /= L[a * f + a];
        }
        return z;
      };
      const sum = (z) => z.reduce((total, x) => total + x, 0);
      const d = solve(Float64Array.from(free, (t) => F[t]));
      const ones = solve(new Float64Array(f).fill(1));
      const b = sum(d) / sum(ones); // so that the direction sums to 0
      for (let a = 0; a < f; a += 1) d[a] -= b * ones[a];
      const rest = sum(d) / f;
      const Gd = new Float64Array(m);
      for (let a = 0; a < f; a += 1) {
        d[a] -= rest;
        for (let t = 0, row = free[a] * m; t < m; t += 1) Gd[t] += d[a] * G[row + t];
      }

      let rise = 0;
      let bend = 0;
      for (let a = 0; a < f; a += 1) {
        rise += d[a] * F[free[a]];
        bend += d[a] * Gd[free[a]];
      }
      if (!(rise > 0)) return false;
      let step = bend > 0 ? rise / bend : Infinity;
      let met = -1;
      for (let a = 0; a < f; a += 1) {
        if (d[a] === 0) continue;
        const room = ((d[a] > 0 ? high : low)[free[a]] - v[free[a]]) / d[a];
        if (room <= step) [step, met] = [room, a];
      }
      if (step === Infinity) return false;
      for (let a = 0; a < f; a += 1) {
        const t = free[a];
        v[t] = a === met ? (d[a] > 0 ? high : low)[t] : Math.min(high[t], Math.max(low[t], v[t] + step * d[a]));
      }
      for (let t = 0; t < m; t += 1) F[t] -= step * Gd[t];
      this.steps += 1;
      return met >= 0;
    }

    // F from its definition: the steps leave rounding in it.
    refresh() {
      const { m, G, v, F, y } = this;
      F.set(y);
      for (let i = 0; i < m; i += 1) {
        if (v[i] !== 0) for (let t = 0, row = i * m; t < m; t += 1) F[t] -= v[i] * G[row + t];
      }
    }

    // The primal value at the best b for these multipliers, and the dual value below it. The slope of the primal
    // in b is C times (how many F_i are below b, less how many labels are +1): it is least between two
    // neighbours of the sorted F.
    certify() {
      const { m, F, v, y, C } = this;
      const sorted = Float64Array.from(F).sort();
      const positive = y.reduce((count, sign) => count + (sign > 0), 0);
      const interval = [positive > 0 ? sorted[positive - 1] : -Infinity, positive < m ? sorted[positive] : Infinity];
      const [left, right] = interval;
      const bias = left === -Infinity ? right : right === Infinity ? left : (left + right) / 2;
      let [norm, linear, slack] = [0, 0, 0];
      for (let i = 0; i < m; i += 1) {
        norm += v[i] * (y[i] - F[i]);
        linear += v[i] * y[i];
        slack += Math.max(0, y[i] * (F[i] - bias));
      }
      const [primal, dual] = [norm / 2 + C * slack, linear - norm / 2];
      const gap = (primal - dual) / Math.max(1, Math.abs(primal));
      return { primal, dual, gap, bias, interval, norm: Math.sqrt(Math.max(0, norm)) };
    }

    // One round. `late()` may end it early, between two steps on a face.
    advance(late = () => false) {
      const more = this.pairs(PAIRS);
      for (let n = 0; n < FACES && this.face() && !late(); n += 1);
      this.rounds += 1;
      this.certificate = this.certify();
      if (this.certificate.gap <= TOLERANCE || !more || this.rounds >= ROUNDS) {
        this.refresh();
        this.certificate = this.certify();
        this.met += this.certificate.gap <= TOLERANCE;
        this.done = this.certificate.gap <= EXACT || this.met > POLISH || this.rounds >= ROUNDS;
      }
      return this.done;
    }

    // What the reader is told: multipliers that are 0 or C up to rounding are counted as such.
    kinds() {
      const { v, C } = this;
      const small = 1e-7 * Math.min(C, v.reduce((most, x) => Math.max(most, Math.abs(x)), 0));
      return Array.from(v, (x) => (Math.abs(x) <= small ? "none" : C - Math.abs(x) <= 1e-7 * C ? "bound" : "free"));
    }

    // On the sample f(x_i) = y_i - F_i + b. The score 0 is the negative class.
    mistakes() {
      const { F, y, certificate } = this;
      return Array.from(F, (left, i) => (y[i] - left + certificate.bias > 0 ? 1 : -1) !== y[i]);
    }
  }

  function machine(points, labels, settings) {
    return new Machine(gram(points, settings), labels, settings.C);
  }

  function solve(points, labels, settings) {
    const found = machine(points, labels, settings);
    while (!found.done) found.advance();
    return {
      ...found.certificate,
      alpha: Array.from(found.v, Math.abs),
      kinds: found.kinds(),
      mistakes: found.mistakes(),
      steps: found.steps,
    };
  }

  // The scores on an n by n lattice over the square from -1 to 1, first row at the top. For all kernels but
  // the general one the two coordinates come apart: a column of factors and a row of them, in place of n^2 kernels.
  function lattice(points, v, bias, settings, n) {
    const at = Float64Array.from({ length: n }, (_, i) => (2 * i) / (n - 1) - 1);
    const scores = new Float64Array(n * n).fill(bias);
    const { kernel: name, gamma, degree } = settings;
    kernel(settings); // refuses an unknown name
    points.forEach(([px, py], i) => {
      if (v[i] === 0) return;
      const column = at.map((x) => (name === "rbf" ? Math.exp(-gamma * (x - px) ** 2) : x * px));
      for (let row = 0; row < n; row += 1) {
        const y = at[n - 1 - row];
        const start = row * n;
        if (name === "rbf") {
          const weight = v[i] * Math.exp(-gamma * (y - py) ** 2);
          if (Math.abs(weight) > 1e-300) for (let c = 0; c < n; c += 1) scores[start + c] += weight * column[c];
        } else {
          const shift = y * py + (name === "linear" ? 0 : 1);
          for (let c = 0; c < n; c += 1) {
            const base = column[c] + shift;
            let power = base;
            if (name === "polynomial") for (let e = 1; e < degree; e += 1) power *= base;
            scores[start + c] += v[i] * power;
          }
        }
      }
    });
    return scores;
  }

  // The lines where a function on a lattice has a value, as lists of places [column, row], closed ones ending
  // where they begin. Each line crosses an edge of the lattice once, halfway being found by proportion.
  function contours(values, n, level) {
    const above = (k) => values[k] > level;
    const neighbours = new Map(); // of an edge: the edges to which the line goes on, two at most
    const join = (p, q) => {
      for (const [from, to] of [[p, q], [q, p]]) {
        if (neighbours.has(from)) neighbours.get(from).push(to);
        else neighbours.set(from, [to]);
      }
    };
    // edges: 2k to the right of place k, 2k + 1 below it
    for (let row = 0; row + 1 < n; row += 1) {
      for (let column = 0; column + 1 < n; column += 1) {
        const k = row * n + column;
        const corners = [k, k + 1, k + n + 1, k + n];
        const sides = [2 * k, 2 * (k + 1) + 1, 2 * (k + n), 2 * k + 1]; // side s joins corners s and s + 1
        const crossed = sides.filter((_, s) => above(corners[s]) !== above(corners[(s + 1) % 4]));
        if (crossed.length === 2) join(crossed[0], crossed[1]);
        if (crossed.length === 4) {
          // a saddle: its middle says which corners belong together
          const middle = corners.reduce((total, corner) => total + values[corner], 0) / 4 > level;
          const [a, b] = middle === above(k) ? [[0, 1], [2, 3]] : [[3, 0], [1, 2]];
          join(sides[a[0]], sides[a[1]]);
          join(sides[b[0]], sides[b[1]]);
        }
      }
    }
    const place = (edge) => {
      const k = edge >> 1;
      const [column, row] = [k % n, Math.floor(k / n)];
      const other = edge & 1 ? k + n : k + 1;
      const share = (level - values[k]) / (values[other] - values[k]);
      return edge & 1 ? [column, row + share] : [column + share, row];
    };
    const lines = [];
    const seen = new Set();
    const walk = (start) => {
      const line = [place(start)];
      let here = start;
      seen.add(start);
      for (;;) {
        const next = neighbours.get(here).find((edge) => !seen.has(edge));
        if (next === undefined) break;
        line.push(place(next));
        seen.add(next);
        here = next;
      }
      if (line.length > 2 && neighbours.get(here).includes(start)) line.push(line[0]);
      lines.push(line);
    };
    for (const [edge, to] of neighbours) if (to.length === 1 && !seen.has(edge)) walk(edge); // from the frame
    for (const edge of neighbours.keys()) if (!seen.has(edge)) walk(edge);
    return lines;
  }

  globalThis.mcSvm = { kernel, gram, Machine, machine, solve, lattice, contours };
})();

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

  // `rule(uniform, normal, i)` gives the i-th example: two coordinates and a class, 0 or 1.
  function sample(count, seed, rule) {
    const random = generator(seed);
    const uniform = (low, high) => low + (high - low) * random();
    const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return Array.from({ length: count }, (_, i) => {
      const [x, y, c] = rule(uniform, normal, i);
      return [inside(x), inside(y), Number(c)];
    });
  }

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
  };

  globalThis.mcSvm.EXAMPLES = EXAMPLES;
})();

// ---- the picture ----
(() => {
  if (typeof document === "undefined") return;

  // The classes look here as in every figure of the book.
  const STYLES = [
    { name: "circle", color: "#0072b2", rgb: [0, 114, 178], path: "M-5.5,0a5.5,5.5 0 1,0 11,0a5.5,5.5 0 1,0 -11,0z" },
    { name: "square", color: "#d55e00", rgb: [213, 94, 0], path: "M-5,-5h10v10h-10z" },
  ];
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

  // Each side in a tint of its class: strong and hatched beyond the margin, faint within it. The hatching of the two
  // sides goes in different directions.
  function shade(context, scores, n, size, ratio) {
    const width = Math.round(size * ratio);
    const image = context.createImageData(width, width);
    const data = new Uint32Array(image.data.buffer);
    const mix = ([r, g, b], share) => {
      const [x, y, z] = [r, g, b].map((c) => Math.round(PAPER + (c - PAPER) * share));
      return ((255 << 24) | (z << 16) | (y << 8) | x) >>> 0;
    };
    const tints = STYLES.map(({ rgb }) => [TINTS.within, TINTS.beyond, TINTS.line].map((share) => mix(rgb, share)));
    const period = HATCH * ratio;
    const row = new Float64Array(n);
    for (let py = 0; py < width; py += 1) {
      const y = (py / (width - 1)) * (n - 1);
      const r = Math.min(n - 2, Math.floor(y));
      for (let c = 0; c < n; c += 1) row[c] = scores[r * n + c] * (r + 1 - y) + scores[(r + 1) * n + c] * (y - r);
      for (let px = 0; px < width; px += 1) {
        const x = (px / (width - 1)) * (n - 1);
        const c = Math.min(n - 2, Math.floor(x));
        const score = row[c] * (c + 1 - x) + row[c + 1] * (x - c);
        const side = score > 0 ? 0 : 1;
        const line = (side ? px + py : px - py + width * HATCH) % period < ratio;
        data[py * width + px] = tints[side][Math.abs(score) <= 1 ? 0 : line ? 2 : 1];
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

  // What is on the canvas: the scores (null where there is no machine), the points with their kinds and mistakes,
  // and the cross where the keys are, if any.
  function draw(canvas, { scores, n, points, kinds, mistakes, cross }) {
    const size = canvas.clientWidth;
    if (!size) return; // on paper it is not shown
    const ratio = Math.min(2, globalThis.devicePixelRatio || 1);
    canvas.width = canvas.height = Math.round(size * ratio);
    const context = canvas.getContext("2d");
    context.fillStyle = "#fff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    if (scores) {
      // a score that is a level up to rounding does not flicker between its sides
      scores.forEach((score, i) => LEVELS.forEach(({ level }) => Math.abs(score - level) < 1e-6 && (scores[i] = level)));
      shade(context, scores, n, size, ratio);
    }
    context.scale(ratio, ratio);
    context.strokeStyle = INK;
    context.lineJoin = "round";
    if (scores) {
      const scale = size / (n - 1);
      LEVELS.forEach(({ level, width, dash }) => {
        context.lineWidth = width;
        context.setLineDash(dash);
        context.beginPath();
        globalThis.mcSvm.contours(scores, n, level).forEach((line) => {
          line.forEach(([x, y], i) => context[i ? "lineTo" : "moveTo"](x * scale, y * scale));
        });
        context.stroke();
      });
    }
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
  const area = (c) => `<g fill="${STYLES[c].color}" stroke="${STYLES[c].color}" transform="scale(${c ? -1 : 1} 1)">
    <path d="M-10,-10h20v20h-20z" stroke="none" fill-opacity="${TINTS.beyond}"/>
    <path d="M-10,-10L10,10M-1,-10L10,1M-10,-1L1,10" stroke-opacity="${TINTS.line}"/></g>`;
  const SIGNS = {
    areas: STYLES.map((_, c) => small(area(c))),
    classes: STYLES.map((_, c) => small(marker(c))),
    free: small(marker(0) + ringSign(RINGS.free)),
    bound: small(marker(0) + ringSign(RINGS.bound)),
    mistake: small(`${marker(1)}<path d="M-3,-3L3,3M-3,3L3,-3" stroke="#fff" stroke-width="1.8"/>`),
    levels: LEVELS.map((line) => small(lineSign(line))),
  };

  globalThis.mcSvm.picture = { draw, fineness, SIGNS, NAMES: STYLES.map(({ name }) => name) };
})();

// ---- the page ----
(() => {
  if (typeof document === "undefined") return;

  const { EXAMPLES, machine: build, kernel: kernelOf, lattice, picture } = globalThis.mcSvm;
  const { SIGNS, NAMES } = picture;
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

  // What has been found, in words.
  function sentence(settings, points, machine) {
    const start = `${title(settings)}: `;
    if (!points.length) return "No points yet.";
    const present = NAMES.filter((_, c) => points.some((point) => point[2] === c));
    if (present.length === 1) {
      const sign = SIGN[NAMES.indexOf(present[0])] > 0 ? "at least 1" : "at most −1";
      const all = points.length === 1 ? `the one point is a ${present[0]}` : `all ${points.length} points are ${present[0]}s`;
      return `One class only: ${all}, and nothing is to be separated. Every α is 0, every b of ${sign} is optimal, and every place is a ${present[0]}’s.`;
    }
    const kinds = machine.kinds();
    const [free, bound] = ["free", "bound"].map((kind) => kinds.filter((one) => one === kind).length);
    const wrong = machine.mistakes().filter(Boolean).length;
    const { gap } = machine.certificate;
    const end = machine.done && machine.rounds && gap > 1e-6 ? `; stopped at a relative gap of ${gapText(gap)}` : "";
    return `${start}${count(points.length, "point")}, ${count(free + bound, "support vector")} (${free} free, ${bound} at the bound), ${count(wrong, "training error")}${end}.`;
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
      <ul class="mc-key" aria-label="Key to the picture">
        <li>${SIGNS.levels[0]} boundary, f = 0</li>
        <li>${SIGNS.levels[1]} f = 1, the circles’ side</li>
        <li>${SIGNS.levels[2]} f = −1, the squares’ side</li>
        <li>${SIGNS.areas.join("")} beyond the margin</li>
        <li>${SIGNS.free} free support vector</li>
        <li>${SIGNS.bound} support vector with α = C</li>
        <li>${SIGNS.mistake} training error</li>
      </ul>
    </div>
    <p class="mc-help" id="${id}-help">A mouse also drags points. Keys, once the picture has the focus: arrows move a cross (with Shift by less),
      Enter does what is chosen, 1 places a circle, 2 a square, Delete deletes, N goes to the next point, U undoes.</p>`;

  function mount(box, index) {
    // the points of a figure of the chapter, as [x, y, class], come first
    const figure = box.dataset.points && JSON.parse(box.dataset.points);
    const examples = figure ? { figure: { name: "those of the figure", points: () => figure }, ...EXAMPLES } : EXAMPLES;
    const start = { ...START, ...(figure && { example: "figure" }), ...JSON.parse(box.dataset.start ?? "{}") };
    const id = `mc-svm-${index}`;
    box.innerHTML = controls(id, examples);
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", "Interactive figure: a support vector machine for two classes");
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

    function show() {
      frame = 0;
      if (!near) return;
      drawn = performance.now();
      const solved = machine && points.length === machine.m;
      const n = picture.fineness(settings);
      picture.draw(canvas, {
        scores: solved ? lattice(points, machine.v, machine.certificate.bias, settings, n) : null,
        n,
        points,
        kinds: solved ? machine.kinds() : [],
        mistakes: solved ? machine.mistakes() : [],
        cross: keys ? cross : null,
      });
    }

    function report() {
      const rows = [["points", NAMES.map((name, c) => count(points.filter((point) => point[2] === c).length, name)).join(", ")]];
      if (machine) {
        const { primal, dual, gap } = machine.certificate;
        const kinds = machine.kinds();
        const many = (kind) => kinds.filter((one) => one === kind).length;
        rows.push(
          ["support vectors", `${many("free")} free, ${many("bound")} at C`],
          ["training errors", machine.mistakes().filter(Boolean).length],
          ["norm of w", number(machine.certificate.norm)],
          ["bias b", biasText(machine.certificate)],
          ["primal value", number(primal, 6)],
          ["dual value", number(dual, 6)],
          ["relative gap", gapText(Math.max(0, gap))],
          [machine.done ? "solved in" : "solving for", `${Math.max(1, Math.round(worked))} ms, ${count(machine.steps, "step")}`],
        );
      }
      find(".mc-stats tbody").innerHTML = rows.map(([name, value]) => `<tr><th scope="row">${name}</th><td>${value}</td></tr>`).join("");
    }

    function say() {
      const text = sentence(settings, points, machine);
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

    function solve() {
      clearTimeout(speech);
      delete box.dataset.milliseconds;
      begun = performance.now();
      machine = points.length ? build(points, points.map((point) => SIGN[point[2]]), settings) : null;
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
      find(".mc-formula").innerHTML = `K(x, x′) = ${KERNELS[settings.kernel].formula(settings)}`;
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

    // What is at the cross, in words.
    function look() {
      const i = nearest(cross);
      const parts = [`Cross at ${at(cross)}`];
      if (machine?.m === points.length) {
        const K = kernelOf(settings);
        const { v, certificate } = machine;
        const score = points.reduce((total, point, j) => total + v[j] * K(point, cross), certificate.bias);
        const where = Math.abs(score) < 1 ? "within the margin" : "beyond the margin";
        parts.push(`score ${number(score, 3)}, a ${NAMES[score > 0 ? 0 : 1]}’s side, ${where}`);
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
      else if (key === "1" || key === "2") place(cross, Number(key) - 1);
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
