// A column: one text with what it shares marked. Four meanings: same, edited, removed or added, own words; grey is not counted.
(function (ibidem) {
  "use strict";

  const { h } = ibidem;
  const MOVED = "⇅\u2009moved"; // beside words that the other text has at another place
  // With more stretches, their numbers are no buttons, which would take long to lay out: a click on the words does the same.
  const MAX_STOPS = 100;

  // What kind of change it is, if that is one to name.
  function kindsChanged(kinds) {
    const said = (kinds || []).filter((kind) => ibidem.alignment.NAMED.includes(kind));
    return said.length ? `${said.join(", ")} changed; ` : "";
  }

  // What changed words are in the other text, and what kind of change that is.
  function counterpart(words, kinds) {
    const what = kindsChanged(kinds);
    if (!words) return `${what}not in the other text`;
    return `${what}in the other text: ${words.length > 200 ? `${words.slice(0, 200)}…` : words}`;
  }

  // `way` says what words are that only one text has: "removed" or "added", or "only-left" and "only-right" if it is not known
  // which text is earlier.
  function changedWords(way, words, title) {
    const tag = way === "removed" ? "del" : "ins";
    return h(tag, { class: way, title }, words);
  }

  // Returns { element, places(part), show(stretch) }: `places` are the first and last element of a part. `other` gives the words
  // of the other text. With `isInline`, words that only the other text has are shown too. A long text has `blocks`, and
  // `laidOut()` is called when other ones were laid out.
  function column(text, stretches, side, { label, way, other, otherWay, choose, laidOut, isInline }) {
    const otherSide = side === "left" ? "right" : "left";
    const [mine, theirs] = side === "left" ? [0, 2] : [2, 0];
    const firsts = new Map();
    const lasts = new Map();
    const parts = new Map(stretches.map((stretch) => [stretch, []]));
    const begun = new Set();
    const told = new Set();
    const isNumbered = stretches.length > 1;
    const isLong = stretches.length > MAX_STOPS;
    const number = (stretch) =>
      h(
        "button",
        {
          type: "button",
          class: "place",
          "data-passage": String(stretch.number),
          "aria-label": `passage ${stretch.number}`,
        },
        String(stretch.number),
      );
    const moved = [];
    const movedMark = (part) => {
      const title = "the same words are elsewhere in the other text: go there";
      moved.push(part);
      return h("button", { type: "button", class: "moved-mark", "data-moved": String(moved.length - 1), title }, MOVED);
    };
    const theirWords = (edit) => ibidem.slice(other, edit[theirs], edit[theirs + 1]);
    const onlyTheirs = (edit) => changedWords(otherWay, theirWords(edit), `${kindsChanged(edit.kinds)}only in the other text`);
    const wordsOf = (piece, words) => {
      const edit = words && piece.change;
      return edit ? changedWords(way, words, counterpart(theirWords(edit), edit.kinds)) : words;
    };
    // `piece` may be several, one after the other, which are one mark.
    const decorate = (piece, words, within) => {
      if (!piece.span) return [h("span", { class: "boilerplate" }, words)];
      const nodes = [];
      const part = piece.span.id;
      const isFirst = isNumbered && !begun.has(part.stretch);
      if (isFirst && !isLong) nodes.push(number(part.stretch));
      begun.add(part.stretch);
      if (part.isMoved && !begun.has(part)) {
        begun.add(part);
        nodes.push(isInline ? h("span", { class: "moved-mark" }, MOVED) : movedMark(part));
      }
      const edit = piece.change;
      if (isInline && edit && !told.has(edit) && edit[theirs] < edit[theirs + 1]) {
        nodes.push(onlyTheirs(edit), " ");
        told.add(edit);
      }
      const element = h(
        "mark",
        {
          class: [part.look, part.isMoved ? "moved" : "", piece.isBoilerplate ? "boilerplate" : ""].filter(Boolean).join(" "),
          title: part.isMoved ? "elsewhere in the other text" : null,
          "data-in": String(part.stretch.number),
          "data-number": isFirst && isLong ? String(part.stretch.number) : null,
        },
        piece.pieces ? piece.pieces.map((each) => wordsOf(each, within(each.start, each.end))) : wordsOf(piece, words),
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
    const bounds = ibidem.boundsOf(text);
    const pieces = cutAt(bounds, ibidem.piecesOf(spans, [...(text.boilerplate || []), ...(text.ignored || [])]));
    const shown = isInline ? withRemovals(pieces, spans, mine, theirs) : joined(pieces, new Set(bounds));
    const element = h(
      "div",
      { class: "text", tabindex: "0", role: "region", "aria-label": label, lang: "", dir: "auto" },
      ibidem.marked(
        text,
        shown,
        (piece, words, within) => (piece.removal ? [onlyTheirs(piece.removal), " "] : decorate(piece, words, within)),
        bounds,
      ),
    );
    if (!text.segments.length) element.append(h("p", { class: "nothing" }, "The text is not available."));

    const blocks = bounds.length ? ibidem.blocks(element, [...element.children], bounds, text.n_chars, laidOut) : null;

    let current = null;
    element.addEventListener("click", (event) => {
      const badge = event.target.closest("[data-passage]");
      const mark = event.target.closest("[data-in]");
      const move = event.target.closest("[data-moved]");
      if (move) choose(moved[Number(move.dataset.moved)].stretch, side, moved[Number(move.dataset.moved)]);
      else if (badge) choose(stretches[Number(badge.dataset.passage) - 1], side);
      else if (mark && !String(window.getSelection())) choose(stretches[Number(mark.dataset.in) - 1], side);
    });

    return {
      element,
      side,
      otherSide,
      blocks,
      places: (part) => (firsts.has(part) ? [firsts.get(part), lasts.get(part)] : null),
      show(stretch) {
        if (current) parts.get(current).forEach((old) => old.classList.remove("chosen"));
        current = stretch;
        if (stretch) parts.get(stretch).forEach((now) => now.classList.add("chosen"));
      },
    };
  }

  // Pieces cut where blocks end.
  function cutAt(bounds, pieces) {
    if (!bounds.length) return pieces;
    const found = [];
    let next = 0;
    for (const piece of pieces) {
      let { start } = piece;
      while (next < bounds.length && bounds[next] <= start) next += 1;
      for (; next < bounds.length && bounds[next] < piece.end; next += 1) {
        found.push({ ...piece, start, end: bounds[next] });
        start = bounds[next];
      }
      found.push({ ...piece, start });
    }
    return found;
  }

  // Pieces that follow one another in the same sentences, as one with `pieces`: fewer elements to lay out. None crosses a bound.
  function joined(pieces, bounds) {
    const found = [];
    for (const piece of pieces) {
      const last = found[found.length - 1];
      const isOne =
        last &&
        last.span &&
        last.end === piece.start &&
        !bounds.has(last.end) &&
        last.span === piece.span &&
        last.isBoilerplate === piece.isBoilerplate &&
        last.all.length === piece.all.length &&
        last.all.every((span, at) => span === piece.all[at]);
      if (isOne) {
        last.pieces.push(piece);
        last.end = piece.end;
      } else {
        found.push({ ...piece, pieces: [piece] });
      }
    }
    return found;
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
