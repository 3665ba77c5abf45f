// Passages of a pair in words, as a table of positions, and row by row for printing.
(function (ibidem) {
  "use strict";

  const { h, put, number, many, badge, name, origin } = ibidem;

  // Where a passage is in the text of one side, "a" or "b".
  const spanOf = (side, passage) => ({
    number: passage.number,
    start: passage[`${side}_start`],
    end: passage[`${side}_end`],
    changes: passage[`${side}_changes`] || [],
  });

  function describe(passage) {
    const likeness = passage.kind === "exact" ? "" : `, similarity ${ibidem.similarity(passage.similarity)}`;
    const sentences = ibidem.isMissing(passage.n_sentences) ? "" : `, ${many(passage.n_sentences, "sentence")}`;
    return `${passage.kind}${likeness}${sentences}, ${many(passage.a_end - passage.a_start, "character")}`;
  }

  function place(side, passage) {
    const { start, end } = spanOf(side, passage);
    return `${number(start)}–${number(end)}`;
  }

  function positions(passages, sides) {
    const heads = ["passage", "how alike", "left, characters", "right, characters"];
    const row = (passage) => [
      h("th", { scope: "row" }, badge(passage.number)),
      h("td", null, describe(passage)),
      sides.map((side) => h("td", null, place(side, passage))),
    ];
    const table = h(
      "table",
      { class: "small", "aria-label": "Positions of the passages" },
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          heads.map((head) => h("th", { scope: "col" }, head)),
        ),
      ),
      h(
        "tbody",
        null,
        passages.map((passage) => h("tr", null, row(passage))),
      ),
    );
    const region = { class: "scrolling positions", tabindex: "0", role: "region", "aria-label": "Positions of the passages" };
    return h("div", region, table);
  }

  // Whether two passages are at the same place in a text; those are not striped.
  function lieTogether(side, passages, one, other) {
    const [first, second] = [one, other].map((wanted) =>
      spanOf(
        side,
        passages.find((each) => each.number === wanted),
      ),
    );
    return first.start === second.start && first.end === second.end;
  }

  function legend(answer) {
    const { passages, a, b } = answer;
    const isStriped = ["a", "b"].some((side) =>
      ibidem
        .stretches(
          passages.map((passage) => spanOf(side, passage)),
          [],
        )
        .some((mark) => mark.others.some((other) => !lieTogether(side, passages, mark.passage, other))),
    );
    const isChanged = passages.some((passage) => ["a", "b"].some((side) => spanOf(side, passage).changes.length));
    const isGrey = [a, b].some((text) => (text.boilerplate || []).length);
    return h(
      "p",
      { class: "legend" },
      "Choose a passage to see it in both texts.",
      isChanged && [" ", h("u", null, "Underlined"), " words differ."],
      isStriped && [" ", h("span", { class: "several hue0" }, "Striped"), " text is in several passages."],
      isGrey && [" ", h("span", { class: "boilerplate" }, "Grey"), " text appears in so many documents that it is not counted."],
    );
  }

  function alignedTable(answer, sides) {
    const words = (side, passage) => {
      const { start, end, changes } = spanOf(side, passage);
      return ibidem.underlined(
        ibidem.slice(answer[side], start, end),
        changes.map(([from, to]) => [from - start, to - start]),
      );
    };
    const cell = (side, passage) =>
      h("td", null, h("div", { lang: "", dir: "auto" }, words(side, passage)), h("small", null, place(side, passage)));
    const row = (passage) => [
      h("th", { scope: "row" }, badge(passage.number), h("small", null, describe(passage))),
      sides.map((side) => cell(side, passage)),
    ];
    const heads = sides.map((side) => h("th", { scope: "col" }, name(answer[side]), origin(answer[side])));
    return h(
      "table",
      null,
      h("thead", null, h("tr", null, h("th", { scope: "col" }, "No."), heads)),
      h(
        "tbody",
        null,
        answer.passages.map((passage) => h("tr", null, row(passage))),
      ),
    );
  }

  // In print, aligned passages are shown row by row; made only for printing, as it doubles the text.
  function printed(answer, sides) {
    const element = h("div", { class: "print-rows" });
    const make = () => {
      if (!element.childElementCount) put(element, alignedTable(answer, sides));
    };
    const paper = window.matchMedia("print");
    const turned = (event) => {
      if (event.matches) make();
    };
    window.addEventListener("beforeprint", make);
    paper.addEventListener("change", turned);
    return {
      element,
      close() {
        window.removeEventListener("beforeprint", make);
        paper.removeEventListener("change", turned);
      },
    };
  }

  Object.assign(ibidem, { passages: { spanOf, describe, positions, legend, printed } });
})(window.ibidem);
