// The source of the report: everything is in the page itself; filtering, sorting and paging happen here.
(function (ibidem) {
  "use strict";

  const MAX_ARROWS = 400;
  const NO_TEXT = { segments: [], is_complete: false, boilerplate: [], ignored: [], sha256: null };

  async function unpack(element) {
    const content = element.textContent.trim();
    if (element.dataset.encoding !== "gzip+base64") return JSON.parse(content);
    const packed = Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  const larger = (pair) => Math.max(pair.coverage_a || 0, pair.coverage_b || 0);
  const text = (value) => (value || "").toLowerCase();
  const MEASURES = {
    coverage: larger,
    a: (pair) => text(pair.a.title || pair.a.id),
    b: (pair) => text(pair.b.title || pair.b.id),
  };
  const SPREAD = { spread: (family) => family.n_documents * family.n_chars };

  function compared(one, other) {
    // Missing values come last, in either direction.
    if (typeof one === "string") return one < other ? -1 : one > other ? 1 : 0;
    return one - other;
  }

  function sorted(items, measure, isAscending) {
    const keyed = items.map((item, at) => ({ item, at, key: measure(item) }));
    const isKnown = ({ key }) => key !== null && key !== undefined;
    const known = keyed.filter(isKnown).sort((one, other) => {
      const order = compared(one.key, other.key);
      return (isAscending ? order : -order) || one.at - other.at;
    });
    return [...known, ...keyed.filter((each) => !isKnown(each))].map(({ item }) => item);
  }

  function page(items, { cursor, limit }) {
    const start = Number(cursor || 0);
    const end = start + Number(limit || 50);
    return { items: items.slice(start, end), total: items.length, next: end < items.length ? String(end) : null };
  }

  // The words of a search, quoted ones together, as in the app.
  const wordsOf = (search) =>
    text(search)
      .split('"')
      .flatMap((part, at) => (at % 2 ? [part.trim().replace(/\s+/g, " ")] : part.split(/\s+/)))
      .filter(Boolean);
  const joined = (parts) =>
    text(
      parts
        .filter(Boolean)
        .join("\n")
        .replace(/[^\S\n]+|\n(?=.)/g, " "),
    );
  // One or two letters occur in every text, so they are looked for in names only; in Chinese they are a word.
  const isShort = (word) => word.length < 3 && /^[ -~]*$/.test(word);
  const containsAll = (haystack, words) => words.every((word) => haystack.includes(word));

  class Embedded {
    constructor(data) {
      this.isApp = false;
      this.data = data;
      this.pairsByNumber = new Map(data.pairs.map((pair) => [pair.pair, pair]));
      this.documentsByNumber = new Map(data.documents.map((one) => [one.document, one]));
      this.haystacks = new Map();
      this.familyNumbers = new Set(data.families.map((each) => each.family.family));
    }

    // Whether a view can be opened here: a report contains only some pairs, documents and families.
    holds(view, number) {
      if (view === "pair") return this.pairsByNumber.has(number);
      return view === "family" ? this.familyNumbers.has(number) : this.documentsByNumber.has(number);
    }

    // The error for something that is not in the report: left out to keep it small, or unknown.
    notIncluded(one, several, which) {
      const { shown, totals } = this.data.summary;
      const isCut = shown[several] < totals[several];
      const count = isCut
        ? `${ibidem.number(shown[several])} of ${ibidem.number(totals[several])}`
        : ibidem.number(shown[several]);
      const next = `It has ${count} ${several}${isCut ? which : ""}.`;
      return ibidem.problem(`This report does not include that ${one}.`, next, 404);
    }

    // How many documents in the pairs of this report have no text in it.
    missingTexts() {
      const needed = new Set(this.data.pairs.flatMap((pair) => [pair.a.document, pair.b.document]));
      return [...needed].filter((one) => !(this.data.texts[one] || NO_TEXT).segments.length).length;
    }

    static async open(element) {
      return new Embedded(await unpack(element));
    }

    async summary() {
      return this.data.summary;
    }
    async front() {
      return this.data.front;
    }
    async stories(paging) {
      return page(paging.folded ? this.data.folded : this.data.stories, paging);
    }

    // The embedded pairs that match the filters, in the bins of all pairs; each distribution ignores its own cut-off.
    async distributions(filters) {
      const counted = {};
      for (const [measure, { edges }] of Object.entries(this.data.distributions)) {
        const counts = edges.slice(1).map(() => 0);
        for (const pair of this.kept({ ...filters, [`min_${measure}`]: null })) {
          const value = measure === "coverage" ? larger(pair) : pair[measure];
          let bin = edges.findIndex((edge) => edge > value) - 1;
          if (bin < -1 || value >= edges[edges.length - 1]) bin = counts.length - 1;
          counts[Math.max(0, bin)] += 1;
        }
        counted[measure] = { edges, counts };
      }
      return counted;
    }

    // The names of both sides and the text of the passages, made at the first search.
    haystack(pair) {
      let found = this.haystacks.get(pair.pair);
      if (found === undefined) {
        const sides = [pair.a, pair.b].flatMap((side) => [side.id, side.title, side.group]);
        const listed = (this.data.passages[pair.pair] || { passages: [] }).passages;
        const quoted = ["a", "b"].flatMap((side) => {
          const body = this.data.texts[pair[side].document];
          return body ? listed.map((one) => ibidem.slice(body, one[`${side}_start`], one[`${side}_end`])) : [];
        });
        found = { names: joined(sides), all: joined([...sides, ...quoted]) };
        this.haystacks.set(pair.pair, found);
      }
      return found;
    }

    kept(filters) {
      const group = text(filters.group);
      const words = wordsOf(filters.search);
      return this.data.pairs.filter(
        (pair) =>
          !(pair.similarity < (filters.min_similarity || 0)) &&
          larger(pair) >= (filters.min_coverage || 0) &&
          pair.longest >= (filters.min_longest || 0) &&
          (!filters.kind || pair.kind === filters.kind) &&
          (!group || text(pair.a.group) === group || text(pair.b.group) === group) &&
          (!filters.across || !pair.a.group || pair.a.group !== pair.b.group) &&
          (!filters.year || pair.year === Number(filters.year)) &&
          (!filters.verdict || (pair.verdict || "none") === filters.verdict) &&
          (ibidem.isMissing(filters.document) || [pair.a.document, pair.b.document].includes(Number(filters.document))) &&
          words.every((word) => this.haystack(pair)[isShort(word) ? "names" : "all"].includes(word)),
      );
    }

    async pairs(filters) {
      let items = this.kept(filters);
      const { sort } = filters;
      if (sort && sort !== "interest") {
        const order = filters.order || (sort === "a" || sort === "b" ? "asc" : "desc");
        items = sorted(items, MEASURES[sort] || ((pair) => pair[sort]), order === "asc");
      } else if (filters.order === "asc") {
        items = [...items].reverse();
      }
      return page(items, filters);
    }

    async flow(filters, limit) {
      const items = sorted(this.kept(filters), (pair) => pair.shared, false);
      return { items: items.slice(0, limit || MAX_ARROWS), total: items.length };
    }

    // How many of the embedded pairs have each group, kind, year and verdict.
    async facets() {
      const counts = { group: new Map(), kind: new Map(), year: new Map(), verdict: new Map() };
      const count = (which, value) => counts[which].set(value, (counts[which].get(value) || 0) + 1);
      for (const pair of this.data.pairs) {
        new Set([pair.a.group, pair.b.group].filter(Boolean)).forEach((group) => count("group", group));
        if (!ibidem.isMissing(pair.year)) count("year", pair.year);
        count("kind", pair.kind);
        count("verdict", pair.verdict || "none");
      }
      const listed = (which) => [...counts[which]].map(([value, n_pairs]) => ({ value, n_pairs }));
      return {
        group: sorted(listed("group"), (each) => each.n_pairs, false),
        kind: sorted(listed("kind"), (each) => each.n_pairs, false),
        year: sorted(listed("year"), (each) => each.value, true),
        verdict: sorted(listed("verdict"), (each) => each.value, true),
      };
    }

    textOf(document) {
      return this.data.texts[document.document] || { ...document, ...NO_TEXT };
    }

    async pair(number) {
      const pair = this.pairsByNumber.get(number);
      if (!pair) throw this.notIncluded("pair", "pairs", ", the strongest matches");
      const listed = this.data.passages[number] || { passages: [], n_passages: pair.n_passages };
      return { pair, ...listed, a: this.textOf(pair.a), b: this.textOf(pair.b) };
    }

    async documents(filters) {
      const words = wordsOf(filters.search);
      let items = this.data.documents.filter(
        (one) =>
          (!filters.group || text(one.group) === text(filters.group)) &&
          (!words.length || containsAll(joined([one.id, one.title, one.group]), words)),
      );
      const sort = filters.sort || "reused_share";
      const order = filters.order || (sort === "id" || sort === "time" ? "asc" : "desc");
      items = sorted(items, sort === "id" ? (one) => text(ibidem.named(one)) : (one) => one[sort], order === "asc");
      return page(items, filters);
    }

    async document(number) {
      const document = this.documentsByNumber.get(number);
      if (!document) throw this.notIncluded("document", "documents", ", those in its pairs");
      const pairs = this.data.pairs.filter((pair) => pair.a.document === number || pair.b.document === number);
      return {
        document,
        text: this.textOf(document),
        shades: this.data.shades[number] || [],
        pairs: sorted(pairs, (pair) => pair.shared, false).slice(0, 100),
        n_pairs: document.n_pairs,
      };
    }

    async families(filters) {
      const words = wordsOf(filters.search);
      const wordings = (each) => each.variants.map((variant) => variant.text);
      const isMatch = (each) => containsAll(joined([each.family.excerpt, ...wordings(each)]), words);
      let items = this.data.families.filter((each) => !words.length || isMatch(each)).map((each) => each.family);
      const sort = filters.sort || "spread";
      const order = filters.order || (sort === "first_time" ? "asc" : "desc");
      items = sorted(items, SPREAD[sort] || ((one) => one[sort]), order === "asc");
      return page(items, filters);
    }

    async family(number) {
      const found = this.data.families.find((each) => each.family.family === number);
      if (!found) throw this.notIncluded("family", "families", ", the most widespread ones");
      return found;
    }

    async skipped() {
      return { items: this.data.skipped || [], total: this.data.summary.totals.skipped || 0, next: null };
    }
  }

  Object.assign(ibidem, { Embedded });
})(window.ibidem);
