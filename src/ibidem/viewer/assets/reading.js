// Reading two texts: columns joined by ribbons that scroll together, a dot plot beside them, and on a phone one column with the
// differences inline. The report, the app, Check a text and the page of two texts all read with this.
(function (ibidem) {
  "use strict";

  const { h, button, number, percent, isMissing } = ibidem;
  const SIDES = ["left", "right"];
  // Where in a column the reader looks: the chosen passage begins there, and there the columns agree.
  const FOCUS = 0.2;
  const NARROW = "screen and (max-width: 52rem)";

  class Reading {
    // `left`, `right`: texts; `stretches`: as the API gives them, `isTurned` if b is on the left; `base`: "left", "right" or
    // null: the text that the other is compared with, which is the earlier one or the reference; `shares`: of both texts; `kind`, `title()`, `address(stretch)`, `pair`: see actions.js; `heads`: what
    // is above each column; `chosen(stretch)`: called when one is chosen; `details(stretch)`: more about it;
    // `hasDots`: whether there is a dot plot; `single`: "left" if that is the text to read where there is room for one only.
    constructor(given) {
      this.given = given;
      this.texts = [given.left, given.right];
      this.stretches = ibidem.alignment.aligned(given.stretches, given.isTurned);
      this.parts = this.stretches.flatMap((stretch) => stretch.parts);
      this.joined = this.parts.filter(ibidem.alignment.isJoined);
      this.ways = SIDES.map((side) => (given.base ? (given.base === side ? "removed" : "added") : `only-${side}`));
      this.current = null;
      this.expected = [null, null];
      this.isNarrow = window.matchMedia(NARROW);
      this.detail = h("span", { class: "detail", role: "status" });
      this.columns = SIDES.map((side, at) => this.column(side, at, false));
      this.ribbons = ibidem.ribbons(
        this.columns,
        this.joined,
        (part) => this.choose(part.stretch, null, part.isMoved ? part : null),
      );
      this.dots = this.parts.length && given.hasDots !== false
        ? ibidem.dotplot(this.texts, this.joined, { choose: (stretch) => this.choose(stretch), go: (...places) => this.go(places) })
        : null;
      this.single = h("section", { class: "single", "aria-label": "both texts in one column" });
      this.element = this.build();
    }

    column(side, at, isInline) {
      return ibidem.column(this.texts[at], this.stretches, side, {
        label: isInline ? `${side} text, with the differences` : `${side} text: ${ibidem.named(this.texts[at])}`,
        way: this.ways[at],
        other: this.texts[1 - at],
        otherWay: this.ways[1 - at],
        choose: (stretch, from, part) => this.choose(stretch, from, part),
        laidOut: () => this.settle(true),
        isInline,
      });
    }

    build() {
      const { heads } = this.given;
      const section = (side, at) =>
        h("section", { "aria-label": `${side} document` }, heads && heads[at], this.columns[at].element);
      this.panes = h("div", { class: "panes" }, SIDES.map(section), this.ribbons.element);
      return h(
        "div",
        { class: this.stretches.length > 1 ? "reading several" : "reading" },
        this.bar(),
        h("div", { class: this.dots ? "reading-body" : "reading-body wide" }, this.panes, this.single, this.dots && this.dots.element),
      );
    }

    // Shares, legend, stepping and actions.
    bar() {
      const { shares } = this.given;
      const known = (shares || []).filter((share) => !isMissing(share));
      const isChanged = this.stretches.some((stretch) => stretch.edits.length);
      const isEdited = this.parts.some((part) => part.look === "edited");
      const isGrey = this.texts.some((text) => (text.boilerplate || []).length);
      const isIgnored = this.texts.some((text) => (text.ignored || []).length);
      const word = (tag, way, label) => h("li", null, h(tag, { class: way }, label));
      const legend = h(
        "ul",
        { class: "meanings", "aria-label": "Legend" },
        this.parts.some((part) => part.look === "same") && word("mark", "same", "same"),
        isEdited && word("mark", "edited", "edited"),
        this.parts.some((part) => part.isMoved) &&
          h("li", { title: "the same words, elsewhere in the other text" }, h("mark", { class: "same moved" }, "moved")),
        isChanged && this.ways.map((way) => h("li", null, ibidem.changedWords(way, way.replace("-", " "), null))),
        word("span", "own", "own words"),
        isGrey && h("li", { title: "in so many documents that it is not counted" }, h("span", { class: "boilerplate" }, "not counted")),
        isIgnored && h("li", { title: "the run left this text out of the comparison" }, h("span", { class: "boilerplate" }, "ignored")),
      );
      this.context = this.contextOf();
      return h(
        "div",
        { class: "reading-bar" },
        known.length > 0 &&
          h(
            "p",
            { class: "of-each" },
            h("strong", null, known.map(percent).join(" / ")),
            known.length === 2 ? " of each text" : " of this text",
          ),
        this.stretches.length > 0 && legend,
        this.stretches.length > 0 && this.stepping(),
        ibidem.actions.bar(this.context),
      );
    }

    contextOf() {
      const { kind, left, right, shares, title, address, pair } = this.given;
      return {
        kind,
        left,
        right,
        shares: shares || [null, null],
        title,
        address: () => new URL(address ? address(this.current) : location.hash, location.href).href,
        stretches: this.stretches,
        current: () => this.current,
        words: (side, stretch) => ibidem.slice(this.texts[SIDES.indexOf(side)], ...stretch[side]),
        pair: pair || null,
        family: null,
        get element() {
          return document.querySelector(".reading");
        },
      };
    }

    stepping() {
      if (this.stretches.length < 2) return h("div", { class: "stepping" }, this.detail);
      return h(
        "div",
        { class: "stepping", role: "group", "aria-label": "Passages" },
        button("‹", () => this.step(-1), { "aria-label": "Previous passage", title: "previous passage (p, ←)" }),
        this.detail,
        button("›", () => this.step(1), { "aria-label": "Next passage", title: "next passage (n, →)" }),
      );
    }

    // To be called once the element is in the page: opens at a passage, by its number in the table, or at the largest one.
    open(passage) {
      const wanted = this.stretches.find((stretch) => (stretch.passages || []).includes(passage));
      this.measure();
      const isShown = (stretch) => this.columns.every((column) => stretch.parts.some((part) => column.places(part)));
      const shown = this.stretches.filter(isShown); // of a long text, some may be left out
      this.choose(wanted || ibidem.alignment.largest(shown.length ? shown : this.stretches), null, null, !wanted);
      this.columns.forEach((column, at) => column.element.addEventListener("scroll", () => this.scrolled(at), { passive: true }));
      const mine = () => {
        this.goal = null;
      };
      ["wheel", "touchmove", "pointerdown", "keydown"].forEach((event) => this.element.addEventListener(event, mine, { passive: true }));
      this.watcher = new ResizeObserver(() => this.again());
      this.watcher.observe(this.panes);
      this.turned = () => this.again();
      this.isNarrow.addEventListener("change", this.turned);
      return this;
    }

    again() {
      if (this.panes.offsetWidth + this.panes.offsetHeight === this.size) return;
      this.measure();
      this.follow();
      this.show(null);
    }

    // Measures where everything is, and which place of one column belongs to which of the other.
    measure() {
      this.size = this.panes.offsetWidth + this.panes.offsetHeight;
      if (this.isNarrow.matches) this.makeSingle();
      this.shownColumns.forEach(({ blocks }) => blocks && blocks.fit());
      if (this.isNarrow.matches) return;
      this.ribbons.measure();
      this.items = this.ribbons.ties
        .map((tie) => ({ left: tie.left[0], right: tie.right[0], weight: tie.left[1] - tie.left[0] + 1, tie }))
        .sort((one, other) => one.left - other.left || one.right - other.right);
      this.ends = this.columns.map((column) => column.element.scrollHeight);
      const main = ibidem.alignment.inOrder(this.items, null);
      this.main = new Set(main.map(({ tie }) => tie.part));
      this.across = this.routes(main);
      const { following } = ibidem.alignment;
      const known = SIDES.map((side, at) => {
        const pairs = this.ribbons.ties.flatMap((tie) => [0, 1].map((end) => [tie[side][end], tie.part[side][end]]));
        pairs.sort((one, other) => one[0] - other[0]);
        return [[0, 0], ...pairs, [this.ends[at], this.texts[at].n_chars || 0]];
      });
      this.characterAt = known.map(following);
      this.heightOf = known.map((pairs) => following(pairs.map(([height, character]) => [character, height])));
    }

    get shownColumns() {
      return this.isNarrow.matches ? [this.inline].filter(Boolean) : this.columns;
    }

    // Blocks of long texts are laid out as they come near, and only then is it known where everything is. What is to be shown
    // (`goal`) is shown again until two frames changed nothing, or until the reader does something.
    settle(isChanged) {
      this.nQuiet = isChanged ? 0 : this.nQuiet || 0;
      if (this.settling || !this.shownColumns.some(({ blocks }) => blocks)) return;
      this.settling = requestAnimationFrame(() => {
        this.settling = 0;
        this.nQuiet += 1;
        if (this.nQuiet === 1) {
          this.measure();
          this.follow();
          if (this.goal) this.goal();
          else if (this.across && !this.isNarrow.matches) this.scrolled(this.leader || 0);
        }
        if (this.nQuiet > 2) this.goal = null;
        else if (this.goal) this.settle(false);
      });
    }

    routes(items) {
      const pairs = [[0, 0], ...items.flatMap(({ tie }) => [0, 1].map((end) => [tie.left[end], tie.right[end]])), this.ends];
      const { following } = ibidem.alignment;
      return [following(pairs), following(pairs.map(([left, right]) => [right, left]))];
    }

    // On a phone: the later text, with the words of the earlier one where they differ.
    makeSingle() {
      if (this.inline) return;
      const at = this.given.base === "right" || this.given.single === "left" ? 0 : 1;
      this.inline = this.column(SIDES[at], at, true);
      const which = `${ibidem.named(this.texts[at])}, with what ${this.given.base ? "changed" : "differs"}`;
      this.single.replaceChildren(h("p", { class: "single-head" }, h("bdi", null, which)), this.inline.element);
      this.inline.show(this.current);
    }

    // Where the chosen passage or part was moved, the columns follow it as long as the reader is near.
    follow() {
      const { current, part: chosen } = this;
      const moved = (this.items || []).find(({ tie }) => (chosen ? tie.part === chosen : tie.part.stretch === current));
      const isMoved = moved && !(chosen ? [chosen] : current.parts).some((part) => this.main.has(part));
      this.near = isMoved ? { tie: moved.tie, across: this.routes(ibidem.alignment.inOrder(this.items, moved)) } : null;
    }

    // Keeps the other column at the same words; a column that was moved from here moves nothing.
    scrolled(at) {
      const { element } = this.columns[at];
      if (!this.across) return;
      if (this.expected[at] !== null && Math.abs(element.scrollTop - this.expected[at]) < 2) {
        this.expected[at] = null;
      } else {
        const other = this.columns[1 - at].element;
        if (!this.goal) this.leader = at;
        const eye = element.scrollTop + element.clientHeight * FOCUS;
        const isNear = this.near && Math.abs(this.near.tie[SIDES[at]][0] - eye) < element.clientHeight;
        const { across } = isNear ? this.near : this;
        this.move(1 - at, across[at](eye) - other.clientHeight * FOCUS);
      }
      this.draw();
    }

    move(at, top) {
      const { element } = this.columns[at];
      const before = element.scrollTop;
      element.scrollTop = Math.max(0, Math.round(top));
      this.expected[at] = element.scrollTop === before ? null : element.scrollTop;
    }

    draw() {
      if (this.frame) return;
      this.frame = requestAnimationFrame(() => {
        this.frame = 0;
        const isNarrow = this.isNarrow.matches;
        if (!isNarrow) this.ribbons.draw(this.current, this.main);
        const seenIn = ({ element }, at) => [element.scrollTop, element.scrollTop + element.clientHeight].map(this.characterAt[at]);
        if (this.dots) this.dots.draw(this.current, isNarrow ? null : this.columns.map(seenIn));
      });
    }

    // Marks a stretch on both sides; the side it was chosen on stays where it is. `part` is what to look at in it: text that was
    // moved.
    choose(stretch, from, part, isSilent) {
      if (!stretch) return this.draw();
      this.current = stretch;
      this.part = part || null;
      this.columns.forEach((column) => column.show(stretch));
      if (this.inline) this.inline.show(stretch);
      this.follow();
      this.show(from);
      const { details, chosen } = this.given;
      const which = this.stretches.length > 1 ? `passage ${number(stretch.number)} of ${number(this.stretches.length)}` : "1 passage";
      const pages = SIDES.map((side, at) => ibidem.pageOf(this.texts[at], stretch[side][0]));
      const onPages = pages.some(Boolean) && ` · ${pages.map((page) => (page ? `p. ${number(page)}` : "–")).join(" / ")}`;
      ibidem.put(this.detail, which, `: ${ibidem.passages.describe(stretch)}`, onPages, details && details(stretch));
      if (chosen && !isSilent) chosen(stretch);
    }

    // Scrolls to the chosen stretch, except on the side `from`.
    show(from) {
      this.goal = () => this.scrollTo(from);
      this.scrollTo(from);
      this.nQuiet = 0;
      this.settle(true);
    }

    scrollTo(from) {
      const place = (column) => {
        if (!this.current) return null;
        const wanted = [this.part, ...this.current.parts].find((part) => part && column.places(part));
        return wanted ? column.places(wanted) : null;
      };
      const scroll = (column, share) => {
        const found = place(column);
        const [box] = found ? found[0].getClientRects() : [];
        if (!box) return null;
        const { element } = column;
        return element.scrollTop + box.top - element.getBoundingClientRect().top - element.clientHeight * share;
      };
      if (this.isNarrow.matches) {
        if (this.inline && !from) this.inline.element.scrollTop = scroll(this.inline, 0.08) ?? 0;
      } else {
        const tops = this.columns.map((column) => scroll(column, FOCUS));
        tops.forEach((top, at) => top !== null && SIDES[at] !== from && this.move(at, top));
      }
      this.draw();
    }

    // Goes to places in both texts, in characters.
    go(places) {
      this.goal = null;
      places.forEach((place, at) => {
        if (this.heightOf) this.move(at, this.heightOf[at](place) - this.columns[at].element.clientHeight * FOCUS);
      });
      this.draw();
    }

    step(by) {
      const count = this.stretches.length;
      if (!count) return;
      const at = this.current ? this.current.number - 1 + by : by > 0 ? 0 : count - 1;
      this.choose(this.stretches[(at + count) % count]);
    }

    get keys() {
      const forward = () => this.step(1);
      const back = () => this.step(-1);
      return { n: forward, p: back, ArrowRight: forward, ArrowLeft: back };
    }

    close() {
      if (this.watcher) this.watcher.disconnect();
      if (this.turned) this.isNarrow.removeEventListener("change", this.turned);
      cancelAnimationFrame(this.frame || 0);
      cancelAnimationFrame(this.settling || 0);
    }
  }

  // Returns a reading: put its `element` into the page, then call `open(passage)`; `close()` when it leaves.
  const reading = (given) => new Reading(given);

  Object.assign(ibidem, { reading });
})(window.ibidem);
