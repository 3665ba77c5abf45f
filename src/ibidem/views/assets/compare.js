// The comparison of two documents: both texts side by side, passage by passage.
(function (ibidem) {
  "use strict";

  const { h, put, link, button, number, many, percent, badge, name, origin } = ibidem;

  const spanOf = (side, passage) => ({
    number: passage.number, start: passage[`${side}_start`], end: passage[`${side}_end`], changes: passage[`${side}_changes`],
  });

  function describe(passage) {
    const likeness = passage.kind === "exact" ? "exact" : `${passage.kind}, similarity ${ibidem.similarity(passage.similarity)}`;
    const sentences = ibidem.isMissing(passage.n_sentences) ? "" : `, ${many(passage.n_sentences, "sentence")}`;
    return `${likeness}${sentences}, ${number(passage.a_end - passage.a_start)} characters`;
  }

  // Which pairs come before and after this one in the list as it is filtered and sorted now.
  async function neighbours(source, pair) {
    const { listed } = ibidem.state;
    const known = listed && listed.filters === JSON.stringify(ibidem.state.filters) ? listed.pairs.indexOf(pair) : -1;
    if (known >= 0 && (listed.isAll || known + 1 < listed.pairs.length)) {
      return { previous: listed.pairs[known - 1] ?? null, next: listed.pairs[known + 1] ?? null, place: known + 1, total: listed.total };
    }
    let cursor = null;
    let before = [];
    for (let round = 0; round < 3; round += 1) {
      const answer = await source.pairs({ ...ibidem.state.filters, cursor, limit: 500 });
      const listed = [...before, ...answer.items.map((each) => each.pair)];
      const at = listed.indexOf(pair);
      if (at >= 0 && (at + 1 < listed.length || !answer.next)) {
        const place = at + 1 + round * 500 - (round ? before.length : 0);
        return { previous: at ? listed[at - 1] : null, next: listed[at + 1] ?? null, place, total: answer.total };
      }
      if (!answer.next) break;
      before = listed.slice(-2);
      cursor = answer.next;
    }
    return { previous: null, next: null, place: null, total: null };
  }

  function positions(answer, sides) {
    const cells = (side, passage) => `${number(passage[`${side}_start`])} – ${number(passage[`${side}_end`])}`;
    return h("div", { class: "scrolling positions", tabindex: "0", role: "region", "aria-label": "Places of the passages" }, h("table", { class: "small", "aria-label": "Where the passages lie" },
      h("thead", null, h("tr", null, ["passage", "how alike", "left, characters", "right, characters"].map((head) => h("th", { scope: "col" }, head)))),
      h("tbody", null, answer.passages.map((passage) => h("tr", null,
        h("th", { scope: "row" }, badge(passage.number)), h("td", null, describe(passage)),
        h("td", null, cells(sides[0], passage)), h("td", null, cells(sides[1], passage)))))));
  }

  // On paper, aligned passages stand row by row; made only when the page is printed, as it doubles the text.
  function printed(answer, sides) {
    const place = h("div", { class: "print-rows" });
    const words = (side, passage) => {
      const { start, end, changes } = spanOf(side, passage);
      return ibidem.underlined(ibidem.slice(answer[side], start, end), (changes || []).map(([from, to]) => [from - start, to - start]));
    };
    const make = () => {
      if (place.childElementCount) return;
      put(place, h("table", null,
        h("thead", null, h("tr", null, h("th", { scope: "col" }, "No."), sides.map((side) => h("th", { scope: "col" }, name(answer[side]), origin(answer[side]))))),
        h("tbody", null, answer.passages.map((passage) => h("tr", null,
          h("th", { scope: "row" }, badge(passage.number), h("small", null, describe(passage))),
          sides.map((side) => h("td", null, h("div", { lang: "", dir: "auto" }, words(side, passage)), h("small", null,
            `${number(passage[`${side}_start`])}–${number(passage[`${side}_end`])}`))))))));
    };
    const paper = window.matchMedia("print");
    const turned = (event) => { if (event.matches) make(); };
    window.addEventListener("beforeprint", make);
    paper.addEventListener("change", turned);
    return {
      place,
      close() {
        window.removeEventListener("beforeprint", make);
        paper.removeEventListener("change", turned);
      },
    };
  }

  function legend(answer) {
    const hasBoilerplate = [answer.a, answer.b].some((text) => (text.boilerplate || []).length);
    const overlaps = ["a", "b"].some((side) =>
      ibidem.stretches(answer.passages.map((passage) => spanOf(side, passage)), []).some((mark) => mark.others.length));
    const changed = answer.passages.some((passage) => (passage.a_changes || []).length || (passage.b_changes || []).length);
    const parts = [];
    if (changed) parts.push([h("u", null, "Underlined"), " words differ"]);
    if (overlaps) parts.push([h("span", { class: "several hue0" }, "Striped"), " text lies in several passages"]);
    if (hasBoilerplate) parts.push([h("span", { class: "boilerplate" }, "Grey"), " text stands in so many documents that it is not counted"]);
    return h("p", { class: "legend" }, "Choose a passage to see it in both texts.", parts.map((part) => [" ", part, "."]));
  }

  async function show(main, { source, summary, number: pairNumber, options }) {
    const answer = await source.pair(pairNumber);
    const { pair, passages } = answer;
    const isSwapped = options.swap === "1";
    const sides = isSwapped ? ["b", "a"] : ["a", "b"];
    const hasTexts = answer.a.segments.length > 0 || answer.b.segments.length > 0;
    let current = null;
    const detail = h("p", { class: "detail", role: "status" }, `${many(answer.n_passages, "passage")} in all.`);
    const chips = new Map(passages.map((passage) => [passage.number, button(
      [String(passage.number)], () => choose(passage.number),
      { class: `number ${ibidem.hue(passage.number)}`, "aria-label": `passage ${passage.number}: ${describe(passage)}`, title: describe(passage) })]));

    const choose = (passage, from) => {
      const chosen = passages.find((each) => each.number === passage);
      if (!chosen) return;
      if (current !== null && chips.get(current)) chips.get(current).removeAttribute("aria-current");
      current = passage;
      const chip = chips.get(passage);
      chip.setAttribute("aria-current", "true");
      const strip = chip.closest(".chips");
      strip.scrollTop += chip.getBoundingClientRect().top - strip.getBoundingClientRect().top - strip.clientHeight / 2;
      for (const side of panes) {
        side.show(passage);
        if (side !== from) side.scrollTo(passage);
      }
      put(detail, badge(passage), ` of ${number(answer.n_passages)}: ${describe(chosen)}`,
        !ibidem.isMissing(chosen.family) && [" · ", link(`#family=${chosen.family}`, "where else it stands")]);
      history.replaceState(null, "", ibidem.address.write("pair", pairNumber, { swap: isSwapped ? 1 : null, passage }));
    };
    const step = (by) => {
      if (!passages.length) return;
      const at = passages.findIndex((each) => each.number === current);
      const goal = at < 0 ? (by > 0 ? 0 : passages.length - 1) : (at + by + passages.length) % passages.length;
      choose(passages[goal].number);
    };

    const panes = hasTexts ? sides.map((side, at) => {
      const made = ibidem.pane(answer[side], passages.map((passage) => spanOf(side, passage)), {
        label: `${at ? "right" : "left"} text: ${ibidem.named(pair[side])}`,
        changed: side === "a" ? "del" : "ins",
        says: (passage) => `passage ${passage}, go to the other text`,
        chosen: (passage) => choose(passage, made),
        withMap: true,
      });
      return made;
    }) : [];

    const paneHead = (side) => h("header", null,
      h("h2", null, link(`#document=${pair[side].document}`, name(pair[side]))), origin(pair[side]),
      h("p", { class: "coverage" }, ibidem.bar(pair[`coverage_${side}`]), h("span", { class: "quiet-text" }, " in passages",
        ibidem.isMissing(answer[side].n_chars) ? "" : ` of ${number(answer[side].n_chars)} characters`)));
    const order = pair.direction === "unknown" ? (summary.has_times ? "Which of them is earlier is not known." : null)
      : `The ${pair.direction === (isSwapped ? "b_to_a" : "a_to_b") ? "left" : "right"} one is earlier${ibidem.isMissing(pair.days) ? "" : pair.days < 1 ? ", by less than a day" : `, by ${many(Math.round(pair.days), "day")}`}.`;
    const swap = () => { location.replace(ibidem.address.write("pair", pairNumber, { swap: isSwapped ? null : 1, passage: current })); };
    const judging = source.isApp && summary.may_write ? ibidem.verdict(source, pair) : null;
    const paper = printed(answer, sides);
    const walk = h("p", { class: "walk" });

    put(main,
      h("header", { class: "head compare-head" },
        h("div", { class: "above" }, h("p", { class: "crumbs" }, link(ibidem.address.write("pairs", null, ibidem.state.filters), "Pairs"), ` / pair ${pairNumber}`), walk),
        h("h1", null, name(pair[sides[0]]), h("span", null, " and "), name(pair[sides[1]])),
        h("p", { class: "lead" }, `${many(answer.n_passages, "passage")} in common, ${number(pair.shared)} characters: ${percent(pair[`coverage_${sides[0]}`])} of the left, ${percent(pair[`coverage_${sides[1]}`])} of the right. `, order),
        judging && judging.element),
      h("nav", { class: "passages", "aria-label": "Passages" },
        h("div", { class: "stepping" }, h("div", { class: "chips" }, [...chips.values()]),
          h("div", { class: "actions" },
            button("Previous", () => step(-1), { "aria-label": "Previous passage" }), button("Next", () => step(1), { "aria-label": "Next passage" }),
            button("Swap sides", swap), button("Print", () => window.print()))),
        h("div", { class: "stepping" }, detail, hasTexts && legend(answer)),
        passages.length < answer.n_passages && h("p", { class: "legend" }, `The first ${number(passages.length)} of ${number(answer.n_passages)} passages are shown.`)),
      hasTexts
        ? h("div", { class: "panes" }, sides.map((side, at) => h("section", { "aria-label": at ? "right document" : "left document" }, paneHead(side), panes[at].element)))
        : [h("div", { class: "panes without" }, sides.map((side) => h("section", null, paneHead(side)))),
          h("p", { class: "nothing" }, "The texts are not at hand, so only the places of the passages are shown."), positions(answer, sides)],
      paper.place);

    if (options.passage) choose(Number(options.passage));
    const go = (goal) => { if (!ibidem.isMissing(goal)) location.hash = `#pair=${goal}`; };
    let around = { previous: null, next: null };
    neighbours(source, pairNumber).then((found) => {
      around = found;
      put(walk, found.previous !== null && link(`#pair=${found.previous}`, "← previous pair"),
        found.place && h("span", { class: "quiet-text" }, ` ${number(found.place)} of ${number(found.total)} `),
        found.next !== null && link(`#pair=${found.next}`, "next pair →"));
    }).catch(() => {});
    return {
      keys: {
        n: () => step(1), p: () => step(-1), ArrowRight: () => step(1), ArrowLeft: () => step(-1), s: swap,
        j: () => go(around.next), k: () => go(around.previous), ...(judging ? judging.keys : {}),
      },
      close() {
        panes.forEach((side) => side.close());
        paper.close();
      },
    };
  }

  ibidem.views = Object.assign(ibidem.views || {}, { pair: { title: "Comparison", parent: "pairs", show } });
})(window.ibidem);
