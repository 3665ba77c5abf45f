// The table of pairs: sortable, loaded page by page, usable with the arrow keys.
(function (ibidem) {
  "use strict";

  const { h, put, button, hidden, number, bar, name, origin } = ibidem;
  const PAGE = 100;

  const sideCell = (side) => h("div", { class: "side" }, name(side), origin(side));
  const kindCell = (pair) => h("span", { class: `kind ${pair.kind}`, title: ibidem.KINDS[pair.kind] }, pair.kind);
  const arrow = (pair) =>
    pair.direction === "a_to_b" ? ["→", "earlier, to"] : pair.direction === "b_to_a" ? ["←", "later, from"] : ["·", "and"];

  function columns(summary, isApp) {
    const all = [
      { key: "a", label: "Document", sort: "a", class: "wide", cell: (pair) => sideCell(pair.a) },
      {
        key: "direction",
        label: "Order",
        class: "arrow",
        cell: (pair) => [h("span", { "aria-hidden": "true" }, arrow(pair)[0]), hidden(arrow(pair)[1])],
      },
      { key: "b", label: "Other document", sort: "b", class: "wide", cell: (pair) => sideCell(pair.b) },
      {
        key: "snippet",
        label: "Words",
        class: "snippet",
        cell: (pair) => (pair.snippet ? h("span", { class: "excerpt", lang: "", dir: "auto" }, pair.snippet) : "–"),
      },
      {
        key: "coverage",
        label: "Coverage",
        sort: "coverage",
        class: "coverage",
        cell: (pair) => h("div", { class: "both" }, bar(pair.coverage_a), bar(pair.coverage_b)),
      },
      { key: "longest", label: "Longest", sort: "longest", class: "figure", cell: (pair) => number(pair.longest) },
      { key: "shared", label: "Shared", sort: "shared", class: "figure", cell: (pair) => number(pair.shared) },
      {
        key: "similarity",
        label: "Similarity",
        sort: "similarity",
        class: "figure",
        cell: (pair) => ibidem.similarity(pair.similarity),
      },
      { key: "days", label: "Apart", sort: "days", class: "figure", cell: (pair) => ibidem.apart(pair.days) },
      { key: "kind", label: "Kind", cell: kindCell },
      { key: "n_passages", label: "Passages", sort: "n_passages", class: "figure", cell: (pair) => number(pair.n_passages) },
      {
        key: "verdict",
        label: "Verdict",
        cell: (pair) => (pair.verdict ? h("span", { class: `verdict ${pair.verdict}` }, pair.verdict) : "–"),
      },
    ];
    const left = new Set();
    if (!summary.has_times) left.add("days").add("direction");
    if (!isApp && !ibidem.isJudged(summary)) left.add("verdict");
    if (ibidem.isCluster(summary)) left.add("longest").add("n_passages").add("kind").add("snippet");
    if (!summary.has_texts) left.add("snippet");
    return all.filter((column) => !left.has(column.key));
  }

  // The order of a column when it is first chosen.
  const firstOrder = (sort) => (sort === "a" || sort === "b" ? "asc" : "desc");

  class PairTable {
    // `settings`: { isBrief } for a few rows without sorting; `limit` how many.
    constructor(source, summary, settings = {}) {
      this.source = source;
      this.settings = settings;
      this.columns = columns(summary, source.isApp);
      this.next = null;
      this.round = 0;
      this.body = h("tbody", { role: "rowgroup" });
      this.head = h("thead", { role: "rowgroup" });
      this.more = button("Show more pairs", () => this.load(), { class: "more", hidden: true });
      this.empty = h("p", { class: "nothing", hidden: true }, "No pair matches. Lower a cut-off or remove a filter.");
      this.element = h(
        "div",
        { class: "pairs" },
        h("table", { role: "table", class: "list", "aria-label": "Pairs of documents" }, this.head, this.body),
        this.empty,
        this.more,
      );
      this.body.addEventListener("keydown", (event) => this.walk(event));
      this.body.addEventListener("click", (event) => this.open(event));
      this.watcher = new IntersectionObserver(
        (seen) => {
          if (seen.some((each) => each.isIntersecting) && this.next && !this.settings.isBrief) this.load();
        },
        { rootMargin: "600px" },
      );
      this.watcher.observe(this.more);
    }

    close() {
      this.watcher.disconnect();
    }

    heads() {
      const { sort, order } = ibidem.state.filters;
      return h(
        "tr",
        { role: "row" },
        this.columns.map((column) => {
          const isSorted = column.sort && sort === column.sort;
          const way = isSorted ? order || firstOrder(sort) : null;
          const label = column.key === "direction" ? hidden(column.label) : column.label;
          const inside =
            !column.sort || this.settings.isBrief
              ? label
              : button([label, ibidem.sortSign(way)], () => this.sort(column.sort), { class: "sort", "data-key": column.sort });
          return h(
            "th",
            {
              scope: "col",
              role: "columnheader",
              class: column.class,
              "aria-sort": way ? (way === "asc" ? "ascending" : "descending") : null,
            },
            inside,
          );
        }),
      );
    }

    // A column is sorted one way, then the other; then the pairs are sorted by interest again.
    sort(key) {
      this.focused = key; // the column heads are made again, and the chosen one should keep the focus
      const { sort, order } = ibidem.state.filters;
      const first = firstOrder(key);
      if (sort !== key) ibidem.setFilters({ sort: key, order: null });
      else if (!order || order === first) ibidem.setFilters({ sort: key, order: first === "asc" ? "desc" : "asc" });
      else ibidem.setFilters({ sort: null, order: null });
    }

    row(pair, isFirst) {
      const cells = this.columns.map((column, at) => {
        const content = column.cell(pair);
        const inside = at === 0 ? h("a", { href: `#pair=${pair.pair}`, class: "open", tabindex: "-1" }, content) : content;
        return h("td", { role: "cell", class: column.class, "data-label": column.label }, inside);
      });
      return h(
        "tr",
        {
          role: "row",
          tabindex: isFirst ? "0" : "-1",
          "data-pair": String(pair.pair),
        },
        cells,
      );
    }

    // Loads the first page again; the answer to an outdated request is not shown.
    async refresh() {
      this.round += 1;
      const { round } = this;
      const answer = await this.ask(null);
      if (round !== this.round) return null;
      put(this.head, this.heads());
      const again = this.focused && this.head.querySelector(`[data-key="${this.focused}"]`);
      if (again) again.focus();
      this.focused = null;
      put(
        this.body,
        answer.items.map((pair, at) => this.row(pair, at === 0)),
      );
      this.empty.hidden = answer.total > 0;
      this.took(answer);
      return answer;
    }

    ask(cursor) {
      const limit = this.settings.isBrief ? this.settings.limit : PAGE;
      return this.source.pairs({ ...ibidem.state.filters, cursor, limit });
    }

    async load() {
      if (!this.next || this.isLoading) return;
      this.isLoading = true;
      const { round } = this;
      try {
        const answer = await this.ask(this.next);
        if (round !== this.round) return;
        this.body.append(...answer.items.map((pair) => this.row(pair, false)));
        this.took(answer);
      } catch (error) {
        ibidem.announce(error.message);
      } finally {
        this.isLoading = false;
      }
    }

    // Remembers what is listed, so that a comparison knows the previous and the next pair.
    took(answer) {
      this.next = answer.next;
      if (!this.settings.isBrief) {
        const pairs = [...this.body.children].map((row) => Number(row.dataset.pair));
        ibidem.state.listed = {
          filters: JSON.stringify(ibidem.state.filters),
          pairs,
          total: answer.total,
          isAll: !answer.next,
        };
      }
      this.more.hidden = !answer.next || this.settings.isBrief;
    }

    walk(event) {
      const row = event.target.closest("tr");
      if (!row) return;
      const goals = {
        ArrowDown: row.nextElementSibling,
        ArrowUp: row.previousElementSibling,
        Home: this.body.firstElementChild,
        End: this.body.lastElementChild,
      };
      if (event.key === "Enter" && event.target === row) {
        location.hash = `#pair=${row.dataset.pair}`;
      } else if (event.key in goals) {
        event.preventDefault();
        const goal = goals[event.key];
        if (!goal) {
          const search = event.key === "ArrowUp" && document.getElementById("search");
          if (search) search.focus();
          return;
        }
        row.tabIndex = -1;
        goal.tabIndex = 0;
        goal.focus();
        goal.scrollIntoView({ block: "nearest" });
      }
    }

    // A click anywhere on a row opens it, unless it ends a text selection.
    open(event) {
      const row = event.target.closest("tr");
      if (!row || event.target.closest("a, button") || String(window.getSelection())) return;
      location.hash = `#pair=${row.dataset.pair}`;
    }
  }

  Object.assign(ibidem, { PairTable });
})(window.ibidem);
