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

  const edgeAddress = (edge, hasGroups) => {
    if (edge.n_pairs === 1) return `#pair=${edge.pair}`;
    return hasGroups
      ? ibidem.address.write("pairs", null, { group: edge.ends[0].name, search: edge.ends[1].name })
      : `#pair=${edge.pair}`;
  };

  function edgeRows({ edges, drawn }, hasGroups) {
    return edges.map(
      (edge) => () =>
        h(
          "tr",
          { "data-key": String(drawn.indexOf(edge)) },
          edge.ends.map((node) => h("td", null, h("bdi", null, node.name))),
          h("td", { class: "figure" }, number(edge.shared)),
          h("td", { class: "figure" }, number(edge.n_pairs)),
          h("td", null, link(edgeAddress(edge, hasGroups), edge.n_pairs === 1 ? "compare" : "see the pairs")),
        ),
    );
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

  function overTime(items, summary, width) {
    const made = ibidem.timeline(items, summary.has_groups, width < 600 ? 14 : 24);
    const lanes = summary.has_groups ? ["outlet or group", "outlets or groups"] : ["document", "documents"];
    const said = [
      `Time runs from left to right; each lane is ${summary.has_groups ? "an outlet or group" : "a document"}. `,
      "A curve leads from the earlier to the later document; its width shows how much they share",
      made.data.unordered.length ? ". A dashed curve joins two documents whose order is not known. " : ". ",
      "Point at a curve, a document or a name to highlight it; click a curve to see the pair.",
    ].join("");
    const limits = [
      made.nOther > 0 &&
        `The ${many(made.nLanes - 1, ...lanes)} that share most have a lane each; the other ${number(made.nOther)} share one, at the bottom.`,
    ];
    return {
      chart: "flow",
      data: made.data,
      said,
      drawn: drawnOf(items.length, made.nUndated, made.nHidden),
      limits,
      isEmpty: !made.nLanes,
      keysOf: made.pairsOf,
      adapt: (spec, wide) => {
        spec.height = Math.max(160, made.nLanes * (made.nLanes > 12 ? 30 : 40));
        spec.layer[1].mark.limit = Math.min(170, wide * 0.26);
        spec.layer.slice(2, 4).forEach((layer) => ibidem.highlighted(spec, layer, "pair", 0.45, 0.95));
        ibidem.highlighted(spec, spec.layer[5], "pair", 1, 1);
        // Many curves have to be thin.
        if (items.length > 80)
          spec.layer.slice(2, 4).forEach((layer) => {
            layer.encoding.strokeWidth.scale.range = [0.75, 4];
          });
      },
      click: (row) => {
        if (row.pair !== undefined) location.hash = `#pair=${row.pair}`;
        else if (row.document !== undefined) location.hash = `#document=${row.document}`;
      },
      table: () => longTable("Flow as a table", ["from", "to", "characters", "order", "pair"], pairRows(items)),
    };
  }

  function asNetwork(items, summary) {
    const made = ibidem.network(items, summary.has_groups);
    const { within } = made;
    const [node, nodes] = summary.has_groups ? ["outlet or group", "outlets or groups"] : ["document", "documents"];
    const nAlone = made.nNodes - made.nJoined;
    const nMore = made.nJoined - made.nShown;
    const limits = [
      nAlone > 0 &&
        `${many(nAlone, node, nodes)} ${are(nAlone)} not drawn: ${nAlone === 1 ? "it shares" : "they share"} text only within ${nAlone === 1 ? "itself" : "themselves"}.`,
      nMore > 0 && `${many(nMore, node, nodes)}, ${nMore === 1 ? "the one that shares" : "those that share"} least, ${are(nMore)} only in the table.`,
      within.n_pairs > 0 &&
        `${many(within.n_pairs, "pair")} within one group (${number(within.shared)} characters) ${are(within.n_pairs)} not drawn.`,
    ];
    return {
      chart: "network",
      data: made.data,
      limits,
      isEmpty: !made.drawn.length,
      said: [
        `Each point is ${summary.has_groups ? "an outlet or group" : "a document"}; a curve joins two that share text; its width shows how much. `,
        summary.has_times
          ? "Only the view over time shows which came first."
          : "The documents have no dates, so it is not known which came first.",
      ].join(""),
      keysOf: made.edgesOf,
      adapt: (spec, width) => {
        spec.height = made.nShown > 12 ? 560 : 380;
        ibidem.highlighted(spec, spec.layer[0], "edge", 0.45, 0.95);
        spec.layer.slice(2).forEach((labels) => {
          labels.mark.limit = width * 0.19;
        });
      },
      click: (row) => {
        if (row.edge !== undefined) location.hash = edgeAddress(made.drawn[row.edge], summary.has_groups);
      },
      table: () =>
        longTable("Network as a table", ["one", "other", "characters", "pairs", "see"], edgeRows(made, summary.has_groups)),
    };
  }

  async function show(main, { source, summary, options }) {
    let isTimed = summary.has_times && options.as !== "network";
    let chart = null;
    let round = 0;
    const active = ibidem.activeFilters(null);
    const across = summary.has_groups ? ibidem.acrossToggle() : null;
    let lit = "";
    let keysOf = () => [];
    // Highlights curves. It runs at every move of the pointer, so it draws only changes.
    const light = (keys) => {
      if (!chart || lit === keys.join()) return;
      lit = keys.join();
      chart.light(keys);
    };
    const place = h("div", { class: "chart flow" });
    const said = h("p", { class: "lead" });
    const limits = h("div", { class: "limits", role: "status" });
    const table = h("div", null);
    const ways = summary.has_times
      ? h(
          "div",
          { class: "drawing", role: "group", "aria-label": "Kind of chart" },
          [
            ["Over time", true],
            ["As a network", false],
          ].map(([label, way]) =>
            button(
              label,
              () => {
                isTimed = way;
                const kept = { ...ibidem.state.filters, as: way ? null : "network" };
                history.replaceState(null, "", ibidem.address.write("flow", null, kept));
                draw().catch(failed);
              },
              { "aria-pressed": String(way === isTimed), "data-way": String(way) },
            ),
          ),
        )
      : null;
    const failed = (error) => ibidem.showProblem(main, error);

    async function draw() {
      round += 1;
      const mine = round;
      const answer = await source.flow(ibidem.state.filters);
      if (mine !== round) return;
      active.show();
      if (across) across.show();
      if (ways)
        ways
          .querySelectorAll("button")
          .forEach((each) => each.setAttribute("aria-pressed", String(each.dataset.way === String(isTimed))));
      const made = (isTimed ? overTime : asNetwork)(answer.items, summary, place.clientWidth);
      said.textContent = made.said;
      keysOf = made.keysOf;
      const shown =
        answer.items.length < answer.total
          ? `Of ${number(answer.total)} pairs, the ${number(answer.items.length)} that share most are shown.`
          : !made.drawn && `${many(answer.total, "pair")} ${are(answer.total)} shown.`;
      put(limits, h("p", null, [shown, made.drawn, ...made.limits].filter(Boolean).join(" ")));
      put(table, answer.items.length > 0 && made.table());
      if (chart) chart.finalize();
      chart = null;
      place.replaceChildren();
      if (made.isEmpty) {
        put(
          place,
          h(
            "p",
            { class: "nothing" },
            answer.total
              ? "There is nothing to draw; see the table."
              : "No pair matches. Lower a cut-off or remove a filter.",
          ),
        );
        return;
      }
      chart = await ibidem.drawChart(place, made.chart, made.data, {
        adapt: made.adapt,
        click: made.click,
        point: (row) => light(row ? keysOf(row) : []),
      });
      lit = "";
      if (mine !== round && chart) chart.finalize();
    }

    // A row of the table lights its curve.
    const lightRow = (event) => {
      const row = event.target.closest("[data-key]");
      light(row ? keysOf({ [isTimed ? "pair" : "edge"]: Number(row.dataset.key) }) : []);
    };
    table.addEventListener("mouseover", lightRow);
    table.addEventListener("focusin", lightRow);
    table.addEventListener("mouseleave", () => light([]));
    table.addEventListener("focusout", () => light([]));
    const choices = h("div", { class: "ways" }, ways, across && across.element);
    put(main, h("header", { class: "head" }, h("h1", null, "Flow"), said), choices, active.place, limits, place, table);
    const listen = () => draw().catch(failed);
    ibidem.state.listeners.add(listen);
    await draw();
    return () => {
      ibidem.state.listeners.delete(listen);
      if (chart) chart.finalize();
    };
  }

  ibidem.viewer = Object.assign(ibidem.viewer || {}, { flow: { title: "Flow", show } });
})(window.ibidem);
