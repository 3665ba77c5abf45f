// Documents: the list, and one document shaded by how many others contain each sentence.
(function (ibidem) {
  "use strict";

  const { h, put, link, number, many, percent, name, origin, bar } = ibidem;
  // The lowest count of each step of the scale.
  const STEPS = [1, 2, 3, 5, 10, 20];

  const stepOf = (count) => STEPS.filter((least) => count >= least).length - 1;
  const stepName = (at) => {
    const last = STEPS[at + 1] ? STEPS[at + 1] - 1 : null;
    return last === null ? `${STEPS[at]} or more` : last === STEPS[at] ? String(last) : `${STEPS[at]}–${last}`;
  };

  const COLUMNS = [
    {
      label: "Document",
      sort: "id",
      first: "asc",
      class: "wide",
      cell: (one) =>
        h(
          "a",
          { href: `#document=${one.document}`, class: "side" },
          name(one),
          origin(one),
          one.is_reference && h("span", { class: "tag" }, "reference"),
        ),
    },
    { label: "Reused", sort: "reused_share", class: "coverage", cell: (one) => bar(one.reused_share) },
    { label: "Earliest known", class: "figure", key: "first", cell: (one) => percent(one.first_share) },
    { label: "Pairs", sort: "n_pairs", class: "figure", cell: (one) => number(one.n_pairs) },
    { label: "Characters", sort: "n_chars", class: "figure", cell: (one) => number(one.n_chars) },
    {
      label: "Time",
      sort: "time",
      first: "asc",
      class: "when",
      key: "time",
      cell: (one) => (one.time ? ibidem.time(one.time) : "–"),
    },
  ];

  async function showAll(main, { source, summary, options }) {
    const all = summary.totals.documents;
    const here = summary.shown ? summary.shown.documents : all;
    const listed = ibidem.list({
      label: "Documents",
      source,
      table: "documents",
      none: "There are no documents.",
      ask: (asked) => source.documents(asked),
      view: "documents",
      searchLabel: "Search by name, id or group",
      columns: COLUMNS.filter((column) => (column.key !== "time" && column.key !== "first") || summary.has_times),
      options: { search: options.search, group: options.group, sort: options.sort || "reused_share", order: options.order },
      says: (total) => ibidem.ofEmbedded(many(total, "document"), here, all, "read"),
    });
    put(
      main,
      h(
        "header",
        { class: "head" },
        h("h1", null, "Documents"),
        h(
          "p",
          { class: "lead" },
          "Reused is the share of a document that also appears in another one.",
          summary.has_times && " Earliest known is the share that also appears in later documents, and in no earlier one; documents with the same date do not count.",
        ),
      ),
      listed.element,
    );
    await listed.refresh();
    return listed.close;
  }

  function shaded(text, shades) {
    let before = null;
    return ibidem.marked(text, shades, (mark, words) => {
      const says = `appears in ${many(mark.n_documents, "other document")}`;
      // Adjacent sentences, with at most one space between them, show the same number only once.
      const isNew = !before || before.end + 2 < mark.start || before.n_documents !== mark.n_documents;
      before = mark;
      const count = isNew && h("span", { class: "held" }, String(mark.n_documents), ibidem.hidden(` (${says}) `));
      return [h("mark", { class: `shade shade${stepOf(mark.n_documents)}`, title: says }, count, words)];
    });
  }

  function related(label, about, items, self) {
    if (!items.length) return null;
    return h(
      "section",
      { class: "related" },
      h("h2", null, label),
      h("p", { class: "about" }, about),
      h(
        "ul",
        null,
        items.map((pair) => {
          const isA = pair.a.document === self;
          const other = isA ? pair.b : pair.a;
          const [ofThis, ofOther] = isA ? [pair.coverage_a, pair.coverage_b] : [pair.coverage_b, pair.coverage_a];
          return h(
            "li",
            null,
            h("div", null, link(`#document=${other.document}`, name(other)), origin(other)),
            h(
              "p",
              { class: "shares" },
              link(`#pair=${pair.pair}`, many(pair.shared, "character")),
              ` · ${percent(ofThis)} of this, ${percent(ofOther)} of the other · ${pair.kind}`,
            ),
          );
        }),
      ),
    );
  }

  function togetherWith(nPairs, isCluster) {
    if (isCluster) return nPairs ? `It is similar to ${many(nPairs, "document")}.` : "No other document is similar to it.";
    return nPairs ? `It shares passages with ${many(nPairs, "document")}.` : "It shares no passage with another document.";
  }

  async function showOne(main, { source, summary, number: documentNumber }) {
    const { document: one, text, shades, pairs, n_pairs: nPairs } = await source.document(documentNumber);
    const isLater = (pair) =>
      (pair.direction === "a_to_b" && pair.b.document === documentNumber) ||
      (pair.direction === "b_to_a" && pair.a.document === documentNumber);
    const sources = pairs.filter(isLater);
    const unordered = pairs.filter((pair) => pair.direction === "unknown");
    const fed = pairs.filter((pair) => pair.direction !== "unknown" && !isLater(pair));
    const used = [...new Set(shades.map((shade) => stepOf(shade.n_documents)))].sort((a, b) => a - b);
    const known = ibidem.isMissing(one.reused_share)
      ? ""
      : `${percent(one.reused_share)} of its ${many(one.n_chars, "character")} also ${one.n_chars === 1 ? "appears" : "appear"} in other documents. `;
    put(
      main,
      h(
        "header",
        { class: "head" },
        h("p", { class: "crumbs" }, link("#documents", "Documents"), ` / document ${documentNumber}`),
        h("h1", null, name(one)),
        origin(one),
        h(
          "p",
          { class: "lead" },
          known,
          togetherWith(nPairs, ibidem.isCluster(summary)),
        ),
      ),
      h(
        "div",
        { class: "document" },
        h(
          "div",
          null,
          used.length > 0 &&
            h(
              "div",
              { class: "scale" },
              h("span", null, "Number of other documents with this text: "),
              used.map((at) => h("span", { class: `shade shade${at}` }, stepName(at))),
            ),
          text.segments.length
            ? h(
                "div",
                {
                  class: "text one-text",
                  tabindex: "0",
                  role: "region",
                  "aria-label": "Text of the document",
                  lang: "",
                  dir: "auto",
                },
                shaded(text, shades),
              )
            : h("p", { class: "nothing" }, "The text is not available."),
        ),
        h(
          "aside",
          { "aria-label": "Documents that share text with it" },
          related("Also in earlier documents", "They are dated before this one.", sources, documentNumber),
          related("Also in later documents", "They are dated after this one.", fed, documentNumber),
          related(
            summary.has_times ? "Also in documents of unknown order" : "Also in",
            summary.has_times ? "Dates are missing or equal." : "Most shared text first.",
            unordered,
            documentNumber,
          ),
          nPairs > 0 &&
            h(
              "p",
              null,
              link(
                ibidem.address.write("pairs", null, { document: documentNumber }),
                nPairs > pairs.length
                  ? `All ${number(nPairs)} pairs of this document (${number(pairs.length)} are listed here)`
                  : "Its pairs as a table",
              ),
            ),
        ),
      ),
    );
    return null;
  }

  ibidem.viewer = Object.assign(ibidem.viewer || {}, {
    documents: { title: "Documents", show: showAll },
    document: { title: "Document", parent: "documents", show: showOne },
  });
})(window.ibidem);
