// The network: who shares how much with whom, if there are no times to order them. Nodes are on a circle.
(function (ibidem) {
  "use strict";

  const { number, many, named } = ibidem;
  const MAX_NODES = 40;
  const N_STEPS = 12;

  // Adds up what every two nodes share; nodes are groups, or documents if there are no groups.
  function gathered(pairs, hasGroups) {
    const key = (side) => (hasGroups ? `g${side.group || ""}` : `d${side.document}`);
    const nodes = new Map();
    const edges = new Map();
    const within = { shared: 0, n_pairs: 0 };
    for (const pair of pairs) {
      const ends = [pair.a, pair.b].map((side) => {
        const name = hasGroups ? side.group || "no group" : named(side);
        const node = nodes.get(key(side)) || { key: key(side), name, document: side.document, shared: 0 };
        node.shared += pair.shared;
        nodes.set(node.key, node);
        return node;
      });
      if (ends[0] === ends[1]) {
        within.shared += pair.shared;
        within.n_pairs += 1;
        continue;
      }
      ends.sort((one, other) => (one.key < other.key ? -1 : 1));
      const id = `${ends[0].key}\n${ends[1].key}`;
      const edge = edges.get(id) || { ends, shared: 0, n_pairs: 0, pair: pair.pair };
      edge.shared += pair.shared;
      edge.n_pairs += 1;
      edges.set(id, edge);
    }
    const bySize = (one, other) => other.shared - one.shared;
    return { nodes: [...nodes.values()].sort(bySize), edges: [...edges.values()].sort(bySize), within };
  }

  // The ends of the widest curves, up to the limit.
  function joined(edges) {
    const kept = new Set();
    for (const { ends } of edges) {
      const nNew = ends.filter((node) => !kept.has(node)).length;
      if (kept.size + nNew <= MAX_NODES) ends.forEach((node) => kept.add(node));
    }
    return [...kept];
  }

  // Around a ring, down on the right and up on the left, evenly spaced so that no name covers another.
  function place(nodes) {
    const nRight = Math.ceil(nodes.length / 2);
    nodes.forEach((node, at) => {
      const isRight = at < nRight;
      const [rank, nSide] = isRight ? [at, nRight] : [nodes.length - 1 - at, nodes.length - nRight];
      const y = 1 - (2 * (rank + 0.5)) / nSide;
      const x = (1 - Math.abs(y) ** 2.5) ** (1 / 2.5);
      Object.assign(node, { x: isRight ? x : -x, y });
    });
  }

  // After each node comes the unplaced one it shares most with, so that most curves are short.
  function arranged(nodes, edges) {
    const shared = new Map();
    edges.forEach(({ ends: [one, other], shared: amount }) => {
      shared.set(`${one.key}\n${other.key}`, amount).set(`${other.key}\n${one.key}`, amount);
    });
    const left = [...nodes];
    const placed = left.splice(0, 1);
    while (left.length) {
      const { key } = placed[placed.length - 1];
      let best = 0;
      left.forEach((node, at) => {
        if ((shared.get(`${key}\n${node.key}`) || 0) > (shared.get(`${key}\n${left[best].key}`) || 0)) best = at;
      });
      placed.push(...left.splice(best, 1));
    }
    return placed;
  }

  // Curves bend towards the middle, long ones more than short ones.
  function curve(one, other) {
    const bend = 1 - 0.375 * Math.hypot(one.x - other.x, one.y - other.y);
    return Array.from({ length: N_STEPS + 1 }, (_, step) => {
      const t = step / N_STEPS;
      const [p, q, r] = [(1 - t) ** 2, 2 * t * (1 - t), t ** 2];
      return {
        step,
        x: p * one.x + (q * bend * (one.x + other.x)) / 2 + r * other.x,
        y: p * one.y + (q * bend * (one.y + other.y)) / 2 + r * other.y,
      };
    });
  }

  // Returns the data sets of the chart, the edges for the table, and the figures for the text beside it.
  function network(pairs, hasGroups) {
    const { nodes, edges, within } = gathered(pairs, hasGroups);
    const kept = joined(edges);
    const isKept = new Set(kept.map((node) => node.key));
    const drawn = edges.filter(({ ends }) => ends.every((node) => isKept.has(node.key)));
    const placed = arranged(kept, drawn);
    place(placed);
    const nodeRow = (node) => ({
      x: node.x,
      y: node.y,
      node: node.key,
      name: ibidem.shown(node.name),
      says: `${node.name}\n${number(node.shared)} characters shared`,
    });
    const edgeSays = ({ ends: [one, other], shared, n_pairs }) =>
      `${one.name}\nand ${other.name}\n${number(shared)} characters in ${many(n_pairs, "pair")}`;
    const data = {
      edges: drawn.flatMap((edge, at) =>
        curve(...edge.ends).map((point) => ({
          ...point,
          edge: at,
          shared: edge.shared,
          says: edgeSays(edge),
        })),
      ),
      nodes: placed.map(nodeRow),
      labels_left: placed.filter((node) => node.x < -1e-9).map(nodeRow),
      labels_right: placed.filter((node) => node.x >= -1e-9).map(nodeRow),
    };
    // The curves that belong to the curve or node under the pointer.
    const edgesOf = (row) => {
      if (row.edge !== undefined) return row.edge < 0 ? [] : [row.edge];
      if (row.node === undefined) return [];
      return drawn.flatMap(({ ends }, at) => (ends.some((end) => end.key === row.node) ? [at] : []));
    };
    const nJoined = new Set(edges.flatMap(({ ends }) => ends)).size;
    return { data, edges, drawn, edgesOf, within, nNodes: nodes.length, nJoined, nShown: kept.length };
  }

  Object.assign(ibidem, { network });
})(window.ibidem);
