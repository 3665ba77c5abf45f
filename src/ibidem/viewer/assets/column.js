// A column: one text with what it shares marked. Four meanings: same, edited, removed or added, own words; grey is not counted.
(function (ibidem) {
  "use strict";

  const { h } = ibidem;
  // With more stretches, the tab key skips their numbers; the keys for stepping still reach them.
  const MAX_STOPS = 100;

  // What changed words are in the other text.
  function counterpart(words) {
    if (!words) return "not in the other text";
    return `in the other text: ${words.length > 200 ? `${words.slice(0, 200)}…` : words}`;
  }

  // `way` says what words are that only one text has: "removed" or "added", or "only-left" and "only-right" if it is not known
  // which text is earlier.
  function changedWords(way, words, title) {
    const tag = way === "removed" ? "del" : "ins";
    return h(tag, { class: way, title }, words);
  }

  // Returns { element, places(part), show(stretch) }: `places` are the first and last element of a part. `other` gives the words
  // of the other text. With `isInline`, words that only the other text has are shown too.
  function column(text, stretches, side, { label, way, other, otherWay, choose, isInline }) {
    const otherSide = side === "left" ? "right" : "left";
    const [mine, theirs] = side === "left" ? [0, 2] : [2, 0];
    const firsts = new Map();
    const lasts = new Map();
    const parts = new Map(stretches.map((stretch) => [stretch, []]));
    const begun = new Set();
    const told = new Set();
    const isNumbered = stretches.length > 1;
    const number = (stretch) =>
      h(
        "button",
        {
          type: "button",
          class: "place",
          "data-passage": String(stretch.number),
          tabindex: stretches.length <= MAX_STOPS ? null : "-1",
          "aria-label": `passage ${stretch.number}`,
        },
        String(stretch.number),
      );
    const theirWords = (edit) => ibidem.slice(other, edit[theirs], edit[theirs + 1]);
    const decorate = (piece, words) => {
      if (!piece.span) return [h("span", { class: "boilerplate" }, words)];
      const nodes = [];
      const part = piece.span.id;
      if (isNumbered && !begun.has(part.stretch)) nodes.push(number(part.stretch));
      begun.add(part.stretch);
      const edit = piece.change;
      if (isInline && edit && !told.has(edit) && edit[theirs] < edit[theirs + 1]) {
        nodes.push(changedWords(otherWay, theirWords(edit), null), " ");
        told.add(edit);
      }
      const element = h(
        "mark",
        {
          class: [part.look, piece.isBoilerplate ? "boilerplate" : ""].filter(Boolean).join(" "),
          "data-in": String(part.stretch.number),
        },
        edit ? changedWords(way, words, isInline ? null : counterpart(theirWords(edit))) : words,
      );
      for (const { id } of piece.all) {
        if (!firsts.has(id)) firsts.set(id, element);
        lasts.set(id, element);
        parts.get(id.stretch).push(element);
      }
      nodes.push(element);
      return nodes;
    };
    const spans = ibidem.alignment.spansOf(stretches, side);
    const pieces = ibidem.piecesOf(spans, text.boilerplate);
    const shown = isInline ? withRemovals(pieces, spans, mine, theirs) : pieces;
    const element = h(
      "div",
      { class: "text", tabindex: "0", role: "region", "aria-label": label, lang: "", dir: "auto" },
      ibidem.marked(text, shown, (piece, words) =>
        piece.removal ? [changedWords(otherWay, theirWords(piece.removal), null), " "] : decorate(piece, words),
      ),
    );
    if (!text.segments.length) element.append(h("p", { class: "nothing" }, "The text is not available."));

    let current = null;
    element.addEventListener("click", (event) => {
      const badge = event.target.closest("[data-passage]");
      const mark = event.target.closest("[data-in]");
      if (badge) choose(stretches[Number(badge.dataset.passage) - 1], side);
      else if (mark && !String(window.getSelection())) choose(stretches[Number(mark.dataset.in) - 1], side);
    });

    return {
      element,
      side,
      otherSide,
      places: (part) => (firsts.has(part) ? [firsts.get(part), lasts.get(part)] : null),
      show(stretch) {
        if (current) parts.get(current).forEach((old) => old.classList.remove("chosen"));
        current = stretch;
        if (stretch) parts.get(stretch).forEach((now) => now.classList.add("chosen"));
      },
    };
  }

  // Adds a place for words that only the other text has, where this text has none.
  function withRemovals(pieces, spans, mine, theirs) {
    const removals = [];
    for (const { id: part } of spans) {
      if (removals.stretch === part.stretch) continue;
      removals.stretch = part.stretch;
      for (const edit of part.stretch.edits) {
        if (edit[mine] === edit[mine + 1] && edit[theirs] < edit[theirs + 1]) {
          removals.push({ start: edit[mine], end: edit[mine], removal: edit });
        }
      }
    }
    removals.sort((one, other) => one.start - other.start);
    const found = [];
    let at = 0;
    for (const piece of pieces) {
      let { start } = piece;
      for (; at < removals.length && removals[at].start <= start; at += 1) found.push(removals[at]);
      for (; at < removals.length && removals[at].start < piece.end; at += 1) {
        found.push({ ...piece, start, end: removals[at].start }, removals[at]);
        start = removals[at].start;
      }
      found.push({ ...piece, start });
    }
    return [...found, ...removals.slice(at)];
  }

  Object.assign(ibidem, { column, changedWords });
})(window.ibidem);
