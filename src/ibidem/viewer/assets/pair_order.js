// The order of pairs: the neighbours of a pair in the list with the current filters and order.
(function (ibidem) {
  "use strict";

  const PAGE = 500;
  // A pair further down than this many pages is shown without neighbours, to limit requests.
  const MAX_PAGES = 3;

  // From the table of pairs, which remembers what it listed, if the filters are the same.
  function fromTable(pair) {
    const { listed, filters } = ibidem.state;
    if (!listed || listed.filters !== JSON.stringify(filters)) return null;
    const at = listed.pairs.indexOf(pair);
    if (at < 0 || (at + 1 === listed.pairs.length && !listed.isAll)) return null;
    return { previous: listed.pairs[at - 1] ?? null, next: listed.pairs[at + 1] ?? null, place: at + 1, total: listed.total };
  }

  // Returns { previous, next, place, total }, each null if not known.
  async function neighbours(source, pair) {
    const known = fromTable(pair);
    if (known) return known;
    const numbers = [];
    let cursor = null;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const answer = await source.pairs({ ...ibidem.state.filters, cursor, limit: PAGE });
      numbers.push(...answer.items.map((each) => each.pair));
      const at = numbers.indexOf(pair);
      if (at >= 0 && (at + 1 < numbers.length || !answer.next)) {
        return { previous: numbers[at - 1] ?? null, next: numbers[at + 1] ?? null, place: at + 1, total: answer.total };
      }
      if (!answer.next) break;
      cursor = answer.next;
    }
    return { previous: null, next: null, place: null, total: null };
  }

  Object.assign(ibidem, { neighbours });
})(window.ibidem);
