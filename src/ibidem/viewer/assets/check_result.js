// What a checked text shares with the index: the share, the sources in their order, and their words beside it.
(function (ibidem) {
  "use strict";

  const { h, put, button, number, many, percent, bar } = ibidem;
  const MAX_COMPARED = 4e6; // pairs of passages; with more, it is not said how many other sources have each

  function verdictWords({ verdict, sources, covered_share: share }) {
    if (!sources.length) return "This text is new.";
    if (!share) return "Single sentences of this text are already in the index.";
    return `${share >= 0.9 || ibidem.isNearlyAll(verdict) ? "Nearly all" : "Part"} of this text is already in the index.`;
  }

  function sentencesKnown({ verdict }) {
    const { n_known: nKnown, n_common: nCommon } = verdict;
    const known = `${number(nKnown)} of ${many(verdict.n_sentences, "sentence")} also ${nKnown === 1 ? "appears" : "appear"} in the index.`;
    const common = nCommon ? ` ${many(nCommon, "sentence")} ${nCommon === 1 ? "is" : "are"} too common to count.` : "";
    return `${known}${common}${verdict.is_own_id_known ? " The index already has a document with this id." : ""}`;
  }

  // "A" to "Z", then "AA" and so on.
  const letters = (at) => (at < 26 ? "" : letters(Math.floor(at / 26) - 1)) + String.fromCharCode(65 + (at % 26));

  const overlap = (one, other) => Math.min(one.a_end, other.a_end) - Math.max(one.a_start, other.a_start);

  // Of the passages that several sources have, the one of the best source; the others are counted.
  function foremost(passages, sources) {
    const rank = new Map(sources.map((source, at) => [source.at, at]));
    const order = [...passages].sort((one, other) => rank.get(one.source) - rank.get(other.source) || one.a_start - other.a_start);
    const found = [];
    const covered = []; // in order, without overlap
    for (const passage of order) {
      const [start, end] = [passage.a_start, passage.a_end];
      let low = 0;
      let high = covered.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (covered[middle][1] < start) low = middle + 1;
        else high = middle;
      }
      if (low < covered.length && covered[low][0] <= start && covered[low][1] >= end) continue;
      let last = low;
      while (last < covered.length && covered[last][0] <= end) last += 1;
      const met = covered.slice(low, last);
      covered.splice(low, last - low, [Math.min(start, ...met.map((span) => span[0])), Math.max(end, ...met.map((span) => span[1]))]);
      found.push({ ...passage, nOthers: 0 });
    }
    found.sort((one, other) => one.a_start - other.a_start || rank.get(one.source) - rank.get(other.source));
    // How many other sources have most of each; both lists are in the order of the text.
    if (found.length * passages.length > MAX_COMPARED) return found;
    const inOrder = [...passages].sort((one, other) => one.a_start - other.a_start);
    for (const passage of found) {
      const others = new Set();
      for (const other of inOrder) {
        if (other.a_start >= passage.a_end) break;
        if (other.source !== passage.source && overlap(passage, other) >= 0.8 * (passage.a_end - passage.a_start)) others.add(other.source);
      }
      passage.nOthers = others.size;
    }
    return found;
  }

  // The words of the sources one after another, in the order of the checked text, each under its name; and what they share.
  function besideSources(passages, nameOf) {
    const segments = [];
    const stretches = [];
    let end = 0;
    for (const passage of passages) {
      const words = passage.b_text || "(The index does not store these words.)";
      const start = end;
      end += ibidem.nCharsOf(words);
      const also = passage.nOthers ? ` · also in ${many(passage.nOthers, "other source", "other sources")}` : "";
      const places = `${ibidem.located({ start: passage.b_start, end: passage.b_end, page: passage.b_page })}${also}`;
      const head = () => h("span", { class: "source-head" }, nameOf(passage.source), ` · ${places}`);
      segments.push({ start, text: words, head });
      const moved = (edit) => [edit[0], edit[1], edit[2] + start, edit[3] + start, ...edit.slice(4)];
      stretches.push({
        ...passage,
        passages: [passage.number],
        b_start: start,
        b_end: end,
        is_compared: passage.is_compared && Boolean(passage.b_text),
        edits: passage.edits.map(moved),
        moves: passage.moves.map(moved),
        sentences: passage.sentences.map(moved),
      });
    }
    const right = { document: null, id: "sources", title: "Sources", group: null, time: null, n_chars: end, segments, boilerplate: [] };
    return { right, stretches };
  }

  class CheckResult {
    // `changed()` is called when something is left out or shown again, so that the address can follow.
    constructor(answer, { source, mayAdd, leftOut, isAnonymous, name, changed, link }) {
      Object.assign(this, { answer, source, leftOut, isAnonymous, name, changed, link });
      this.case = new ibidem.Case(answer);
      this.chosen = null;
      this.reading = null;
      this.share = h("p", { class: "big-share" });
      this.told = h("p", { class: "lead", role: "status" });
      this.listed = h("div", { class: "source-list" });
      this.body = h("div", { class: "checked-text" });
      this.bar = h("div", { class: "case-bar" });
      this.tools = this.leavingOut();
      this.element = h(
        "section",
        { class: "checked", "aria-labelledby": "checked-title" },
        h(
          "div",
          { class: "case-head" },
          this.share,
          h("div", null, h("h2", { id: "checked-title", tabindex: "-1" }, verdictWords(answer)), this.told, this.bar),
        ),
        answer.passages.length > 0 && this.tools,
        h(
          "div",
          { class: "case-body" },
          h("aside", { "aria-label": "Sources" }, this.listed, mayAdd && ibidem.addingToIndex(answer, source)),
          this.body,
        ),
      );
      this.draw();
    }

    titleOf() {
      const what = this.isAnonymous || !this.name ? "A checked text" : this.name;
      const { share, sources } = this.found;
      const nSources = sources.filter((each) => each.n_passages && !each.isExcluded).length;
      return nSources ? `${what}: ${percent(share)} also appears in ${many(nSources, "source")}` : `${what}: no match in the index`;
    }

    nameOf(at) {
      const one = this.answer.sources[at];
      return this.isAnonymous ? `Source ${letters(at)}` : ibidem.named(one);
    }

    shownName(at) {
      const one = this.answer.sources[at];
      if (this.isAnonymous) return h("span", { class: "name" }, this.nameOf(at));
      return ibidem.name(one);
    }

    leavingOut() {
      const { case: checked } = this;
      const nQuoted = checked.quotations.length;
      const quotations = h("input", { type: "checkbox", id: "no-quotations", disabled: nQuoted === 0 });
      quotations.checked = this.leftOut.quotations;
      quotations.addEventListener("change", () => this.leave({ quotations: quotations.checked }));
      const below = h("input", { type: "number", id: "below", min: "0", max: "9999", step: "1", inputmode: "numeric" });
      below.value = this.leftOut.below || "";
      below.addEventListener("input", () => this.leave({ below: Math.max(0, Math.floor(Number(below.value) || 0)) }));
      const names = h("input", { type: "checkbox", id: "anonymous" });
      names.checked = this.isAnonymous;
      names.addEventListener("change", () => {
        this.isAnonymous = names.checked;
        this.draw();
        this.changed();
      });
      const found = nQuoted ? `quotations (${number(nQuoted)})` : "quotations (none)";
      return h(
        "fieldset",
        { class: "leaving-out" },
        h("legend", null, "Leave out"),
        h("label", null, quotations, ` ${found}`),
        h("label", { for: "below" }, "matches below ", below, " words"),
        h("label", { class: "anonymous" }, names, " hide the names of sources"),
      );
    }

    leave(changes) {
      Object.assign(this.leftOut, changes);
      if (this.chosen !== null && this.leftOut.sources.has(this.chosen)) this.chosen = null;
      this.draw();
      this.changed();
    }

    // Counts and draws again; nothing is asked of the server.
    draw() {
      this.found = this.case.with(this.leftOut);
      const { share, passages, sources, isWhole, nUnlisted } = this.found;
      const counted = sources.filter((each) => each.n_passages && !each.isExcluded);
      this.share.textContent = percent(share);
      const where = counted.length ? ` also ${share ? "appears" : "appear"} in ${many(counted.length, "source")}` : " is shared";
      const before = isWhole ? "" : ` Nothing left out: ${percent(this.answer.covered_share)}.`;
      const unlisted = nUnlisted > 0 ? ` ${many(nUnlisted, "further passage")} from smaller sources ${nUnlisted === 1 ? "is" : "are"} not included.` : "";
      put(this.told, `${percent(share)} of the text${where}.${before}${unlisted} ${sentencesKnown(this.answer)}`);
      put(this.listed, this.sourceList(sources));
      put(this.bar, ibidem.actions.bar(this.context()), passages.length > 0 && button("CSV", () => this.saveTable(), { class: "quiet", title: "save the matches as a table" }));
      this.read();
    }

    sourceList(sources) {
      const having = sources.filter((each) => each.n_passages || each.isExcluded);
      const rest = sources.filter((each) => !each.n_passages && !each.isExcluded);
      const { n_sources: nAll } = this.answer;
      return [
        h("h3", null, having.length ? "Sources, largest share first" : "Sources"),
        having.length
          ? h("ol", { class: "sources" }, having.map((each) => this.entry(each)))
          : h("p", null, this.answer.sources.length ? "None is left." : "None."),
        nAll > sources.length && h("p", { class: "quiet-text" }, `${number(sources.length)} of ${number(nAll)} sources are listed.`),
        rest.length > 0 &&
          h(
            "details",
            null,
            h("summary", null, `${many(rest.length, "document")} with less`),
            h(
              "ul",
              { class: "sources" },
              rest.map((each) => h("li", null, this.shownName(each.at), h("span", { class: "figures-line" }, this.lessOf(each)))),
            ),
          ),
      ];
    }

    lessOf(each) {
      const had = this.answer.sources[each.at].n_passages;
      return had ? `${many(had, "match", "matches")} left out` : `${many(each.n_sentences, "known sentence")}, too few for a passage`;
    }

    entry(each) {
      const { at } = each;
      const hasDocument = !this.isAnonymous && !ibidem.isMissing(each.document);
      const toggle = () => {
        const left = new Set(this.leftOut.sources);
        if (!left.delete(at)) left.add(at);
        this.leave({ sources: left });
      };
      const choose = () => {
        this.chosen = this.chosen === at ? null : at;
        this.draw();
      };
      const figures = each.isExcluded
        ? h("span", { class: "figures-line" }, "left out")
        : h("span", { class: "figures-line" }, bar(each.coverage), h("span", null, `${many(each.n_chars, "character")}, ${many(each.n_passages, "passage")}`));
      return h(
        "li",
        { class: each.isExcluded ? "excluded" : null },
        button([this.shownName(at), this.isAnonymous ? null : ibidem.origin(each), figures], choose, {
          class: "source",
          "aria-pressed": String(this.chosen === at),
          disabled: each.isExcluded,
          title: "show only what this source has",
        }),
        h(
          "p",
          { class: "places" },
          button(each.isExcluded ? "Count it again" : "Leave out", toggle, {
            class: "quiet",
            "aria-label": `${each.isExcluded ? "Count again" : "Leave out"}: ${this.nameOf(at)}`,
          }),
          hasDocument && ibidem.link(`#document=${each.document}`, "Read it", ibidem.hidden(`: ${this.nameOf(at)}`)),
        ),
      );
    }

    read() {
      if (this.reading) this.reading.close();
      const { passages, sources, share } = this.found;
      const own = this.chosen === null ? foremost(passages, sources) : passages.filter((each) => each.source === this.chosen);
      const { right, stretches } = besideSources(own, (at) => this.shownName(at));
      const which = this.chosen === null ? "The words of the sources" : this.shownName(this.chosen);
      const chosen = sources.find((each) => each.at === this.chosen);
      this.reading = ibidem.reading({
        kind: "check",
        left: this.answer.text,
        right,
        stretches,
        base: null,
        shares: [chosen ? chosen.coverage : share, null],
        title: () => this.titleOf(),
        heads: ["Your text", which].map((head) => h("header", null, h("h3", null, head))),
        hasDots: false,
        single: "left",
      });
      put(this.body, this.reading.element);
      if (this.body.isConnected) this.reading.open();
    }

    open() {
      this.reading.open();
    }

    close() {
      this.reading.close();
    }

    context() {
      return {
        kind: "check",
        title: () => this.titleOf(),
        address: () => location.hash,
        link: this.link,
        evidence: ibidem.caseEvidence(this),
      };
    }

    saveTable() {
      const rows = this.found.passages.map((each) => ({
        start: each.a_start,
        end: each.a_end,
        page: each.a_page,
        words: each.nWords,
        source: this.nameOf(each.source),
        source_start: each.b_start,
        source_end: each.b_end,
        source_page: each.b_page,
        similarity: each.similarity,
        kind: each.kind,
        text: ibidem.slice(this.answer.text, each.a_start, each.a_end),
        source_text: each.b_text,
      }));
      ibidem.save("ibidem-matches.csv", "text/csv;charset=utf-8", ibidem.csv(Object.keys(rows[0]), rows));
    }
  }

  Object.assign(ibidem, { CheckResult });
})(window.ibidem);
