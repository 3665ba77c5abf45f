// Texts: from offsets, which count characters, to strings, which count UTF-16 units; and from passages to marked text.
(function (ibidem) {
  "use strict";

  const { h, number } = ibidem;
  const SURROGATE = /[\ud800-\udbff][\udc00-\udfff]/g;
  const indexes = new WeakMap();

  // For each segment: its number of characters, and the positions of those that take two units (most texts have none).
  function indexed(segment) {
    let index = indexes.get(segment);
    if (!index) {
      const wide = [];
      SURROGATE.lastIndex = 0;
      for (let found = SURROGATE.exec(segment.text); found; found = SURROGATE.exec(segment.text)) {
        wide.push(found.index - wide.length);
      }
      index = { wide, nChars: segment.text.length - wide.length };
      indexes.set(segment, index);
    }
    return index;
  }

  // The number of values in a sorted list that are smaller.
  function countBelow(values, limit) {
    let low = 0;
    let high = values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] < limit) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function cut(segment, start, end) {
    const { wide } = indexed(segment);
    const from = start - segment.start;
    const to = end - segment.start;
    if (!wide.length) return segment.text.slice(from, to);
    return segment.text.slice(from + countBelow(wide, from), to + countBelow(wide, to));
  }

  const nCharsOf = (text) => indexed({ text }).nChars;
  const endOf = (segment) => segment.start + indexed(segment).nChars;

  // Where lines end, in characters of the text, at least `size` letters apart.
  function lineEnds(segment, size) {
    const { wide } = indexed(segment);
    const found = [];
    let nWide = 0;
    for (let at = segment.text.indexOf("\n", size); at >= 0; at = segment.text.indexOf("\n", at + size)) {
      while (nWide < wide.length && wide[nWide] + nWide < at) nWide += 1;
      found.push(segment.start + at + 1 - nWide);
    }
    return found;
  }

  // Returns the characters of a text from `start` to `end`, as far as they are available.
  function slice(text, start, end) {
    return text.segments
      .filter((segment) => segment.start < end && endOf(segment) > start)
      .map((segment) => cut(segment, Math.max(start, segment.start), Math.min(end, endOf(segment))))
      .join("");
  }

  function leftOut(nChars) {
    return h("span", { class: "left-out" }, `… ${number(nChars)} ${nChars === 1 ? "character" : "characters"} left out …`);
  }

  // Returns a fragment with the text; a segment may have a head, which tells what follows. `decorate(mark, words, within)` gives
  // the nodes for each mark; `within(start, end)` gives those of its words that are between two places. Marks are in order and do
  // not overlap. `bounds` divide the text into blocks; no mark crosses one.
  function marked(text, marks, decorate, bounds = []) {
    const whole = document.createDocumentFragment();
    let parts = whole;
    let next = 0; // of the bounds
    const begin = () => {
      parts = h("div", { class: "block" });
      whole.append(parts);
    };
    if (bounds.length) begin();
    const bounded = (place) => {
      if (bounds[next] !== place) return;
      next += 1;
      begin();
    };
    const plain = (segment, start, end) => {
      for (let from = start; from < end; ) {
        const to = Math.min(end, bounds[next] ?? end);
        parts.append(document.createTextNode(ibidem.shown(cut(segment, from, to))));
        bounded(to);
        from = to;
      }
    };
    let at = 0;
    let written = 0;
    for (const segment of text.segments) {
      const end = endOf(segment);
      if (segment.head) parts.append(segment.head());
      else if (segment.start > written) parts.append(leftOut(segment.start - written));
      written = segment.start;
      while (at < marks.length && marks[at].end <= written) at += 1;
      while (at < marks.length && marks[at].start < end) {
        const mark = marks[at];
        const from = Math.max(mark.start, written);
        const to = Math.min(mark.end, end);
        plain(segment, written, from);
        const within = (start_, end_) => cut(segment, Math.max(from, start_), Math.max(from, Math.min(to, end_)));
        parts.append(...decorate(mark, cut(segment, from, to), within));
        bounded(to);
        written = to;
        if (mark.end > end) break;
        at += 1;
      }
      plain(segment, written, end);
      written = end;
    }
    if (text.segments.length && text.n_chars > written) parts.append(leftOut(text.n_chars - written));
    return whole;
  }

  // Returns the parts of a text that are marked, in reading order, without overlap. `spans` are { id, start, end, weight,
  // changes }; where they overlap, one that has no change there is shown, of several the heaviest, and `all` lists every one.
  // `changes` are [start, end, details].
  function piecesOf(spans, boilerplate) {
    const events = [];
    const changes = [];
    const places = new Set();
    for (const span of spans) {
      if (span.start >= span.end) continue;
      events.push([span.start, 1, span], [span.end, 0, span]);
      for (const change of span.changes || []) if (change[0] < change[1]) changes.push([...change, span]);
    }
    for (const [start, end] of boilerplate || []) if (start < end) events.push([start, 1, null], [end, 0, null]);
    events.forEach(([place]) => places.add(place));
    changes.forEach(([start, end]) => places.add(start).add(end));
    const sorted = Float64Array.from(places).sort();
    events.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
    changes.sort((one, other) => one[0] - other[0] || one[1] - other[1]);
    const found = [];
    const open = [];
    const changed = new Map();
    let nBoilerplate = 0;
    let event = 0;
    let change = 0;
    for (let at = 0; at + 1 < sorted.length; at += 1) {
      const start = sorted[at];
      for (; event < events.length && events[event][0] <= start; event += 1) {
        const [, begins, span] = events[event];
        if (span === null) nBoilerplate += begins ? 1 : -1;
        else if (begins) open.push(span);
        else open.splice(open.indexOf(span), 1);
      }
      for (; change < changes.length && changes[change][0] <= start; change += 1) {
        const [, end, details, span] = changes[change];
        changed.set(span, { end, details });
      }
      if (!open.length && !nBoilerplate) continue;
      const changeOf = (one) => {
        const known = changed.get(one);
        return known && known.end > start ? known : null;
      };
      const isBetter = (one, best) => {
        const [its, mine] = [Boolean(changeOf(one)), Boolean(changeOf(best))];
        return its === mine ? one.weight >= best.weight : mine;
      };
      const span = open.reduce((best, one) => (!best || isBetter(one, best) ? one : best), null);
      const edit = span && changeOf(span);
      found.push({
        start,
        end: sorted[at + 1],
        span,
        all: open.slice(),
        change: edit ? edit.details : null,
        isBoilerplate: nBoilerplate > 0,
      });
    }
    return found;
  }

  // Returns the nodes of a text with some words underlined, and others marked as moved; `changes` and `moves` are offsets in
  // that text.
  function underlined(text, changes, tag, moves) {
    const whole = { n_chars: 0, segments: [{ start: 0, text }] };
    const marks = [changes, moves].flatMap((places, at) => (places || []).map(([start, end]) => ({ start, end, isMoved: at === 1 })));
    const shown = marks.filter(({ start, end }) => start < end).sort((one, other) => one.start - other.start);
    return marked(whole, shown, (mark, words) => [mark.isMoved ? h("span", { class: "moved" }, words) : h(tag || "u", null, words)]);
  }

  Object.assign(ibidem, { nCharsOf, lineEnds, slice, marked, piecesOf, underlined });
})(window.ibidem);
