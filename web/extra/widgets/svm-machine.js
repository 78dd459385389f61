// The machines of svm-demo.js: arithmetic without a page, which tests compare with Python.
"use strict";

// ---- the machine for two classes, kernels and pictures in numbers ----
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

// ---- the machine for k classes ----
//
// The machine of Crammer and Singer, without a bias: on K + 1 each class has one that is regularised like its other
// weights. The score is f_r(x) = sum_i v_ir (K(x_i, x) + 1), and the dual is: maximise
//     sum_i v_iy - 1/2 sum_r sum_ij v_ir v_jr (K(x_i, x_j) + 1)        (y the class of x_i)
// where every row v_i sums to 0, v_iy <= C, and v_ir <= 0 for the other classes. Its gradient is
// F_ir = [r = y] - f_r(x_i), and example i has slack F_iy - min_r F_ir.
(() => {
  const TOLERANCE = 1e-6; // of the relative gap
  const EXACT = 1e-12; // a gap that can hardly be improved
  const SWEEPS = 30; // of as many blocks as there are examples; then the interior-point method
  const POLISH = 20; // sweeps that may try to improve on the tolerance
  const ITERATIONS = 60; // of the interior-point method, at most; it takes 15 to 30
  const WORK = 5e5; // multiplications between two places where the page may have its turn

  // ---- linear algebra: matrices of order m by rows, of which the lower half counts ----

  // Four sums at once: each by itself would wait for its last addition.
  function dot(x, a, y, b, n) {
    let [s, t, u, w] = [0, 0, 0, 0];
    let e = 0;
    for (; e + 3 < n; e += 4) {
      s += x[a + e] * y[b + e];
      t += x[a + e + 1] * y[b + e + 1];
      u += x[a + e + 2] * y[b + e + 2];
      w += x[a + e + 3] * y[b + e + 3];
    }
    for (; e < n; e += 1) s += x[a + e] * y[b + e];
    return s + t + (u + w);
  }

  // Cholesky: L in the place of M = L L'.
  function* factor(M, m) {
    for (let i = 0, work = 0; i < m; i += 1) {
      const row = i * m;
      for (let j = 0; j < i; j += 1) M[row + j] = (M[row + j] - dot(M, row, M, j * m, j)) / M[j * m + j];
      const left = M[row + i] - dot(M, row, M, row, i);
      M[row + i] = Math.sqrt(Math.max(left, 1e-14 * M[row + i])); // what rounding has taken away
      work += (i * i) / 2;
      if (work > WORK) {
        work = 0;
        yield;
      }
    }
  }

  // z becomes the solution x of L L' x = z.
  function substitute(L, z, m) {
    for (let i = 0; i < m; i += 1) z[i] = (z[i] - dot(L, i * m, z, 0, i)) / L[i * m + i];
    for (let i = m - 1; i >= 0; i -= 1) {
      z[i] /= L[i * m + i];
      for (let j = 0, row = i * m; j < i; j += 1) z[j] -= L[row + j] * z[i];
    }
  }

  // Add the inverse of L L' to S. In the rows of T: the columns of the inverse of L.
  function* addInverse(L, S, T, m) {
    for (let i = 0, work = 0; i < m; i += 1) {
      const row = i * m;
      T[row + i] = 1 / L[row + i];
      for (let j = i + 1; j < m; j += 1) T[row + j] = -dot(L, j * m + i, T, row + i, j - i) / L[j * m + j];
      for (let j = 0; j <= i; j += 1) S[row + j] += dot(T, row + i, T, j * m + i, m - i);
      work += (m - i) * (m + i);
      if (work > WORK) {
        work = 0;
        yield;
      }
    }
  }

  // ---- an interior-point method for the same dual ----
  //
  // In A_ir = C [r = y] - v_ir, which are not negative and sum to C for each example. With numbers t_i below
  // min_r F_ir and Z_ir = F_ir - t_i, the optimum has A_ir Z_ir = 0. The method keeps all of them positive and lets
  // the products go to 0 together. Newton's step to A_ir Z_ir + R_ir is
  //     (G + diag(Z_r / A_r)) dA_r = R_r / A_r + dt        for each class,
  // with the dt for which the dA_r sum to 0: k Cholesky factors of order m, and that of the sum of the k inverses.
  // It takes two of them: one straight to 0 tells how far one may hope to get (Mehrotra), the other goes there.
  class Interior {
    constructor({ G, y, k, C, m }) {
      Object.assign(this, { G, y, k, C, m, mu: Infinity });
      const size = m * k;
      this.A = new Float64Array(size).fill(C / k); // by classes: the r-th stands from r m on
      this.F = new Float64Array(size);
      this.Z = new Float64Array(size);
      this.R = new Float64Array(size);
      this.dA = new Float64Array(size);
      this.L = Array.from({ length: k }, () => new Float64Array(m * m));
      this.S = new Float64Array(m * m);
      this.T = new Float64Array(m * m);

      const v = this.multipliers();
      for (let i = 0; i < m; i += 1) {
        const F = Array.from({ length: k }, (_, r) => {
          let x = Number(r === y[i]);
          for (let j = 0; j < m; j += 1) x -= v[j * k + r] * G[i * m + j];
          return x;
        });
        const [low, high] = [Math.min(...F), Math.max(...F)];
        F.forEach((x, r) => (this.Z[r * m + i] = x - low + Math.max(1, high - low)));
      }
    }

    // The v of A, by examples.
    multipliers() {
      const { A, y, k, C, m } = this;
      const v = new Float64Array(m * k);
      for (let i = 0; i < m; i += 1) {
        let sum = 0;
        for (let r = 0; r < k; r += 1) sum += A[r * m + i];
        for (let r = 0; r < k; r += 1) v[i * k + r] = (r === y[i] ? C : 0) - (C * A[r * m + i]) / sum;
      }
      return v;
    }

    *factors() {
      const { A, Z, G, L, S, T, k, m } = this;
      S.fill(0);
      for (let r = 0; r < k; r += 1) {
        L[r].set(G);
        for (let i = 0; i < m; i += 1) L[r][i * m + i] += Z[r * m + i] / A[r * m + i];
        yield* factor(L[r], m);
        yield* addInverse(L[r], S, T, m);
      }
      yield* factor(S, m);
    }

    // dA for R. The dZ that belongs to it is (R - Z dA) / A.
    direct() {
      const { A, R, dA, L, S, k, m } = this;
      const dt = new Float64Array(m);
      for (let r = 0; r < k; r += 1) {
        const part = dA.subarray(r * m, (r + 1) * m);
        for (let i = 0; i < m; i += 1) part[i] = R[r * m + i] / A[r * m + i];
        substitute(L[r], part, m);
        for (let i = 0; i < m; i += 1) dt[i] -= part[i];
      }
      substitute(S, dt, m);
      const rest = new Float64Array(m); // 0 but for rounding
      for (let r = 0; r < k; r += 1) {
        const more = dt.slice();
        substitute(L[r], more, m);
        for (let i = 0; i < m; i += 1) rest[i] += dA[r * m + i] += more[i];
      }
      for (let a = 0; a < dA.length; a += 1) dA[a] -= rest[a % m] / k;
    }

    // The step at which the first number meets 0.
    longest() {
      const { A, Z, R, dA } = this;
      let step = Infinity;
      for (let a = 0; a < A.length; a += 1) {
        if (dA[a] < 0) step = Math.min(step, -A[a] / dA[a]);
        const dZ = (R[a] - Z[a] * dA[a]) / A[a];
        if (dZ < 0) step = Math.min(step, -Z[a] / dZ);
      }
      return step;
    }

    // One iteration. Gives the length of its step, of 1.
    *iterate() {
      const { A, Z, R, dA } = this;
      const size = A.length;
      yield* this.factors();
      this.mu = dot(A, 0, Z, 0, size) / size;
      for (let a = 0; a < size; a += 1) R[a] = -A[a] * Z[a];
      this.direct();
      yield;
      const ahead = Math.min(1, this.longest());
      let hope = 0;
      for (let a = 0; a < size; a += 1) {
        const dZ = (R[a] - Z[a] * dA[a]) / A[a];
        hope += ((A[a] + ahead * dA[a]) * (Z[a] + ahead * dZ)) / size;
        R[a] -= dA[a] * dZ;
      }
      const aim = this.mu * Math.max(0, hope / this.mu) ** 3;
      for (let a = 0; a < size; a += 1) R[a] += aim;
      this.direct();
      const step = Math.min(1, 0.99 * this.longest());
      for (let a = 0; a < size; a += 1) {
        const dZ = (R[a] - Z[a] * dA[a]) / A[a];
        A[a] += step * dA[a];
        Z[a] += step * dZ;
      }
      yield;
      return step;
    }
  }

  // ---- the machine ----

  // Scores that are equal up to rounding are equal.
  const rounded = (score) => Math.round(score * 1e8) / 1e8;

  class CrammerSinger {
    // G of the kernel with its constant; y in 0, ..., k - 1
    constructor(G, y, k, C) {
      const m = y.length;
      Object.assign(this, { G, y, k, C, m, steps: 0, done: false });
      this.v = new Float64Array(m * k);
      this.F = new Float64Array(m * k);
      this.refresh();
      this.best = { v: this.v.slice(), F: this.F.slice(), certificate: this.certify() };
      this.work = this.run();
    }

    // What is shown is the best so far, which the gap tells: the primal value may rise for a while.
    get certificate() {
      return this.best.certificate;
    }

    keep() {
      this.refresh();
      const certificate = this.certify();
      if (certificate.gap < this.best.certificate.gap) this.best = { v: this.v.slice(), F: this.F.slice(), certificate };
      return certificate.gap;
    }

    // Work until `late()`, or a little.
    advance(late = () => true) {
      do this.done = this.work.next().done;
      while (!this.done && !late());
      return this.done;
    }

    // Blocks are cheap, and enough for most machines. Where they are slow (a large C, a kernel of few features), the
    // other method goes to the optimum in as many steps as for any other C and kernel.
    *run() {
      for (let n = 0, gap = this.certificate.gap; n < SWEEPS && gap > TOLERANCE; n += 1) {
        this.blocks(this.m);
        gap = this.keep();
        yield;
      }
      if (this.certificate.gap > TOLERANCE) yield* this.interior();
      this.v = this.best.v.slice();
      this.refresh();
      for (let n = 0; n < POLISH && this.certificate.gap > EXACT; n += 1) {
        this.blocks(this.m);
        this.keep();
        yield;
      }
    }

    *interior() {
      const method = new Interior(this);
      let short = 0;
      for (let n = 0; n < ITERATIONS && short < 5; n += 1) {
        const step = yield* method.iterate();
        short += step < 0.1;
        this.steps += 1;
        this.v = method.multipliers();
        const before = this.certificate.gap;
        const gap = this.keep();
        if (gap <= EXACT || (before <= TOLERANCE && !(gap < before))) return; // rounding keeps the gap open
        yield;
      }
    }

    // The block of an example, maximised exactly: with the rest as it is, the objective is a parabola, the same in all
    // directions, and its maximum under the constraints is the projection of v_i + F_i / G_ii. This is
    // min(high_r, high_r + z_r - theta), with the theta for which the positive ones of theta - z_r sum to C. The
    // classes that are not positive leave; with each, theta gets smaller, so that none comes back.
    block(i) {
      const { m, k, G, y, v, F, C } = this;
      const at = i * k;
      const z = new Float64Array(k);
      let [sum, inside] = [C, k];
      for (let r = 0; r < k; r += 1) {
        z[r] = v[at + r] + F[at + r] / G[i * m + i] - (r === y[i] ? C : 0);
        sum += z[r];
      }
      for (let before = Infinity; inside < before;) {
        before = inside;
        const theta = sum / inside;
        for (let r = 0; r < k; r += 1) {
          if (z[r] < theta || z[r] === Infinity) continue;
          sum -= z[r];
          inside -= 1;
          z[r] = Infinity;
        }
      }
      const theta = sum / inside;
      for (let r = 0; r < k; r += 1) {
        const now = (r === y[i] ? C : 0) + Math.min(0, z[r] - theta);
        const change = now - v[at + r];
        if (change === 0) continue;
        v[at + r] = now;
        for (let t = 0, row = i * m; t < m; t += 1) F[t * k + r] -= change * G[row + t];
      }
      this.steps += 1;
    }

    // Blocks, each that of the example whose optimality conditions are violated most: how far a gradient of which the
    // multiplier may rise is above the least.
    blocks(count) {
      const { m, k, y, v, F, C } = this;
      for (let n = 0; n < count; n += 1) {
        let worst = -1;
        let most = 0;
        for (let i = 0, at = 0; i < m; i += 1, at += k) {
          let [low, high] = [Infinity, -Infinity];
          for (let r = 0; r < k; r += 1) {
            if (F[at + r] < low) low = F[at + r];
            if (F[at + r] > high && v[at + r] < (r === y[i] ? C : 0)) high = F[at + r];
          }
          if (high - low > most) [most, worst] = [high - low, i];
        }
        if (worst < 0) return;
        this.block(worst);
      }
    }

    // F from its definition: the steps leave rounding in it.
    refresh() {
      const { m, k, G, y, v, F } = this;
      F.fill(0);
      for (let i = 0; i < m; i += 1) {
        F[i * k + y[i]] += 1;
        for (let r = 0; r < k; r += 1) {
          const x = v[i * k + r];
          if (x !== 0) for (let t = 0, row = i * m; t < m; t += 1) F[t * k + r] -= x * G[row + t];
        }
      }
    }

    certify() {
      const { m, k, y, v, F, C } = this;
      const biases = new Array(k).fill(0); // the weights of the constant
      let [norm, linear, slack] = [0, 0, 0];
      for (let i = 0, at = 0; i < m; i += 1, at += k) {
        let low = Infinity;
        for (let r = 0; r < k; r += 1) {
          norm += v[at + r] * (Number(r === y[i]) - F[at + r]);
          biases[r] += v[at + r];
          if (F[at + r] < low) low = F[at + r];
        }
        linear += v[at + y[i]];
        slack += F[at + y[i]] - low;
      }
      const [primal, dual] = [norm / 2 + C * slack, linear - norm / 2];
      const gap = (primal - dual) / Math.max(1, Math.abs(primal));
      return { primal, dual, gap, biases, norm: Math.sqrt(Math.max(0, norm)) };
    }

    // Of each example: v_iy is 0 where the true class is ahead of all others by more than the margin, and C where it is
    // ahead by less. Of two numbers whose product is 0 at the optimum the larger one is believed.
    kinds() {
      const { m, k, y, C, best: { v, F } } = this;
      const unit = Math.min(C, v.reduce((most, x) => Math.max(most, x), 0));
      return Array.from({ length: m }, (_, i) => {
        const [own, row] = [i * k + y[i], F.subarray(i * k, (i + 1) * k)];
        const beyond = row.reduce((least, x, r) => (r === y[i] ? least : Math.min(least, x - F[own])), Infinity);
        if (v[own] === 0 || v[own] <= unit * beyond) return "none";
        return C - v[own] <= unit * Math.max(0, -beyond) ? "bound" : "free";
      });
    }

    // On the sample f_r(x_i) = [r = y] - F_ir. Of equal scores the first class wins.
    mistakes() {
      const { k, y, best: { F } } = this;
      return Array.from(y, (own, i) => {
        const scores = Array.from(F.subarray(i * k, (i + 1) * k), (left, r) => rounded(Number(r === own) - left));
        return scores.indexOf(Math.max(...scores)) !== own;
      });
    }
  }

  function classes(points, y, k, settings) {
    return new CrammerSinger(globalThis.mcSvm.gram(points, settings).map((x) => x + 1), y, k, settings.C);
  }

  function solveClasses(points, y, k, settings) {
    const found = classes(points, y, k, settings);
    while (!found.done) found.advance();
    const v = Array.from({ length: y.length }, (_, i) => Array.from(found.best.v.subarray(i * k, (i + 1) * k)));
    return { ...found.certificate, v, kinds: found.kinds(), mistakes: found.mistakes(), steps: found.steps };
  }

  Object.assign(globalThis.mcSvm, { CrammerSinger, classes, solveClasses, rounded });
})();
