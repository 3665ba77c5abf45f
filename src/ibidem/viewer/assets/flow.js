// The view of the flow: over time, or as a network if there are no times; and the same as a table.
(function (ibidem) {
  "use strict";

  const { h, put, link, button, number, many, are, name, origin } = ibidem;
  const MAX_ROWS = 50;
  const FIGURES = new Set(["characters", "pairs"]);

  // A table that shows its first rows, and all of them on request.
  function longTable(label, heads, rows) {
    const body = h(
      "tbody",
      null,
      rows.slice(0, MAX_ROWS).map((make) => make()),
    );
    const more =
      rows.length > MAX_ROWS &&
      button(
        `Show all ${number(rows.length)} rows`,
        () => {
          body.append(...rows.slice(MAX_ROWS).map((make) => make()));
          more.remove();
        },
        { class: "more" },
      );
    return h(
      "section",
      { class: "as-table", "aria-labelledby": "table-title" },
      h("h2", { id: "table-title" }, "The same as a table"),
      h(
        "div",
        { class: "scrolling", tabindex: "0", role: "region", "aria-label": label },
        h(
          "table",
          { class: "small", "aria-label": label },
          h(
            "thead",
            null,
            h(
              "tr",
              null,
              heads.map((head) => h("th", { scope: "col", class: FIGURES.has(head) ? "figure" : null }, head)),
            ),
          ),
          body,
        ),
      ),
      more,
    );
  }

  function pairRows(items) {
    return items.map((pair) => () => {
      const [from, to] = ibidem.inOrder(pair);
      return h(
        "tr",
        { "data-key": String(pair.pair) },
        h("td", null, name(from), origin(from)),
        h("td", null, name(to), origin(to)),
        h("td", { class: "figure" }, number(pair.shared)),
        h("td", null, pair.direction === "unknown" ? "not known" : "left is earlier"),
        h("td", null, link(`#pair=${pair.pair}`, "compare", ibidem.hidden(` pair ${pair.pair}`))),
      );
    });
  }

  const edgeAddress = (edge, by) => {
    const isPlain = edge.n_pairs === 1 || by.isDocument || by.noun !== "outlet or group";
    if (isPlain || edge.ends.some(ibidem.isWithoutGroup)) return `#pair=${edge.pair}`;
    return ibidem.address.write("pairs", null, { group: edge.ends[0].name, search: `"${edge.ends[1].name}"`, across: "1" });
  };

  function edgeRows({ edges, drawn }, by) {
    const places = new Map(drawn.map((edge, at) => [edge, at]));
    return edges.map((edge) => () => {
      const ends = edge.back > edge.ahead ? [...edge.ends].reverse() : edge.ends;
      return h(
        "tr",
        { "data-key": String(places.has(edge) ? places.get(edge) : -1) },
        ends.map((node) => h("td", null, h("bdi", null, node.name))),
        h("td", { class: "figure" }, number(edge.shared)),
        h("td", { class: "figure" }, number(edge.n_pairs)),
        h("td", null, edge.back === edge.ahead ? "not known" : edge.isOrdered ? "mostly left to right" : "left is the reference"),
        h("td", null, link(edgeAddress(edge, by), edge.n_pairs === 1 ? "compare" : edgeAddress(edge, by).startsWith("#pair=") ? "compare one" : "see the pairs")),
      );
    });
  }

  // Says how many pairs have a curve, and why the others do not; nothing if all do.
  function drawnOf(nPairs, nUndated, nHidden) {
    const nLeft = nUndated + nHidden;
    if (!nLeft) return null;
    const count = (n) => (n === 1 ? "one" : number(n));
    const reasons = [
      nUndated > 0 && `${count(nUndated)} ${nUndated === 1 ? "lacks" : "lack"} a date`,
      nHidden > 0 && `${count(nHidden)} ${are(nHidden)} in one lane with equal times`,
    ].filter(Boolean);
    const nDrawn = nPairs - nLeft;
    const others =
      reasons.length === 1
        ? `the other ${reasons[0]} and ${are(nLeft)} only in the table`
        : `of the others, ${reasons.join(" and ")}; they are only in the table`;
    return `${number(nDrawn)} of ${many(nPairs, "pair")} ${are(nDrawn)} drawn; ${others}.`;
  }

  const AXES = { since: "Time since the first", date: "Dates", rank: "Order only" };
  const LANES = { group: "Outlets", folder: "Folders", cluster: "Clusters", document: "Documents" };
  const FEW_LANES = 24;
  const MOST_POINTS = 400; // more documents say less than their outlets or folders
  const MOST_PAIRS = { time: 400, network: 5000 };

  // The ways to group documents that these pairs allow; the first one is usual over time.
  function groupings(items, summary) {
    const nDocuments = new Set(items.flatMap((pair) => [pair.a.document, pair.b.document])).size;
    const found = [];
    if (summary.has_groups) found.push("group");
    if (!summary.has_groups && ibidem.foldersOf(items)) found.push("folder");
    return nDocuments > FEW_LANES ? [...found, "cluster", "document"] : [...found, "document"];
  }

  const AXIS_SAYS = {
    since: "The horizontal axis is the time since the earlier document of a pair, on a logarithmic scale",
    date: "Time runs from left to right",
    rank: "Documents are ordered by time from left to right; documents with the same time are side by side",
  };

  function overTime(items, summary, { by, axis, width, colour }) {
    const made = ibidem.timeline(items, by, axis, width < 600 ? 14 : 24);
    const nUnordered = made.curves.filter((curve) => !curve.isOrdered).length;
    const isEqual = made.curves.every((curve) => !curve.isOrdered);
    const said = [
      `${axis === "rank" && isEqual ? "The order is not known, so documents are sorted by id" : AXIS_SAYS[axis]}; each lane is ${/^[aeiou]/.test(by.noun) ? "an" : "a"} ${by.noun}. `,
      nUnordered < made.curves.length
        ? "A curve leads from the earlier to the later document; its width shows how much they share. "
        : "A curve joins two documents; its width shows how much they share. ",
      nUnordered > 0 ? "It is dashed where the order is not known: times are missing or equal. " : "",
      "Point at a curve, a document or a name to highlight it; click a curve to see the pair.",
    ].join("");
    const limits = [
      made.nOther > 0 &&
        `The ${many(made.lanes.length - 1, by.noun, by.nouns)} that share most have a lane each; the other ${number(made.nOther)} share one, at the bottom.`,
    ];
    const isFlat = !made.curves.length;
    return {
      said,
      drawn: drawnOf(items.length, made.nUndated, made.nHidden),
      limits,
      isEmpty: isFlat,
      draw: (place) => {
        const open = (address) => {
          location.hash = address;
        };
        const drawing = ibidem.drawLanes(made, width, colour, {
          open: (curve) => open(`#pair=${curve.pair}`),
          openDocument: (dot) => open(`#document=${dot.document}`),
          point: (pairs) => drawing.light(pairs),
        });
        place.replaceChildren(drawing.element);
        return { lightRow: (key) => drawing.light(key === null ? [] : [key]), close: () => {} };
      },
      table: () => longTable("Flow as a table", ["from", "to", "characters", "order", "pair"], pairRows(items)),
    };
  }

  const COLOURS = {
    group: "Colours are outlets or groups.",
    name: "",
    community: "Colours are communities: documents that share more with one another than with others.",
  };

  function asNetwork(items, summary, { by, width, colour }) {
    const made = ibidem.network(items, by, { aspect: Math.max(0.8, width / 560), hasGroups: summary.has_groups, isAgainst: summary.is_against });
    const { within } = made;
    const nNone = made.nodes.filter(ibidem.isWithoutGroup).length;
    const nAlone = made.nNodes - made.nJoined;
    const nMore = made.nJoined - made.nShown;
    const limits = [
      `${many(made.nShown - nNone, by.noun, by.nouns)}${nNone ? " and the documents without a group" : ""} in ${many(made.nParts, "connected part")}${made.colouring === "community" && made.nCommunities > made.nParts ? ` and ${many(made.nCommunities, "community", "communities")}` : ""}.`,
      nAlone > 0 &&
        `${many(nAlone, by.noun, by.nouns)} ${are(nAlone)} not drawn: ${nAlone === 1 ? "it shares" : "they share"} text only within ${nAlone === 1 ? "itself" : "themselves"}.`,
      nMore > 0 && `${many(nMore, by.noun, by.nouns)}, ${nMore === 1 ? "the one that shares" : "those that share"} least, ${are(nMore)} only in the table.`,
      within.n_pairs > 0 && `${many(within.n_pairs, "pair")} within one ${by.noun}${nNone ? " or among documents without a group" : ""} (${number(within.shared)} characters) ${are(within.n_pairs)} not drawn.`,
    ];
    const directed = made.drawn.filter((edge) => edge.isDirected);
    const isOrdered = directed.some((edge) => edge.isOrdered);
    const earlier = "Arrows lead from the earlier to the later. ";
    const reference = `Arrows lead from the reference to what was compared with it${isOrdered ? ", or from the earlier to the later where times are known" : ""}. `;
    return {
      limits,
      isEmpty: !made.drawn.length,
      said: [
        `Each point is ${/^[aeiou]/.test(by.noun) ? "an" : "a"} ${by.noun}, larger if it shares more; a line joins two that share text, and its width shows how much. `,
        !directed.length ? "Which came first is not known. " : summary.is_against ? reference : earlier,
        `${COLOURS[made.colouring]} Drag to move, use + and − to zoom, click to open.`,
      ].join(""),
      draw: (place) => {
        const open = (address) => {
          location.hash = address;
        };
        const view = new ibidem.NetworkView(made, {
          colour,
          openNode: (node) => open(ibidem.isWithoutGroup(node) ? "#documents" : by.isDocument ? `#document=${node.document}` : ibidem.address.write("pairs", null, by.noun === "outlet or group" ? { group: node.name } : { search: node.name })),
          openEdge: (edge) => open(edgeAddress(edge, by)),
        });
        place.replaceChildren(view.element);
        return { lightRow: (key) => view.lightEdge(key === null ? -1 : key), close: () => view.close() };
      },
      table: () => longTable("Network as a table", ["one", "other", "characters", "pairs", "order", "see"], edgeRows(made, by)),
    };
  }

  // A row of buttons of which one is pressed. `options`: pairs of value and label.
  function choice(label, options, chosen, choose) {
    const buttons = options.map(([value, text]) => button(text, () => choose(value), { "aria-pressed": String(value === chosen), "data-way": value }));
    return h("div", { class: "drawing", role: "group", "aria-label": label }, buttons);
  }

  async function show(main, { source, summary, options }) {
    const state = { as: !summary.has_times || options.as === "network" ? "network" : options.as, by: options.by, axis: options.axis };
    let usualAs = options.as === "network" ? "time" : "network";
    let drawing = null;
    let round = 0;
    const active = ibidem.activeFilters(null);
    const across = summary.has_groups ? ibidem.acrossToggle() : null;
    const place = h("div", { class: "chart flow" });
    const said = h("p", { class: "lead" });
    const limits = h("div", { class: "limits", role: "status" });
    const table = h("div", null);
    const ways = h("div", { class: "ways" });
    const colour = ibidem.coloursOf(summary, await source.front());
    const failed = (error) => ibidem.showProblem(main, error);
    const set = (key, value, usual) => {
      state[key] = value;
      ibidem.keepInAddress(key, value === usual ? null : value);
      draw().catch(failed);
    };

    async function draw() {
      round += 1;
      const mine = round;
      let answer = await source.flow(ibidem.state.filters, MOST_PAIRS[state.as] || MOST_PAIRS.time);
      if (mine !== round) return;
      if (!MOST_PAIRS[state.as]) {
        // Where no order is known, the network says more.
        usualAs = !answer.total || answer.items.some((pair) => pair.direction !== "unknown") ? "time" : "network";
        state.as = usualAs;
        if (usualAs === "network") answer = await source.flow(ibidem.state.filters, MOST_PAIRS.network);
        if (mine !== round) return;
      }
      const isTimed = state.as === "time";
      active.show();
      if (across) across.show();
      const lanes = groupings(answer.items, summary).filter((way) => isTimed || way !== "cluster");
      const isCrowded = new Set(answer.items.flatMap((pair) => [pair.a.document, pair.b.document])).size > MOST_POINTS;
      const usual = isTimed || isCrowded ? lanes[0] : "document";
      const by = lanes.includes(state.by) ? state.by : usual;
      const axes = ibidem.axesOf(answer.items);
      const axis = axes.includes(state.axis) ? state.axis : axes[0];
      put(
        ways,
        summary.has_times &&
          choice(
            "Kind of chart",
            [
              ["time", "Over time"],
              ["network", "As a network"],
            ],
            state.as,
            (value) => set("as", value, usualAs),
          ),
        lanes.length > 1 && choice(isTimed ? "Lanes" : "Points", lanes.map((way) => [way, LANES[way]]), by, (value) => set("by", value, usual)),
        isTimed && axes.length > 1 && choice("Time", axes.map((way) => [way, AXES[way]]), axis, (value) => set("axis", value, axes[0])),
        across && across.element,
      );
      const settings = { by: ibidem.lanesBy(by, answer.items), axis, width: Math.max(280, place.clientWidth), colour };
      const made = (isTimed ? overTime : asNetwork)(answer.items, summary, settings);
      said.textContent = made.said;
      const shown =
        answer.items.length < answer.total
          ? `Of ${number(answer.total)} pairs, the ${number(answer.items.length)} that share most are shown.`
          : !made.drawn && `${many(answer.total, "pair")} ${are(answer.total)} shown.`;
      put(limits, h("p", null, [shown, made.drawn, ...made.limits].filter(Boolean).join(" ")));
      put(table, answer.items.length > 0 && made.table());
      if (drawing) drawing.close();
      drawing = null;
      if (made.isEmpty) {
        const why = answer.total ? "There is nothing to draw; see the table." : "No pair matches. Lower a cut-off or remove a filter.";
        put(place, h("p", { class: "nothing" }, why));
        return;
      }
      drawing = made.draw(place);
    }

    // A row of the table lights its curve.
    const lightRow = (event) => {
      const row = event.target.closest("[data-key]");
      if (drawing) drawing.lightRow(row ? Number(row.dataset.key) : null);
    };
    const dim = () => drawing && drawing.lightRow(null);
    table.addEventListener("mouseover", lightRow);
    table.addEventListener("focusin", lightRow);
    table.addEventListener("mouseleave", dim);
    table.addEventListener("focusout", dim);
    put(main, h("header", { class: "head" }, h("h1", null, "Flow"), said), ways, active.place, limits, place, table);
    const listen = () => draw().catch(failed);
    const wider = ibidem.later(() => {
      if (state.as === "time") listen();
    }, 150);
    window.addEventListener("resize", wider);
    ibidem.state.listeners.add(listen);
    await draw();
    return () => {
      round += 1;
      window.removeEventListener("resize", wider);
      ibidem.state.listeners.delete(listen);
      if (drawing) drawing.close();
    };
  }

  ibidem.viewer = Object.assign(ibidem.viewer || {}, { flow: { title: "Flow", show } });
})(window.ibidem);
