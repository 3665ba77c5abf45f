// The case report: one checked text and its sources, to print or to send on. Documents that share nothing with it are not in it.
(function (ibidem) {
  "use strict";

  const { h, many, number, percent } = ibidem;

  function leftOutWords({ leftOut, found }) {
    const parts = [
      leftOut.quotations && "quotations",
      leftOut.below > 0 && `matches below ${many(leftOut.below, "word")}`,
      leftOut.sources.size > 0 && many(leftOut.sources.size, "source"),
    ].filter(Boolean);
    return parts.length ? `${parts.join(", ")} (with them: ${percent(found.before)})` : "nothing";
  }

  function sourceTable(result, counted) {
    return h(
      "table",
      null,
      h("thead", null, h("tr", null, ["Source", "Share of the text", "Characters", "Passages"].map((label) => h("th", { scope: "col" }, label)))),
      h(
        "tbody",
        null,
        counted.map((each) =>
          h(
            "tr",
            null,
            h("td", null, h("bdi", null, result.nameOf(each.at)), !result.isAnonymous && ibidem.origin(each)),
            h("td", null, percent(each.coverage)),
            h("td", null, number(each.n_chars)),
            h("td", null, number(each.n_passages)),
          ),
        ),
      ),
    );
  }

  const wholeText = ({ answer }, covered) =>
    h(
      "div",
      { class: "paper-words", lang: "", dir: "auto" },
      ibidem.marked(
        answer.text,
        covered.map(([start, end]) => ({ start, end })),
        (mark, words) => [h("mark", null, words)],
      ),
    );

  // What a picture or a page of a checked text shows.
  function caseEvidence(result) {
    const { answer, found, isAnonymous } = result;
    const counted = found.sources.filter((each) => each.n_passages && !each.isExcluded);
    const rows = found.passages.map((each, at) => ({
      says: `${number(at + 1)}. ${ibidem.KINDS[each.kind] || each.kind}, ${many(each.nWords, "word")}`,
      cells: [
        {
          text: ibidem.slice(answer.text, each.a_start, each.a_end),
          changes: each.a_changes.map(([start, end]) => [start - each.a_start, end - each.a_start]),
          moves: each.moves.map(([start, end]) => [start - each.a_start, end - each.a_start]),
          place: `${ibidem.placed([each.a_start, each.a_end], answer.text)} of this text`,
        },
        {
          of: result.nameOf(each.source),
          text: each.b_text,
          changes: each.b_changes,
          moves: each.moves.map((move) => move.slice(2)),
          place: `${ibidem.located({ start: each.b_start, end: each.b_end, page: each.b_page })} of the source`,
        },
      ],
    }));
    return {
      isAnonymous,
      title: isAnonymous || !result.name ? "A checked text" : `A checked text: ${result.name}`,
      sides: [],
      rows,
      share: percent(found.share),
      about: counted.length
        ? `of this text also ${found.share === 0 ? "appear" : "appears"} in ${many(counted.length, "source")}.`
        : "of this text is known.",
      bars: counted.map((each) => ({ name: result.nameOf(each.at), share: each.coverage })),
      figures: [
        ["Length", many(answer.text.n_chars, "character")],
        ["SHA-256", h("code", null, answer.text.sha256)],
        ["Left out", leftOutWords({ leftOut: result.leftOut, found: { before: answer.covered_share } })],
      ],
      table: { label: "Sources", element: () => sourceTable(result, counted) },
      text: () => wholeText(result, found.covered),
    };
  }

  Object.assign(ibidem, { caseEvidence });
})(window.ibidem);
