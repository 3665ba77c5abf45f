// The overview: the front page, the pairs behind it, how alike they are, and the settings of the run.
(function (ibidem) {
  "use strict";

  const { h, put, link, number, many, percent, time } = ibidem;

  function figures(summary) {
    const { totals } = summary;
    const isCluster = ibidem.isCluster(summary);
    const all = [
      ["documents", totals.documents, "#documents"],
      ["sentences", isCluster ? null : totals.sentences],
      ["pairs", totals.pairs, "#pairs"],
      ["passages", isCluster ? null : totals.passages],
      [isCluster ? "clusters" : "families", totals.families, "#families"],
      ["repeat groups", totals.repeats || null, "#families"],
    ].filter(([, count]) => !ibidem.isMissing(count));
    return h(
      "dl",
      { class: "figures" },
      all.map(([label, count, href]) =>
        h("div", null, h("dt", null, href ? link(href, label) : label), h("dd", null, number(count))),
      ),
    );
  }

  const shownSetting = (value) =>
    value === true
      ? "yes"
      : value === false
        ? "no"
        : ibidem.isMissing(value)
          ? "–"
          : typeof value === "object"
            ? JSON.stringify(value)
            : String(value);

  function settingRows(listed) {
    return listed.map((each) =>
      h(
        "tr",
        { class: each.is_default ? null : "changed" },
        h("th", { scope: "row" }, h("code", null, each.name)),
        h("td", null, shownSetting(each.value)),
        h("td", null, each.stage),
      ),
    );
  }

  function settings(summary) {
    const changed = summary.settings.filter((each) => !each.is_default);
    const rest = summary.settings.filter((each) => each.is_default);
    const table = (rows, label) =>
      h(
        "table",
        { class: "small", "aria-label": label },
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            ["setting", "value", "stage"].map((head) => h("th", { scope: "col" }, head)),
          ),
        ),
        h("tbody", null, settingRows(rows)),
      );
    return h(
      "section",
      { class: "settings", "aria-labelledby": "settings-title" },
      h("h2", { id: "settings-title" }, "Settings of the run"),
      changed.length
        ? [h("p", null, `${many(changed.length, "setting")} changed from the default:`), table(changed, "Changed settings")]
        : h("p", null, "Every setting has its default value."),
      rest.length > 0 &&
        h(
          "details",
          null,
          h("summary", null, `${many(rest.length, "setting")} with ${rest.length === 1 ? "its" : "their"} default value`),
          table(rest, "Settings left at their defaults"),
        ),
    );
  }

  function inputs(summary) {
    if (!summary.inputs.length) return null;
    return h(
      "section",
      { "aria-labelledby": "inputs-title" },
      h("h2", { id: "inputs-title" }, "What was read"),
      h(
        "ul",
        { class: "inputs" },
        summary.inputs.map((each) =>
          h(
            "li",
            null,
            h("code", { class: "path" }, each.path || each.kind || "passed in memory"),
            " ",
            h(
              "span",
              { class: "quiet-text" },
              [
                each.is_reference ? "reference" : null,
                each.bytes ? ibidem.bytes(each.bytes) : null,
                each.modified ? `changed ${time(each.modified)}` : null,
              ]
                .filter(Boolean)
                .join(" · "),
            ),
          ),
        ),
      ),
    );
  }

  // Groups that share documents, if the run looked for them: a row for each pair, the closest first.
  function mirrors(summary) {
    if (!summary.mirrors) return null;
    const { total, items } = summary.mirrors;
    const shared = (count, all, share) => `${number(count)} of ${number(all)} (${percent(share)})`;
    const row = (each) =>
      h(
        "tr",
        null,
        h("th", { scope: "row" }, h("bdi", null, each.a_group)),
        h("td", { class: "figure" }, shared(each.a_shared, each.a_documents, each.a_share)),
        h("th", { scope: "row" }, h("bdi", null, each.b_group)),
        h("td", { class: "figure" }, shared(each.b_shared, each.b_documents, each.b_share)),
        h("td", { class: "wide" }, h("bdi", null, each.a_id), " · ", h("bdi", null, each.b_id)),
      );
    const heads = [["group"], ["shared documents", "figure"], ["other group"], ["shared documents", "figure"], ["example"]];
    const list = () =>
      h(
        "table",
        { class: "small", "aria-label": "Groups that share documents" },
        h("thead", null, h("tr", null, heads.map(([head, type]) => h("th", { scope: "col", class: type || null }, head)))),
        h("tbody", null, items.map(row)),
      );
    const cut = total > items.length ? ` The ${number(items.length)} closest:` : "";
    return h(
      "section",
      { class: "mirrors", "aria-labelledby": "mirrors-title" },
      h("h2", { id: "mirrors-title" }, "Groups that share documents"),
      h("p", null, `${many(total, "pair")} of groups ${total === 1 ? "has" : "have"} documents in the same clusters.`, cut),
      total > 0 && list(),
    );
  }

  // What an index contains, if the app was opened on one: the main figures, and the rest under Details.
  async function indexInformation(source, summary) {
    const { settings: set, ...information } = await source.index();
    const count = (name) => information[`n_${name}`] ?? information[name] ?? summary.totals[name];
    const size = information.bytes ?? (summary.inputs[0] || {}).bytes;
    const shown = [
      ["documents", number(count("documents"))],
      ["sentences", number(count("sentences"))],
      ["on disk", ibidem.isMissing(size) ? null : ibidem.bytes(size)],
    ].filter(([, value]) => value !== null);
    const shownKeys = new Set(["documents", "sentences", "n_documents", "n_sentences", "bytes"]);
    const rest = Object.entries(information).filter(
      ([key, value]) => !shownKeys.has(key) && (typeof value !== "object" || value === null),
    );
    const settingsOf = Object.entries(set || Object.fromEntries(summary.settings.map((each) => [each.name, each.value])));
    const facts = (rows) =>
      h(
        "dl",
        { class: "facts" },
        rows.map(([key, value]) => [
          h("dt", null, key.replace(/^(n|is|has)_/, "").replace(/_/g, " ")),
          h("dd", null, typeof value === "number" ? number(value) : shownSetting(value)),
        ]),
      );
    return [
      h(
        "dl",
        { class: "figures" },
        shown.map(([label, value]) => h("div", null, h("dt", null, label), h("dd", null, value))),
      ),
      h(
        "p",
        { class: "lead" },
        settingsOf.some(([key, value]) => key === "texts" && value === false)
          ? "This index stores sentences, not the words of its documents. "
          : "This index also keeps the texts of its documents. ",
        link("#check", "Check a text"),
        " against it",
        information.may_add ? ", and add it if it is new." : ". Nothing can be added: it is read-only.",
      ),
      settingsOf.length > 0 &&
        h("section", { "aria-labelledby": "set-title" }, h("h2", { id: "set-title" }, "Settings of the index"), facts(settingsOf)),
      rest.length > 0 && h("details", null, h("summary", null, "Details"), facts(rest)),
    ];
  }

  const indexMasthead = (summary) =>
    h(
      "header",
      { class: "masthead" },
      h("p", { class: "what" }, "ibidem index · ", h("time", { datetime: summary.made }, time(summary.made))),
      h("h1", null, h("bdi", null, summary.title)),
    );

  const FEW = 8;

  async function show(main, { source, summary, options }) {
    if (summary.verb === "index") {
      put(main, indexMasthead(summary), await indexInformation(source, summary));
      return null;
    }
    const front = ibidem.frontPage(await source.front(), {
      source,
      summary,
      isOpen: options.folded === "1",
      fold: (isOpen) => ibidem.keepInAddress("folded", isOpen ? "1" : null),
    });
    const hasPairs = summary.totals.pairs > 0;
    const cut = hasPairs ? ibidem.cutoffs(source, summary) : null;
    const active = ibidem.activeFilters(null);
    const table = new ibidem.PairTable(source, summary, { isBrief: true, limit: FEW });
    const count = h("p", { class: "remaining", role: "status" });
    const all = h("p", { class: "all" });
    put(
      main,
      front.masthead,
      front.element,
      hasPairs && [
        h("section", { "aria-labelledby": "first-title" }, h("h2", { id: "first-title" }, "Pairs to look at first"), active.place, table.element, all),
        h(
          "section",
          { "aria-labelledby": "distribution-title" },
          h("h2", { id: "distribution-title" }, "How similar the pairs are"),
          h("p", null, "Move a cut-off or click a bar: the lists of pairs and the flow then show only pairs at or above it."),
          cut.element,
          count,
        ),
      ],
      mirrors(summary),
      h("section", { "aria-labelledby": "numbers-title" }, h("h2", { id: "numbers-title" }, "In numbers"), figures(summary)),
      h("div", { class: "columns" }, settings(summary), inputs(summary)),
    );
    const refresh = async () => {
      active.show();
      const answer = await table.refresh();
      if (!answer) return;
      count.textContent = `${ibidem.remaining(answer.total, summary)} ${answer.total === 1 ? "remains" : "remain"}.`;
      put(
        all,
        answer.total > FEW && link(ibidem.address.write("pairs", null, ibidem.state.filters), `All ${number(answer.total)} pairs`),
        answer.total > FEW && " · ",
        link(ibidem.address.write("flow", null, ibidem.state.filters), "How they flow"),
      );
    };
    const listen = () => refresh().catch((error) => ibidem.showProblem(main, error));
    await front.load();
    if (hasPairs) {
      ibidem.state.listeners.add(listen);
      await Promise.all([refresh(), cut.draw()]);
    }
    return () => {
      ibidem.state.listeners.delete(listen);
      front.close();
      table.close();
      if (cut) cut.close();
    };
  }

  ibidem.viewer = Object.assign(ibidem.viewer || {}, { overview: { title: "Overview", show } });
})(window.ibidem);
