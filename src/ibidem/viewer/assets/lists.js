// A list with search, sorting and paging: documents, families, skipped records.
(function (ibidem) {
  "use strict";

  const { h, put, button, later } = ibidem;
  const PAGE = 100;

  // `columns`: { label, cell(item), sort?, first? ("asc"|"desc"), class? }; `ask(options)` gives a page. Options are kept in
  // the address, if there is a `view`. `table` names the table to save, `none` what is said of an empty one.
  function list({ label, columns, ask, options, view, searchLabel, says, source, table, none }) {
    const current = { ...options };
    let next = null;
    let round = 0;
    const count = h("p", { class: "remaining", role: "status" });
    const head = h("thead", { role: "rowgroup" });
    const body = h("tbody", { role: "rowgroup" });
    const empty = h("p", { class: "nothing", hidden: true });
    const narrowed = h("p", { class: "narrowed", hidden: true });
    const saved = table ? ibidem.tableDownloads(source, table, () => current) : null;
    // Why a list is empty: because of the search, or because there is nothing at all.
    const why = () => {
      const searched = current.search ? [" matches “", h("bdi", null, current.search), "”"] : "";
      const group = current.group ? [" in the group ", h("bdi", null, current.group)] : "";
      if (!searched && !group) return none || "There is nothing to list.";
      return ["Nothing", searched || " is", group, ". ", button("Show all", () => showAll(), { class: "quiet" })];
    };
    const showAll = () => {
      if (search) search.value = "";
      return change({ search: null, group: null });
    };
    const more = button("Show more", () => load(), { class: "more", hidden: true });
    const row = (item) =>
      h(
        "tr",
        { role: "row" },
        columns.map((column) => h("td", { role: "cell", class: column.class, "data-label": column.label }, column.cell(item))),
      );
    const wayOf = (column) => (current.sort === column.sort ? current.order || column.first || "desc" : null);

    const heads = () =>
      h(
        "tr",
        { role: "row" },
        columns.map((column) => {
          const way = column.sort ? wayOf(column) : null;
          const sign = ibidem.sortSign(way);
          const inside = column.sort
            ? button(
                [column.label, sign],
                () => {
                  const first = column.first || "desc";
                  const again = current.sort === column.sort && wayOf(column) === first;
                  change({ sort: column.sort, order: again ? (first === "asc" ? "desc" : "asc") : null }, column.sort);
                },
                { class: "sort", "data-sort": column.sort },
              )
            : column.label;
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

    const took = (answer) => {
      next = answer.next;
      more.hidden = !next;
    };

    async function refresh(focus) {
      round += 1;
      const mine = round;
      const answer = await ask({ ...current, limit: PAGE });
      if (mine !== round) return;
      put(head, heads());
      put(body, answer.items.map(row));
      empty.hidden = answer.items.length > 0;
      if (!answer.items.length) put(empty, why());
      narrowed.hidden = !current.group;
      if (current.group) put(narrowed, "Only the group ", h("bdi", null, current.group), ". ", button("Show all", () => showAll(), { class: "quiet" }));
      count.textContent = says(answer.total);
      if (saved) saved.show();
      took(answer);
      const again = focus && head.querySelector(`[data-sort="${focus}"]`);
      if (again) again.focus();
    }

    async function load() {
      const mine = round;
      const cursor = next;
      next = null; // so that no page is requested twice
      try {
        const answer = await ask({ ...current, limit: PAGE, cursor });
        if (mine !== round) return;
        body.append(...answer.items.map(row));
        took(answer);
      } catch (error) {
        next = cursor;
        ibidem.announce(error.message);
      }
    }

    function change(changes, focus) {
      Object.assign(current, changes);
      if (view) history.replaceState(null, "", ibidem.address.write(view, null, current));
      return refresh(focus).catch((error) => ibidem.announce(error.message));
    }

    const search = searchLabel ? h("input", { type: "search", id: "search", autocomplete: "off" }) : null;
    if (search) {
      search.value = current.search || "";
      search.addEventListener(
        "input",
        later(() => change({ search: search.value || null }), 200),
      );
    }
    const watcher = new IntersectionObserver(
      (seen) => {
        if (next && seen.some((each) => each.isIntersecting)) load();
      },
      { rootMargin: "600px" },
    );
    watcher.observe(more);
    return {
      element: [
        search && h("div", { class: "searching" }, h("label", { for: "search" }, searchLabel), search),
        narrowed,
        h("div", { class: "above" }, count, saved && saved.place),
        h("table", { class: "list", role: "table", "aria-label": label }, head, body),
        empty,
        more,
      ],
      refresh,
      close: () => watcher.disconnect(),
    };
  }

  Object.assign(ibidem, { list });
})(window.ibidem);
