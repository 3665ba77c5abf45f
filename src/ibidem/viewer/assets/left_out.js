// What was left out, and why; and what the figures do not say.
(function (ibidem) {
  "use strict";

  const { h, put, number, many } = ibidem;

  // What is between backticks is code.
  const withCode = (text) => text.split("`").map((part, at) => (at % 2 ? h("code", null, part) : part));

  const CAPS = [
    ["pairs", "pair", "pairs", "the strongest matches"],
    ["documents", "document", "documents", "those in its pairs and families"],
    ["families", "family", "families", "the most widespread ones"],
  ];
  const named = (summary) => CAPS.map((cap) => (cap[0] === "families" && ibidem.isCluster(summary) ? ["families", "cluster", "clusters", "the largest ones"] : cap));

  function caps(summary) {
    const cut = named(summary).filter(
      ([key]) => summary.shown && summary.totals[key] !== undefined && summary.shown[key] < summary.totals[key],
    );
    if (!cut.length) return null;
    return h(
      "section",
      null,
      h("h2", null, "What this report does not include"),
      h(
        "ul",
        null,
        cut.map(([key, one, several, which]) =>
          h("li", null, `${number(summary.shown[key])} of ${many(summary.totals[key], one, several)} ${ibidem.are(summary.shown[key])} included: ${which}.`),
        ),
      ),
    );
  }

  // Missing texts, unless the list below already mentions them.
  function missingTexts(source, summary) {
    const isListed = summary.left_out.some((each) => /text/i.test(each.what));
    const nMissing = source.isApp ? 0 : source.missingTexts();
    if (summary.verb === "index" || isListed || (summary.has_texts && !nMissing)) return null;
    const where = source.isApp ? "here" : "in this report";
    const says = summary.has_texts
      ? `The texts of ${many(nMissing, "document")} are not ${where}; only the positions of their passages are shown.`
      : `The texts of the documents are not ${where}; only the positions of passages are shown.`;
    const why = "They are no longer where the run read them, or have changed since. ";
    const next = "Point to them with --documents, or run the command again.";
    return h("section", null, h("h2", null, "Texts"), h("p", null, says, " ", why, next));
  }

  async function show(main, { source, summary }) {
    const skipped = summary.totals.skipped
      ? ibidem.list({
          label: "Skipped records",
          ask: (asked) => source.skipped(asked),
          source,
          table: "skipped",
          options: {},
          says: (total) => many(total, "record"),
          columns: [
            { label: "Source", class: "wide", cell: (each) => h("code", { class: "path" }, each.source || "–") },
            {
              label: "Position",
              class: "figure",
              cell: (each) => (typeof each.position === "number" ? number(each.position) : each.position || "–"),
            },
            { label: "Id", cell: (each) => each.id || "–" },
            { label: "Reason", class: "wide", cell: (each) => each.reason },
          ],
        })
      : null;
    put(
      main,
      h(
        "header",
        { class: "head" },
        h("h1", null, "What was left out"),
        h(
          "p",
          { class: "lead" },
          "Similarity is not proof of copying. Two texts can agree because both quote a third, because a form prescribes ",
          "the words, or because there is a standard way to put it. An earlier date shows which text is the earliest known, ",
          "not which one was the source.",
        ),
      ),
      missingTexts(source, summary),
      caps(summary),
      h(
        "section",
        null,
        h("h2", null, "What was not compared or not listed"),
        summary.left_out.length
          ? h(
              "table",
              { class: "small", "aria-label": "What was left out" },
              h(
                "thead",
                null,
                h(
                  "tr",
                  null,
                  ["what", "why", "how many"].map((head) =>
                    h("th", { scope: "col", class: head === "how many" ? "figure" : null }, head),
                  ),
                ),
              ),
              h(
                "tbody",
                null,
                summary.left_out.map((each) =>
                  h(
                    "tr",
                    null,
                    h("th", { scope: "row" }, each.what),
                    h("td", null, withCode(each.why)),
                    h("td", { class: "figure" }, ibidem.isMissing(each.count) ? "not counted" : number(each.count)),
                  ),
                ),
              ),
            )
          : h("p", null, summary.verb === "index" ? "An index has no list of what was left out." : "Nothing was left out."),
      ),
      skipped && h("section", null, h("h2", null, "Records that could not be read"), skipped.element),
    );
    if (skipped) await skipped.refresh();
    return skipped && skipped.close;
  }

  ibidem.viewer = Object.assign(ibidem.viewer || {}, { "left-out": { title: "Left out", show } });
})(window.ibidem);
