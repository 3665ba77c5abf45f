// Places for the nodes of a network: connected parts are laid out by forces, each on its own, and set beside one another.
(function (ibidem) {
  "use strict";

  const LENGTH = 34; // of an edge
  const ALL_AGAINST_ALL = 300; // larger parts only repel what is near
  const MARGIN = 16;

  // Gives every node its `part`; returns the parts, largest first.
  function connectedParts(nodes, edges) {
    const parent = nodes.map((_, at) => at);
    const root = (at) => {
      while (parent[at] !== at) {
        parent[at] = parent[parent[at]];
        at = parent[at];
      }
      return at;
    };
    edges.forEach(({ from, to }) => {
      parent[root(from)] = root(to);
    });
    const parts = new Map();
    nodes.forEach((_, at) => {
      const key = root(at);
      if (!parts.has(key)) parts.set(key, []);
      parts.get(key).push(at);
    });
    return [...parts.values()].sort((one, other) => other.length - one.length || one[0] - other[0]);
  }

  // Communities: every node takes the name that most of what it shares has, until nothing changes.
  function communities(nodes, edges) {
    const near = nodes.map(() => []);
    edges.forEach((edge) => {
      near[edge.from].push([edge.to, edge.shared]);
      near[edge.to].push([edge.from, edge.shared]);
    });
    const label = nodes.map((_, at) => at);
    const order = nodes.map((_, at) => at).sort((one, other) => near[other].length - near[one].length || one - other);
    for (let round = 0; round < 12; round += 1) {
      let nChanged = 0;
      for (const at of order) {
        const weights = new Map();
        near[at].forEach(([other, shared]) => weights.set(label[other], (weights.get(label[other]) || 0) + Math.log1p(shared)));
        let best = label[at];
        let most = weights.get(best) || 0;
        weights.forEach((weight, name) => {
          if (weight > most + 1e-9) [best, most] = [name, weight];
        });
        if (best !== label[at]) {
          label[at] = best;
          nChanged += 1;
        }
      }
      if (!nChanged) break;
    }
    const sizes = new Map();
    label.forEach((name) => sizes.set(name, (sizes.get(name) || 0) + 1));
    const ranked = [...sizes.keys()].sort((one, other) => sizes.get(other) - sizes.get(one) || one - other);
    const rank = new Map(ranked.map((name, at) => [name, at]));
    return { of: label.map((name) => rank.get(name)), n: ranked.filter((name) => sizes.get(name) > 1).length };
  }

  function repel(xs, ys, dx, dy, n) {
    const push = (one, other) => {
      const [x, y] = [xs[one] - xs[other], ys[one] - ys[other]];
      const square = Math.max(x * x + y * y, 0.01);
      const force = (LENGTH * LENGTH) / square;
      dx[one] += x * force;
      dy[one] += y * force;
      dx[other] -= x * force;
      dy[other] -= y * force;
    };
    if (n <= ALL_AGAINST_ALL) {
      for (let one = 0; one < n; one += 1) for (let other = one + 1; other < n; other += 1) push(one, other);
      return;
    }
    const cell = 2.5 * LENGTH;
    const cells = new Map();
    const key = (x, y) => x * 65536 + y;
    for (let at = 0; at < n; at += 1) {
      const name = key(Math.floor(xs[at] / cell) + 32768, Math.floor(ys[at] / cell) + 32768);
      if (!cells.has(name)) cells.set(name, []);
      cells.get(name).push(at);
    }
    cells.forEach((members, name) => {
      for (let i = 0; i < members.length; i += 1) for (let j = i + 1; j < members.length; j += 1) push(members[i], members[j]);
      // Half of the neighbours: the others see this cell as theirs.
      [1, 65535, 65536, 65537].forEach((step) => {
        const others = cells.get(name + step);
        if (others) members.forEach((one) => others.forEach((other) => push(one, other)));
      });
    });
  }

  // Coordinates of one part, around its middle.
  function layPart(members, edges) {
    const n = members.length;
    const at = new Map(members.map((node, place) => [node, place]));
    const own = edges.filter((edge) => at.has(edge.from)).map((edge) => [at.get(edge.from), at.get(edge.to)]);
    const xs = new Float64Array(n);
    const ys = new Float64Array(n);
    for (let k = 0; k < n; k += 1) {
      const radius = LENGTH * 0.8 * Math.sqrt(k);
      xs[k] = radius * Math.cos(k * 2.39996);
      ys[k] = radius * Math.sin(k * 2.39996);
    }
    // What is tied to many is pulled less by each: otherwise a close circle would collapse into a blot.
    const degree = new Float64Array(n);
    own.forEach(([one, other]) => {
      degree[one] += 1;
      degree[other] += 1;
    });
    const nRounds = n <= 2 ? 0 : n <= 60 ? 160 : n <= 600 ? 110 : 70;
    const heat = LENGTH * Math.max(1, Math.sqrt(n) / 2);
    const [dx, dy] = [new Float64Array(n), new Float64Array(n)];
    for (let round = 0; round < nRounds; round += 1) {
      dx.fill(0);
      dy.fill(0);
      repel(xs, ys, dx, dy, n);
      for (const [one, other] of own) {
        const [x, y] = [xs[other] - xs[one], ys[other] - ys[one]];
        const pull = Math.hypot(x, y) / LENGTH / Math.sqrt(Math.min(degree[one], degree[other]));
        dx[one] += x * pull;
        dy[one] += y * pull;
        dx[other] -= x * pull;
        dy[other] -= y * pull;
      }
      const most = heat * (1 - round / nRounds) + 0.5;
      for (let k = 0; k < n; k += 1) {
        dx[k] -= xs[k] * 0.08;
        dy[k] -= ys[k] * 0.08;
        const length = Math.hypot(dx[k], dy[k]) || 1;
        const move = Math.min(length, most) / length;
        xs[k] += dx[k] * move;
        ys[k] += dy[k] * move;
      }
    }
    if (n === 2) [xs[0], xs[1], ys[0], ys[1]] = [-LENGTH / 2, LENGTH / 2, 0, 0];
    const [left, top] = [xs.reduce((a, b) => Math.min(a, b), Infinity), ys.reduce((a, b) => Math.min(a, b), Infinity)];
    const width = xs.reduce((a, b) => Math.max(a, b), -Infinity) - left;
    const height = ys.reduce((a, b) => Math.max(a, b), -Infinity) - top;
    const [across, down] = [xs.map((x) => x - left + MARGIN), ys.map((y) => y - top + MARGIN)];
    const [long, short] = [Math.max(width, height) + 2 * MARGIN, Math.min(width, height) + 2 * MARGIN];
    // Lying down: rows are low, and there is room for names.
    return width >= height ? { members, width: long, height: short, xs: across, ys: down } : { members, width: long, height: short, xs: down, ys: across };
  }

  // Parts in rows of at most this length: where each begins, and how large all are together.
  function inRows(laid, longest) {
    let [x, y, row, width] = [0, 0, 0, 0];
    const places = laid.map((part) => {
      if (x > 0 && x + part.width > longest) [x, y, row] = [0, y + row, 0];
      const place = [x, y];
      x += part.width;
      row = Math.max(row, part.height);
      width = Math.max(width, x);
      return place;
    });
    return { places, width, height: y + row };
  }

  // Sets `x` and `y` of all nodes; `edges` have `from` and `to`, places in `nodes`. Returns { width, height }.
  function layOut(nodes, edges, aspect) {
    const ofPart = new Map();
    const parts = connectedParts(nodes, edges);
    parts.forEach((members, part) => members.forEach((node) => ofPart.set(node, part)));
    const edgesOf = parts.map(() => []);
    edges.forEach((edge) => edgesOf[ofPart.get(edge.from)].push(edge));
    const laid = parts.map((members, part) => layPart(members, edgesOf[part]));
    const area = laid.reduce((sum, part) => sum + part.width * part.height, 0);
    laid.sort((one, other) => other.height - one.height || other.width - one.width);
    const widest = laid.reduce((most, part) => Math.max(most, part.width), 1);
    // The row length with which everything is seen largest.
    const tried = [1, 1.1, 1.2, 1.35, 1.5, 1.75, 2].map((factor) => inRows(laid, Math.max(widest, factor * Math.sqrt(area * aspect))));
    const seen = ({ width, height }) => Math.max(width / aspect, height);
    const best = tried.reduce((one, other) => (seen(other) < seen(one) ? other : one));
    laid.forEach((part, at) => {
      const [x, y] = best.places[at];
      part.members.forEach((node, k) => Object.assign(nodes[node], { x: x + part.xs[k], y: y + part.ys[k] }));
    });
    return { width: best.width, height: best.height, nParts: parts.length };
  }

  Object.assign(ibidem, { layOut, communities });
})(window.ibidem);
