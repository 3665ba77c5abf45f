// The network on a canvas: who shares how much with whom, with direction, colours, zoom, and names where there is room.
(function (ibidem) {
  "use strict";

  const { h, button, number, many, named } = ibidem;
  const MAX_NODES = 4000;
  const FEW_NODES = 16; // on a lower canvas
  const SOME_NODES = 60; // drawn larger
  const NAME_HEIGHT = 16;
  const [LEAST_ZOOM, MOST_ZOOM] = [0.02, 8];

  // Adds up what every two nodes share; see lanesBy for `by`. Text leads from the earlier document to the later one; where that is
  // not known, from the reference, if there is one, to what was compared with it.
  function gathered(pairs, by, isAgainst) {
    const nodes = new Map();
    const edges = new Map();
    const within = { shared: 0, n_pairs: 0 };
    for (const pair of pairs) {
      const ends = [pair.a, pair.b].map((side) => {
        const key = by.key(side);
        const node = nodes.get(key) || { key, name: by.name(side), document: side.document, group: side.group, shared: 0, n_pairs: 0 };
        node.shared += pair.shared;
        node.n_pairs += 1;
        nodes.set(key, node);
        return node;
      });
      if (ends[0] === ends[1]) {
        within.shared += pair.shared;
        within.n_pairs += 1;
        continue;
      }
      const isTurned = String(ends[0].key) > String(ends[1].key);
      if (isTurned) ends.reverse();
      const id = `${ends[0].key}\n${ends[1].key}`;
      const edge = edges.get(id) || { ends, shared: 0, n_pairs: 0, pair: pair.pair, ahead: 0, back: 0, isOrdered: false };
      edge.shared += pair.shared;
      edge.n_pairs += 1;
      const isOrdered = pair.direction !== "unknown";
      if (isOrdered || isAgainst) edge[(pair.direction === "a_to_b") !== isTurned ? "ahead" : "back"] += pair.shared;
      edge.isOrdered = edge.isOrdered || isOrdered;
      edges.set(id, edge);
    }
    const bySize = (one, other) => other.shared - one.shared;
    return { nodes: [...nodes.values()].sort(bySize), edges: [...edges.values()].sort(bySize), within };
  }

  // Returns nodes with places, edges between them, and the figures for the text beside them.
  function network(pairs, by, { aspect, hasGroups, isAgainst }) {
    const { nodes, edges, within } = gathered(pairs, by, isAgainst);
    const kept = new Set();
    for (const { ends } of edges) {
      const nNew = ends.filter((node) => !kept.has(node)).length;
      if (kept.size + nNew <= MAX_NODES) ends.forEach((node) => kept.add(node));
    }
    const shown = [...kept];
    const place = new Map(shown.map((node, at) => [node, at]));
    const drawn = edges.filter(({ ends }) => ends.every((node) => kept.has(node)));
    // Where as much leads one way as the other, or the order is not known, there is no arrow.
    drawn.forEach((edge) => {
      const isBack = edge.back > edge.ahead;
      const [from, to] = isBack ? [edge.ends[1], edge.ends[0]] : edge.ends;
      Object.assign(edge, { from: place.get(from), to: place.get(to), isDirected: edge.back !== edge.ahead });
    });
    const size = ibidem.layOut(shown, drawn, aspect);
    const found = ibidem.communities(shown, drawn);
    const isByGroup = by.isDocument && hasGroups;
    shown.forEach((node, at) => {
      node.colour = isByGroup ? node.group : by.isDocument ? found.of[at] : node.name;
    });
    const nJoined = new Set(edges.flatMap(({ ends }) => ends)).size;
    const colouring = isByGroup ? "group" : by.isDocument ? "community" : "name";
    return { nodes: shown, edges, drawn, within, size, colouring, nCommunities: found.n, nParts: size.nParts, nNodes: nodes.length, nJoined, nShown: shown.length };
  }

  const edgeSays = (edge, nodes) => {
    const [from, to] = [nodes[edge.from].name, nodes[edge.to].name];
    return `${from}\n${edge.isDirected ? "→" : "and"} ${to}\n${number(edge.shared)} characters in ${many(edge.n_pairs, "pair")}`;
  };
  const nodeSays = (node) => `${node.name}${node.group && node.group !== node.name ? `\n${node.group}` : ""}\n${number(node.shared)} characters shared in ${many(node.n_pairs, "pair")}`;

  class NetworkView {
    // `act`: { openNode(node), openEdge(edge), colour(name) } where colour gives a class with the colour of an outlet.
    constructor(made, act) {
      Object.assign(this, { made, act, zoom: 1, x: 0, y: 0, lit: null, isFitted: true });
      this.canvas = h("canvas", {
        tabindex: "0",
        role: "img",
        "aria-label": `A network of ${many(made.nShown, "node")} and ${many(made.drawn.length, "edge")}; the table below says the same.`,
        "data-nodes": String(made.nShown),
        "data-edges": String(made.drawn.length),
      });
      const zoom = (factor) => () => this.zoomBy(factor);
      this.element = h(
        "div",
        { class: made.nShown < FEW_NODES ? "network few" : "network" },
        this.canvas,
        h(
          "div",
          { class: "zooming" },
          button("+", zoom(1.5), { "aria-label": "Zoom in" }),
          button("−", zoom(1 / 1.5), { "aria-label": "Zoom out" }),
          button("Fit", () => this.fit(), { title: "Show all" }),
        ),
      );
      const most = made.nodes.reduce((largest, node) => Math.max(largest, node.shared), 1);
      this.radius = (node) => 3.5 + 9 * Math.sqrt(node.shared / most);
      this.mostShared = made.drawn.reduce((largest, edge) => Math.max(largest, edge.shared), 1);
      this.listen();
      this.watcher = new ResizeObserver(() => this.resize());
      this.watcher.observe(this.element);
      this.theme = new MutationObserver(() => this.recolour());
      this.theme.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
    }

    listen() {
      const { canvas } = this;
      let held = null;
      const touches = new Map();
      canvas.addEventListener("pointerdown", (event) => {
        touches.set(event.pointerId, event);
        held = { x: event.offsetX, y: event.offsetY, isMoved: false };
        canvas.setPointerCapture(event.pointerId);
      });
      canvas.addEventListener("pointermove", (event) => {
        const before = touches.get(event.pointerId);
        if (before && touches.size === 2) {
          const [one, other] = [...touches.values()];
          const old = Math.hypot(one.offsetX - other.offsetX, one.offsetY - other.offsetY);
          touches.set(event.pointerId, event);
          const [a, b] = [...touches.values()];
          const now = Math.hypot(a.offsetX - b.offsetX, a.offsetY - b.offsetY);
          this.zoomBy(now / Math.max(1, old), (a.offsetX + b.offsetX) / 2, (a.offsetY + b.offsetY) / 2);
          held = null;
          return;
        }
        if (!before || !held) {
          this.point(event);
          return;
        }
        touches.set(event.pointerId, event);
        const [dx, dy] = [event.offsetX - before.offsetX, event.offsetY - before.offsetY];
        if (Math.hypot(event.offsetX - held.x, event.offsetY - held.y) > 4) held.isMoved = true;
        if (held.isMoved) this.move(dx, dy);
      });
      const release = (event) => {
        touches.delete(event.pointerId);
        if (event.type === "pointerup" && held && !held.isMoved) this.open(event);
        held = null;
      };
      canvas.addEventListener("pointerup", release);
      canvas.addEventListener("pointercancel", release);
      canvas.addEventListener("pointerleave", () => this.light(null, null));
      canvas.addEventListener(
        "wheel",
        (event) => {
          // The page scrolls as usual; with a key, or two fingers on a touch pad, the wheel zooms.
          if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
          event.preventDefault();
          this.zoomBy(Math.exp(-event.deltaY / 300), event.offsetX, event.offsetY);
        },
        { passive: false },
      );
      canvas.addEventListener("keydown", (event) => {
        const moves = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
        if (moves[event.key]) this.move(...moves[event.key]);
        else if (event.key === "+" || event.key === "=") this.zoomBy(1.3);
        else if (event.key === "-") this.zoomBy(1 / 1.3);
        else if (event.key === "0") this.fit();
        else return;
        event.preventDefault();
      });
    }

    // Reads the colours of outlets and of the page, which depend on light and dark.
    recolour() {
      const probe = h("span", null);
      this.element.append(probe);
      const read = (name, from) => getComputedStyle(from).getPropertyValue(name);
      const colours = new Map();
      const resolve = (classes) => {
        if (!colours.has(classes)) {
          probe.className = `${classes} probe`;
          colours.set(classes, getComputedStyle(probe).color);
        }
        return colours.get(classes);
      };
      this.colours = this.made.nodes.map((node) => resolve(typeof node.colour === "number" ? `outlet outlet${node.colour % 10}` : this.act.colour(node.colour)));
      probe.className = "probe-ink";
      this.ink = getComputedStyle(probe).color;
      this.ground = getComputedStyle(probe).backgroundColor;
      this.font = read("font-family", probe);
      probe.remove();
      this.draw();
    }

    resize() {
      const [width, height] = [this.canvas.clientWidth, this.canvas.clientHeight];
      if (!width || (width === this.width && height === this.height)) return;
      const ratio = window.devicePixelRatio || 1;
      Object.assign(this, { width, height, ratio });
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      if (this.isFitted) this.fit();
      if (!this.colours) this.recolour();
      else this.draw();
    }

    fit() {
      const { size } = this.made;
      const zoom = Math.min(this.width / (size.width + 40), this.height / (size.height + 40), this.made.nShown < SOME_NODES ? 3.5 : 2.2);
      Object.assign(this, { zoom, isFitted: true, x: (this.width - size.width * zoom) / 2, y: (this.height - size.height * zoom) / 2 });
      this.draw();
    }

    move(dx, dy) {
      this.x += dx;
      this.y += dy;
      this.isFitted = false;
      this.draw();
    }

    zoomBy(factor, x = this.width / 2, y = this.height / 2) {
      const zoom = Math.max(LEAST_ZOOM, Math.min(MOST_ZOOM, this.zoom * factor));
      this.x = x - ((x - this.x) * zoom) / this.zoom;
      this.y = y - ((y - this.y) * zoom) / this.zoom;
      Object.assign(this, { zoom, isFitted: false });
      this.draw();
    }

    at(node) {
      return [this.x + node.x * this.zoom, this.y + node.y * this.zoom];
    }

    // The node or edge under the pointer.
    found(x, y) {
      const { nodes, drawn } = this.made;
      const scale = this.scale();
      let best = null;
      let least = 12;
      nodes.forEach((node, place) => {
        const [nx, ny] = this.at(node);
        const away = Math.hypot(nx - x, ny - y) - this.radius(node) * scale;
        if (away < least) [least, best] = [away, { node: place }];
      });
      if (best && least < 4) return best;
      let nearest = 5;
      drawn.forEach((edge, place) => {
        const [[x0, y0], [x1, y1]] = [this.at(nodes[edge.from]), this.at(nodes[edge.to])];
        const length = (x1 - x0) ** 2 + (y1 - y0) ** 2 || 1;
        const t = Math.max(0, Math.min(1, ((x - x0) * (x1 - x0) + (y - y0) * (y1 - y0)) / length));
        const away = Math.hypot(x0 + t * (x1 - x0) - x, y0 + t * (y1 - y0) - y);
        if (away < nearest) [nearest, best] = [away, { edge: place }];
      });
      return best;
    }

    point(event) {
      const found = this.found(event.offsetX, event.offsetY);
      this.canvas.style.cursor = found ? "pointer" : "grab";
      this.light(found, event);
    }

    light(found, event) {
      const { nodes, drawn } = this.made;
      const says = !found ? "" : found.node !== undefined ? nodeSays(nodes[found.node]) : edgeSays(drawn[found.edge], nodes);
      ibidem.showTip(event, says);
      const key = JSON.stringify(found);
      if (key === this.key) return;
      this.key = key;
      this.lit = found;
      this.draw();
    }

    open(event) {
      const found = this.found(event.offsetX, event.offsetY);
      if (!found) return;
      ibidem.showTip(null, "");
      if (found.node !== undefined) this.act.openNode(this.made.nodes[found.node]);
      else this.act.openEdge(this.made.drawn[found.edge]);
    }

    // Makes one edge stand out, given its place among those drawn; none for -1.
    lightEdge(place) {
      this.lit = place >= 0 ? { edge: place } : null;
      this.draw();
    }

    // Nodes shrink when a large network is seen as a whole.
    scale() {
      return Math.max(0.28, Math.min(1.3, this.zoom));
    }

    draw() {
      if (!this.width || !this.colours) return;
      if (this.frame) cancelAnimationFrame(this.frame);
      this.frame = requestAnimationFrame(() => this.paint());
    }

    isLit(edge, place) {
      const { lit } = this;
      if (!lit) return true;
      return lit.edge === place || (lit.node !== undefined && (edge.from === lit.node || edge.to === lit.node));
    }

    paint() {
      const { nodes, drawn } = this.made;
      const pen = this.canvas.getContext("2d");
      const scale = this.scale();
      pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
      pen.clearRect(0, 0, this.width, this.height);
      const near = new Set();
      drawn.forEach((edge, place) => {
        const isLit = this.isLit(edge, place);
        if (this.lit && isLit) near.add(edge.from).add(edge.to);
        const [[x0, y0], [x1, y1]] = [this.at(nodes[edge.from]), this.at(nodes[edge.to])];
        const thick = Math.max(0.5, (0.8 + 4.5 * Math.sqrt(edge.shared / this.mostShared)) * scale);
        pen.globalAlpha = this.lit ? (isLit ? 0.9 : 0.06) : drawn.length > 1500 ? 0.35 : 0.5;
        pen.strokeStyle = this.colours[edge.from];
        pen.fillStyle = this.colours[edge.from];
        pen.lineWidth = thick;
        pen.beginPath();
        pen.moveTo(x0, y0);
        pen.lineTo(x1, y1);
        pen.stroke();
        const length = Math.hypot(x1 - x0, y1 - y0);
        if (edge.isDirected && length > 14) {
          const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
          const tip = this.radius(nodes[edge.to]) * scale + 1;
          const head = Math.min(length / 3, 4 + 1.6 * thick);
          const [tx, ty] = [x1 - ux * tip, y1 - uy * tip];
          pen.beginPath();
          pen.moveTo(tx, ty);
          pen.lineTo(tx - ux * head - uy * head * 0.55, ty - uy * head + ux * head * 0.55);
          pen.lineTo(tx - ux * head + uy * head * 0.55, ty - uy * head - ux * head * 0.55);
          pen.fill();
        }
      });
      nodes.forEach((node, place) => {
        const [x, y] = this.at(node);
        pen.globalAlpha = this.lit && !near.has(place) && this.lit.node !== place ? 0.2 : 1;
        pen.fillStyle = this.colours[place];
        pen.strokeStyle = this.ground;
        pen.lineWidth = scale;
        pen.beginPath();
        pen.arc(x, y, this.radius(node) * scale, 0, 2 * Math.PI);
        pen.fill();
        pen.stroke();
      });
      this.write(pen, near);
    }

    // Names of the largest nodes, below, above or beside them, as far as they do not cover one another.
    write(pen, near) {
      const { nodes } = this.made;
      const taken = [];
      const most = near.size ? 60 : Math.round(Math.min(90, 24 + 30 * this.zoom));
      pen.globalAlpha = 1;
      pen.font = `12px ${this.font}`;
      pen.textAlign = "left";
      pen.textBaseline = "top";
      pen.lineWidth = 3;
      pen.strokeStyle = this.ground;
      pen.fillStyle = this.ink;
      const others = nodes.map((node) => this.at(node));
      const order = nodes.map((_, at) => at).sort((one, other) => near.has(other) - near.has(one) || nodes[other].shared - nodes[one].shared);
      for (const place of order) {
        if (taken.length >= most) break;
        const node = nodes[place];
        const [x, y] = this.at(node);
        if (x < 0 || y < 0 || x > this.width || y > this.height) continue;
        const name = ibidem.shown(ibidem.shortenedName(node.name, 24));
        const width = pen.measureText(name).width;
        const radius = this.radius(node) * this.scale();
        const middle = Math.max(2, Math.min(this.width - width - 2, x - width / 2));
        const free = [
          [middle, y + radius + 2],
          [middle, y - radius - NAME_HEIGHT],
          [x + radius + 4, y - NAME_HEIGHT / 2],
          [x - radius - 4 - width, y - NAME_HEIGHT / 2],
        ].filter(
          ([left, top]) =>
            left >= 0 &&
            left + width <= this.width &&
            !taken.some((other) => left < other.right + 4 && left + width + 4 > other.left && Math.abs(top - other.top) < NAME_HEIGHT),
        );
        const covers = ([left, top]) => others.some(([px, py]) => px > left && px < left + width && py > top && py < top + NAME_HEIGHT);
        const best = free.find((each) => !covers(each)) || (others.length < SOME_NODES && free[0]);
        if (!best) continue;
        const [left, top] = best;
        taken.push({ left, right: left + width, top });
        pen.strokeText(name, left, top);
        pen.fillText(name, left, top);
      }
    }

    close() {
      ibidem.showTip(null, "");
      if (this.frame) cancelAnimationFrame(this.frame);
      this.watcher.disconnect();
      this.theme.disconnect();
    }
  }

  Object.assign(ibidem, { network, NetworkView });
})(window.ibidem);
