// The comparison of two documents: a sentence that says what happened, and both texts to read.
(function (ibidem) {
  "use strict";

  const { h, put, link, button, number, many, name, origin, isMissing } = ibidem;

  const momentOf = (side) => (side.time ? new Date(side.time).getTime() : Number.NaN);

  class Comparison {
    constructor(answer, { source, summary, options }) {
      Object.assign(this, { answer, source, summary });
      this.pair = answer.pair;
      this.isSwapped = options.swap === "1";
      const [timeA, timeB] = [momentOf(this.pair.a), momentOf(this.pair.b)];
      // Equal times say nothing about who was first.
      const first = timeA < timeB ? "a" : timeB < timeA ? "b" : null;
      // What the other is compared with: the reference (b) if there is one, whenever that was; otherwise the earlier text.
      const base = summary.is_against ? "b" : first;
      const isTurned = (base === "b") !== this.isSwapped;
      this.sides = isTurned ? ["b", "a"] : ["a", "b"];
      const placeOf = (side) => (side === null ? null : side === this.sides[0] ? "left" : "right");
      [this.earlier, this.base] = [placeOf(first), placeOf(base)];
      this.hasTexts = answer.a.segments.length > 0 || answer.b.segments.length > 0;
      this.around = { previous: null, next: null };
      const [left, right] = this.sides.map((side) => ({ ...this.pair[side], ...answer[side] }));
      const shares = this.sides.map((side) => this.pair[`coverage_${side}`]);
      this.reading = ibidem.reading({
        kind: "pair",
        left,
        right,
        stretches: answer.stretches || [],
        isTurned,
        base: this.base,
        shares,
        pair: this.pair,
        title: () => this.title.textContent,
        address: (stretch) => this.address(stretch),
        heads: this.sides.map((side) => this.columnHead(side)),
        chosen: (stretch) => history.replaceState(null, "", this.address(stretch)),
        details: (stretch) =>
          !isMissing(stretch.family) &&
          source.holds("family", stretch.family) && [" · ", link(`#family=${stretch.family}`, "other places")],
      });
      const { stretches } = this.reading;
      const { similarity, days } = this.pair;
      this.title = h("h1", null, ibidem.headline({ left, right, earlier: this.earlier, base: this.base, days, shares, stretches, similarity }));
      this.judging = source.isApp && summary.may_write ? ibidem.verdict(source, this.pair) : null;
      this.paper = ibidem.passages.printed(this.reading);
      this.walk = h("p", { class: "walk" });
    }

    address(stretch) {
      const passage = stretch ? stretch.passages[0] : null;
      return ibidem.address.write("pair", this.pair.pair, { swap: this.isSwapped ? 1 : null, passage });
    }

    swap() {
      const { current } = this.reading;
      const passage = current ? current.passages[0] : null;
      location.replace(ibidem.address.write("pair", this.pair.pair, { swap: this.isSwapped ? null : 1, passage }));
    }

    go(pair) {
      if (!isMissing(pair)) location.hash = `#pair=${pair}`;
    }

    // What the sentence leaves open.
    facts() {
      const { pair, answer } = this;
      const { stretches } = this.reading;
      const { covered } = ibidem.alignment;
      const nShared = Math.min(covered(stretches, "left"), covered(stretches, "right"));
      const shared = ibidem.isCluster(this.summary)
        ? `Similarity ${ibidem.similarity(pair.similarity)}${stretches.length ? `, ${many(nShared, "character")} in common` : ""}`
        : `${many(answer.n_passages, "passage")}, ${many(nShared, "character")} in common`;
      const order = this.summary.has_times && !this.earlier ? "It is not known which is earlier." : "";
      const shown = answer.passages.length;
      const rest = shown < answer.n_passages ? `The first ${number(shown)} of ${number(answer.n_passages)} passages are marked.` : "";
      const kinds = ibidem.alignment.tellingKinds(stretches).map(([kind, count]) => many(count, kind));
      const changed = kinds.length ? `Among the changes: ${kinds.join(", ")}.` : "";
      return [`${shared}.`, changed, order, rest].filter(Boolean).join(" ");
    }

    head() {
      const { pair } = this;
      const list = link(ibidem.address.write("pairs", null, ibidem.state.filters), "Pairs");
      return h(
        "header",
        { class: "head compare-head" },
        h("div", { class: "above" }, h("p", { class: "crumbs" }, list, ` / pair ${pair.pair}`), this.walk),
        this.title,
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

    columnHead(side) {
      const here = this.sides.indexOf(side) === 0 ? "left" : "right";
      const isFirst = this.earlier === here;
      const { days } = this.pair;
      const after = this.earlier && !isFirst && !isMissing(days) ? `${ibidem.apart(days)} later` : isFirst ? "first" : null;
      return h(
        "header",
        null,
        h("h2", null, link(`#document=${this.pair[side].document}`, name(this.pair[side]))),
        origin(this.pair[side]),
        this.summary.is_against && side === "b" && h("span", { class: "tag" }, "reference"),
        after && h("span", { class: "tag" }, after),
      );
    }

    // What is said below the texts.
    foot() {
      const { stretches } = this.reading;
      const missing = this.sides.filter((side) => !this.answer[side].segments.length);
      const where = this.source.isApp ? "here" : "in this report";
      const which = missing.length === 2 ? "The texts are" : `The ${missing[0] === this.sides[0] ? "left" : "right"} text is`;
      const places = `the positions of the passages are ${stretches.length ? "in the table" : "not known"}`;
      const { positions, foldedPositions } = ibidem.passages;
      return [
        missing.length > 0 &&
          h("p", { class: "notice" }, `${which} not ${where}; ${places}. `, link("#left-out", "What was left out, and why"), "."),
        h(
          "div",
          { class: "actions below" },
          h("p", { class: "lead" }, this.facts()),
          button("Swap sides", () => this.swap()),
          button("Print", () => window.print()),
        ),
        stretches.length > 0 && (missing.length ? positions : foldedPositions)(stretches, this.reading.texts),
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
      return {
        ...this.reading.keys,
        s: () => this.swap(),
        j: () => this.go(this.around.next),
        k: () => this.go(this.around.previous),
        ...(this.judging ? this.judging.keys : {}),
      };
    }

    close() {
      this.reading.close();
      this.paper.close();
    }
  }

  async function show(main, context) {
    const made = new Comparison(await context.source.pair(context.number), context);
    put(main, made.head(), made.reading.element, made.foot(), made.paper.element);
    made.reading.open(Number(context.options.passage) || null);
    // A convenience: the comparison works without them.
    made.showNeighbours().catch(() => {});
    return { keys: made.keys(), close: () => made.close() };
  }

  ibidem.viewer = Object.assign(ibidem.viewer || {}, { pair: { title: "Comparison", parent: "pairs", show } });
})(window.ibidem);
