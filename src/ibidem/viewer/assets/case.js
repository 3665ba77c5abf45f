// The arithmetic of a checked text: what remains if some sources, quotations or short matches are left out. Places count
// characters, as in the answer of the server.
(function (ibidem) {
  "use strict";

  // Text in quotation marks of any language, and lines that begin with >, as mail and Markdown quote.
  const QUOTED = new RegExp(
    [
      "“[^”]{1,4000}”",
      "„[^“”]{1,4000}[“”]",
      "«[^»]{1,4000}»",
      "‹[^›]{1,4000}›",
      "「[^」]{1,4000}」",
      "『[^』]{1,4000}』",
      '(?<![\\p{L}\\p{N}])"[^"]{1,4000}"',
      "(?<=^|\\n)[ \\t]*>[^\\n]*(?:\\n[ \\t]*>[^\\n]*)*",
    ].join("|"),
    "gu",
  );
  // Words as people count them; where words are not separated, every character counts.
  const WORD = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]|(?:(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}])[\p{L}\p{N}\p{M}])+(?:['’-](?:[\p{L}\p{N}\p{M}])+)*/gu;
  const MOSTLY = 0.9;

  const nWords = (text) => (text.match(WORD) || []).length;

  // Spans without overlap, in order.
  function united(spans) {
    const found = [];
    for (const [start, end] of [...spans].sort((one, other) => one[0] - other[0])) {
      const last = found[found.length - 1];
      if (last && start <= last[1]) last[1] = Math.max(last[1], end);
      else found.push([start, end]);
    }
    return found;
  }

  // What is in `spans` and not in `others`; both are united.
  function without(spans, others) {
    const found = [];
    let at = 0;
    for (const [start, end] of spans) {
      let from = start;
      while (at > 0 && others[at - 1][1] > start) at -= 1;
      while (at < others.length && others[at][1] <= from) at += 1;
      for (let next = at; next < others.length && others[next][0] < end; next += 1) {
        if (others[next][0] > from) found.push([from, others[next][0]]);
        from = Math.max(from, others[next][1]);
      }
      if (from < end) found.push([from, end]);
    }
    return found;
  }

  const sizeOf = (spans) => spans.reduce((sum, [start, end]) => sum + end - start, 0);

  // The quotations of a text, as places in characters.
  function quotationsOf(text) {
    const wide = [...text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)].map((found) => found.index);
    let passed = 0;
    const characters = (index) => {
      while (passed < wide.length && wide[passed] < index) passed += 1;
      return index - passed;
    };
    const places = [...text.matchAll(QUOTED)].map((found) => [found.index, found.index + found[0].length]);
    return united(places.map(([start, end]) => [characters(start), characters(end)]));
  }

  class Case {
    constructor(answer) {
      this.answer = answer;
      this.text = answer.text.segments.map((segment) => segment.text).join("");
      this.nChars = answer.text.n_chars;
      this.quotations = quotationsOf(this.text);
      this.passages = answer.passages.map((passage) => {
        const span = [passage.a_start, passage.a_end];
        const quoted = span[1] - span[0] - sizeOf(without([span], this.quotations));
        return {
          ...passage,
          nWords: nWords(ibidem.slice(answer.text, ...span)),
          isQuoted: quoted >= MOSTLY * (span[1] - span[0]),
        };
      });
    }

    // `leftOut`: { sources: Set of positions, quotations: boolean, below: number of words }. Returns what remains: { share,
    // nChars, covered, passages, sources }, sources with their own share and rank, the excluded ones last.
    with(leftOut) {
      const isKept = (passage) =>
        !leftOut.sources.has(passage.source) &&
        passage.nWords >= leftOut.below &&
        !(leftOut.quotations && passage.isQuoted);
      const passages = this.passages.filter(isKept);
      const isWhole = !leftOut.sources.size && !leftOut.quotations && leftOut.below <= 0;
      const spansOf = (some) => {
        const spans = united(some.map((passage) => [passage.a_start, passage.a_end]));
        return leftOut.quotations ? without(spans, this.quotations) : spans;
      };
      const covered = isWhole ? this.answer.covered : spansOf(passages);
      const of = new Map(this.answer.sources.map((source, at) => [at, []]));
      passages.forEach((passage) => of.get(passage.source).push(passage));
      const sources = this.answer.sources.map((source, at) => {
        const own = of.get(at);
        const nChars = sizeOf(spansOf(own));
        return { ...source, at, n_chars: nChars, n_passages: own.length, coverage: this.nChars ? nChars / this.nChars : 0, isExcluded: leftOut.sources.has(at) };
      });
      sources.sort((one, other) => Number(one.isExcluded) - Number(other.isExcluded) || other.n_chars - one.n_chars || one.at - other.at);
      const nShared = sizeOf(covered);
      return {
        share: this.nChars ? nShared / this.nChars : 0,
        nShared,
        covered,
        passages,
        sources,
        isWhole,
        nUnlisted: isWhole ? 0 : this.answer.n_passages - this.answer.passages.length,
      };
    }
  }

  Object.assign(ibidem, { Case });
})(window.ibidem);
