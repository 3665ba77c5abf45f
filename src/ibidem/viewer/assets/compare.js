// The comparison of two documents: both texts side by side, passage by passage.
(function (ibidem) {
  "use strict";

  const { h, put, link, button, number, many, percent, badge, name, origin, isMissing } = ibidem;

  class Comparison {
    constructor(answer, { source, summary, options }) {
      Object.assign(this, { answer, source, summary });
      this.pair = answer.pair;
      this.isSwapped = options.swap === "1";
      this.sides = this.isSwapped ? ["b", "a"] : ["a", "b"];
      this.hasTexts = answer.a.segments.length > 0 || answer.b.segments.length > 0;
      this.current = null;
      this.around = { previous: null, next: null };
      this.detail = h(
        "p",
        { class: "detail", role: "status" },
        answer.n_passages ? `${many(answer.n_passages, "passage")} in total.` : "",
      );
      this.chips = new Map(answer.passages.map((passage) => [passage.number, this.chip(passage)]));
      this.panes = this.hasTexts ? this.sides.map((side, at) => this.pane(side, at)) : [];
      this.judging = source.isApp && summary.may_write ? ibidem.verdict(source, this.pair) : null;
      this.paper = ibidem.passages.printed(answer, this.sides);
      this.walk = h("p", { class: "walk" });
      this.inCommon = ibidem.isCluster(summary) ? "in common" : "in shared passages";
    }

    chip(passage) {
      const says = ibidem.passages.describe(passage);
      return button(String(passage.number), () => this.choose(passage.number), {
        class: `number ${ibidem.hue(passage.number)}`,
        "aria-label": `passage ${passage.number}: ${says}`,
        title: says,
      });
    }

    pane(side, at) {
      const spans = this.answer.passages.map((passage) => ibidem.passages.spanOf(side, passage));
      const made = ibidem.pane(this.answer[side], spans, {
        label: `${at ? "right" : "left"} text: ${ibidem.named(this.pair[side])}`,
        changed: side === "a" ? "del" : "ins",
        says: (passage) => `passage ${passage}, go to the other text`,
        chosen: (passage) => this.choose(passage, made),
        withMap: true,
      });
      return made;
    }

    address(options) {
      return ibidem.address.write("pair", this.pair.pair, options);
    }

    // Marks a passage on both sides; the side it was chosen on stays where it is.
    choose(passage, from) {
      const chosen = this.answer.passages.find((each) => each.number === passage);
      if (!chosen) return;
      if (this.current !== null) this.chips.get(this.current).removeAttribute("aria-current");
      this.current = passage;
      const chip = this.chips.get(passage);
      chip.setAttribute("aria-current", "true");
      const strip = chip.closest(".chips");
      strip.scrollTop += chip.getBoundingClientRect().top - strip.getBoundingClientRect().top - strip.clientHeight / 2;
      for (const pane of this.panes) {
        pane.show(passage);
        if (pane !== from) pane.scrollTo(passage);
      }
      put(
        this.detail,
        badge(passage),
        ` of ${number(this.answer.n_passages)}: ${ibidem.passages.describe(chosen)}`,
        !isMissing(chosen.family) &&
          this.source.holds("family", chosen.family) && [" · ", link(`#family=${chosen.family}`, "other places")],
      );
      history.replaceState(null, "", this.address({ swap: this.isSwapped ? 1 : null, passage }));
    }

    step(by) {
      const { passages } = this.answer;
      if (!passages.length) return;
      const at = passages.findIndex((each) => each.number === this.current);
      const goal = at < 0 ? (by > 0 ? 0 : passages.length - 1) : (at + by + passages.length) % passages.length;
      this.choose(passages[goal].number);
    }

    swap() {
      location.replace(this.address({ swap: this.isSwapped ? null : 1, passage: this.current }));
    }

    go(pair) {
      if (!isMissing(pair)) location.hash = `#pair=${pair}`;
    }

    // Which document is earlier, if known.
    order() {
      const { direction, days } = this.pair;
      if (direction === "unknown") return this.summary.has_times ? "It is not known which is earlier." : "";
      const earlier = direction === (this.isSwapped ? "b_to_a" : "a_to_b") ? "left" : "right";
      const by = isMissing(days) ? "" : `, by ${ibidem.apart(days)}`;
      return `The ${earlier} document is earlier${by}.`;
    }

    head() {
      const { pair, sides, answer } = this;
      const shares = ["left", "right"]
        .map((where, at) => [where, pair[`coverage_${sides[at]}`]])
        .filter(([, share]) => !isMissing(share))
        .map(([where, share]) => `${percent(share)} of the ${where}`);
      const list = link(ibidem.address.write("pairs", null, ibidem.state.filters), "Pairs");
      const shared = ibidem.isCluster(this.summary)
        ? `Similarity ${ibidem.similarity(pair.similarity)}${pair.shared ? `, about ${number(pair.shared)} characters in common` : ""}`
        : `${many(answer.n_passages, "passage")} in common, ${number(pair.shared)} characters`;
      return h(
        "header",
        { class: "head compare-head" },
        h("div", { class: "above" }, h("p", { class: "crumbs" }, list, ` / pair ${pair.pair}`), this.walk),
        h("h1", null, name(pair[sides[0]]), h("span", null, " and "), name(pair[sides[1]])),
        h("p", { class: "lead" }, `${shared}${shares.length ? ": " : ""}${shares.join(", ")}. ${this.order()}`),
        this.judging && this.judging.element,
        !this.judging &&
          pair.verdict &&
          h(
            "p",
            null,
            "Verdict: ",
            h("span", { class: `verdict ${pair.verdict}` }, pair.verdict),
            pair.note && [", ", h("bdi", null, pair.note)],
          ),
      );
    }

    stepping() {
      const { passages, n_passages: nAll } = this.answer;
      const actions = [
        button("Previous", () => this.step(-1), { "aria-label": "Previous passage" }),
        button("Next", () => this.step(1), { "aria-label": "Next passage" }),
        button("Swap sides", () => this.swap()),
        button("Print", () => window.print()),
      ];
      return h(
        "nav",
        { class: "passages", "aria-label": "Passages" },
        h(
          "div",
          { class: "stepping" },
          h("div", { class: "chips" }, [...this.chips.values()]),
          h("div", { class: "actions" }, actions),
        ),
        h("div", { class: "stepping" }, this.detail, this.hasTexts && ibidem.passages.legend(this.answer)),
        passages.length < nAll &&
          h("p", { class: "legend" }, `The first ${number(passages.length)} of ${number(nAll)} passages are shown.`),
      );
    }

    paneHead(side) {
      const { n_chars: nChars } = this.answer[side];
      const bar = ibidem.bar(this.pair[`coverage_${side}`]);
      const of = isMissing(nChars) ? "" : ` of ${number(nChars)} characters are`;
      return h(
        "header",
        null,
        h("h2", null, link(`#document=${this.pair[side].document}`, name(this.pair[side]))),
        origin(this.pair[side]),
        !isMissing(this.pair[`coverage_${side}`]) &&
          h("p", { class: "coverage" }, bar, h("span", { class: "quiet-text" }, `${of} ${this.inCommon}`)),
      );
    }

    texts() {
      const section = (side, at) =>
        h(
          "section",
          { "aria-label": at ? "right document" : "left document" },
          this.paneHead(side),
          this.hasTexts && this.panes[at].element,
        );
      const panes = h("div", { class: "panes" }, this.sides.map(section));
      const missing = this.sides.filter((side) => !this.answer[side].segments.length);
      if (!missing.length) return panes;
      const where = this.source.isApp ? "here" : "in this report";
      const which = missing.length === 2 ? "The texts are" : `The ${missing[0] === this.sides[0] ? "left" : "right"} text is`;
      const { passages } = this.answer;
      const places = `the positions of the passages are ${passages.length ? "in the table" : "not known"}`;
      const why = `${which} not ${where}; ${places}. `;
      return [
        h("p", { class: "notice" }, why, link("#left-out", "What was left out, and why"), "."),
        panes,
        passages.length > 0 && ibidem.passages.positions(passages, this.sides),
      ];
    }

    async showNeighbours() {
      const { previous, next, place, total } = await ibidem.neighbours(this.source, this.pair.pair);
      this.around = { previous, next };
      put(
        this.walk,
        previous !== null && link(`#pair=${previous}`, "← previous pair"),
        place !== null && h("span", { class: "quiet-text" }, ` ${number(place)} of ${number(total)} `),
        next !== null && link(`#pair=${next}`, "next pair →"),
      );
    }

    keys() {
      const forward = () => this.step(1);
      const back = () => this.step(-1);
      return {
        n: forward,
        p: back,
        ArrowRight: forward,
        ArrowLeft: back,
        s: () => this.swap(),
        j: () => this.go(this.around.next),
        k: () => this.go(this.around.previous),
        ...(this.judging ? this.judging.keys : {}),
      };
    }

    close() {
      this.panes.forEach((pane) => pane.close());
      this.paper.close();
    }
  }

  async function show(main, context) {
    const made = new Comparison(await context.source.pair(context.number), context);
    put(main, made.head(), made.stepping(), made.texts(), made.paper.element);
    if (context.options.passage) made.choose(Number(context.options.passage));
    // A convenience: the comparison works without them.
    made.showNeighbours().catch(() => {});
    return { keys: made.keys(), close: () => made.close() };
  }

  ibidem.viewer = Object.assign(ibidem.viewer || {}, { pair: { title: "Comparison", parent: "pairs", show } });
})(window.ibidem);
