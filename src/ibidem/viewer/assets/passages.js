// Stretches of a pair in words, as a table of positions, and row by row for printing.
(function (ibidem) {
  "use strict";

  const { h, put, number, many, name, origin } = ibidem;
  const SIDES = ["left", "right"];

  function describe(stretch) {
    const likeness = stretch.kind === "exact" ? "word for word" : `similarity ${ibidem.similarity(stretch.similarity)}`;
    return `${likeness}, ${many(stretch.left[1] - stretch.left[0], "character")}`;
  }

  const place = ([start, end], text) => {
    const page = ibidem.pageOf(text, start);
    return `${page ? `p. ${number(page)}: ` : ""}${number(start)}–${number(end)}`;
  };

  function positions(stretches, texts) {
    const heads = ["passage", "how alike", "left, characters", "right, characters"];
    const row = (stretch) => [
      h("th", { scope: "row" }, String(stretch.number)),
      h("td", null, describe(stretch)),
      SIDES.map((side, at) => h("td", null, place(stretch[side], texts[at]))),
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
        stretches.map((stretch) => h("tr", null, row(stretch))),
      ),
    );
    const region = { class: "scrolling positions", tabindex: "0", role: "region", "aria-label": "Positions of the passages" };
    return h("div", region, table);
  }

  // The table of positions, folded; made when it is first opened, as it can be long.
  function foldedPositions(stretches, texts) {
    const element = h("details", { class: "as-table" }, h("summary", null, "Positions"));
    element.addEventListener("toggle", () => element.append(positions(stretches, texts)), { once: true });
    return element;
  }

  function alignedTable(texts, stretches, ways) {
    const words = (stretch, at) => {
      const [start, end] = stretch[SIDES[at]];
      const changes = stretch.edits.map((edit) => [edit[2 * at] - start, edit[2 * at + 1] - start]);
      const moves = stretch.moves.map((part) => part[SIDES[at]].map((place_) => place_ - start));
      return ibidem.underlined(ibidem.slice(texts[at], start, end), changes, ways[at] === "removed" ? "del" : "ins", moves);
    };
    const cell = (stretch, at) =>
      h("td", null, h("div", { lang: "", dir: "auto" }, words(stretch, at)), h("small", null, place(stretch[SIDES[at]], texts[at])));
    const row = (stretch) => [
      h("th", { scope: "row" }, String(stretch.number), h("small", null, describe(stretch))),
      SIDES.map((_, at) => cell(stretch, at)),
    ];
    return h(
      "table",
      null,
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          h("th", { scope: "col" }, "No."),
          texts.map((text) => h("th", { scope: "col" }, name(text), origin(text))),
        ),
      ),
      h(
        "tbody",
        null,
        stretches.map((stretch) => h("tr", null, row(stretch))),
      ),
    );
  }

  // In print, stretches are shown row by row; made only for printing, as it doubles the text.
  function printed({ texts, stretches, ways }) {
    const element = h("div", { class: "print-rows" });
    const make = () => {
      if (!element.childElementCount) put(element, alignedTable(texts, stretches, ways));
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

  Object.assign(ibidem, { passages: { describe, positions, foldedPositions, printed } });
})(window.ibidem);
