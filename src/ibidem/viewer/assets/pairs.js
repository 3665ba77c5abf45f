// The view of all pairs: search, facets, cut-offs, table.
(function (ibidem) {
  "use strict";

  const { h, put, button, number, many, later } = ibidem;
  const NAMES = { group: "Outlet or group", kind: "Kind", year: "Year", verdict: "Verdict" };
  const MAX_LISTED = 12;
  // The server lists at most this many groups; if there are more, a group not listed may still exist.
  const MAX_GROUPS = 200;
  const NOT_JUDGED = "no verdict yet";
  const ACROSS = "between different outlets";

  function examples(summary, hasVerdicts) {
    const isCluster = ibidem.isCluster(summary);
    const { group } = (summary.facets.groups || [])[0] || {};
    return [
      ["flood warning", isCluster ? "both words, in a name or an id" : "both words, in a name, an id, a group or a passage"],
      ['"flood warning"', "exactly this phrase"],
      ["coverage>50%", "at least half of one document is shared"],
      !isCluster && ["longest>=200", "a passage of at least 200 characters"],
      ["similarity>0.9", isCluster ? "pairs at least this alike" : "passages at least this alike"],
      !isCluster && ["kind:near", "exact (word for word), near (with changes) or quote (a few sentences)"],
      group && [`group:"${group}"`, "one document is from this group (case does not matter)"],
      summary.has_times && ["year:2031", "the later document is from this year"],
      hasVerdicts && ["verdict:confirmed", "also rejected, unsure, or none (no verdict yet)"],
    ].filter(Boolean);
  }

  function help(summary, hasVerdicts) {
    return h(
      "details",
      { class: "search-help" },
      h("summary", null, "Search help"),
      h(
        "dl",
        null,
        examples(summary, hasVerdicts).map(([example, says]) => [h("dt", null, h("code", null, example)), h("dd", null, says)]),
      ),
      h("p", null, "You can combine conditions, with or without words. Limits include the value itself."),
    );
  }

  // The box keeps what was typed; its conditions are filters like any other until they are deleted from it.
  function searchBox(known) {
    let fromBox = [];
    const unclear = h("p", { class: "unclear", role: "status", hidden: true });
    const input = h("input", {
      type: "search",
      id: "search",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: `words, or coverage>50% ${known.example}`,
    });
    const apply = () => {
      const { conditions, words, misunderstood } = ibidem.conditionsOf(input.value, known);
      unclear.hidden = !misunderstood.length;
      put(
        unclear,
        misunderstood.length > 0 && "Not understood: ",
        misunderstood.map(({ text, hint }, at) => [at ? "; " : "", h("code", null, text), ` (${hint})`]),
      );
      const changes = { search: words || null };
      fromBox.forEach((key) => {
        changes[key] = null;
      });
      fromBox = Object.keys(conditions);
      ibidem.setFilters({ ...changes, ...conditions });
    };
    const soon = later(apply, 200);
    input.addEventListener("input", soon);
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") apply();
    });
    input.value = ibidem.state.filters.search || "";
    return {
      input,
      unclear,
      clear() {
        fromBox = [];
        input.value = "";
        unclear.hidden = true;
      },
    };
  }

  // Documents are filtered by number; their names come from the pairs that are found.
  const documentNames = new Map();
  const learn = (items) =>
    items
      .slice(0, 1)
      .forEach((pair) => [pair.a, pair.b].forEach((side) => documentNames.set(side.document, ibidem.named(side))));

  const shownValue = (key, value) => {
    if (key === "min_coverage") return `coverage at least ${ibidem.percent(value)}`;
    if (key === "min_similarity") return `similarity at least ${ibidem.similarity(value)}`;
    if (key === "min_longest") return `longest passage at least ${number(Math.round(value))}`;
    if (key === "document") return `document: ${documentNames.get(value) || value}`;
    if (key === "across") return ACROSS;
    if (key === "verdict" && value === "none") return NOT_JUDGED;
    return `${key}: ${value}`;
  };

  // Hides pairs within one outlet: mostly what a newspaper prints under every article.
  function acrossToggle() {
    const toggle = button(`Only ${ACROSS}`, () => ibidem.setFilters({ across: ibidem.state.filters.across ? null : "1" }), {
      class: "across",
      "data-action": "across",
    });
    const show = () => toggle.setAttribute("aria-pressed", String(Boolean(ibidem.state.filters.across)));
    show();
    return { element: toggle, show };
  }

  // The active filters, each with a button to remove it.
  function activeFilters(box) {
    const place = h("div", { class: "active", role: "group", "aria-label": "Active filters" });
    const show = () => {
      const active = Object.entries(ibidem.state.filters).filter(([key]) => key !== "sort" && key !== "order");
      put(
        place,
        active.map(([key, value]) =>
          button(
            [shownValue(key, value), h("span", { "aria-hidden": "true" }, " ×")],
            () => {
              if (box) box.clear();
              ibidem.setFilters({ [key]: null });
              // The chip is gone: focus the next one, or the search box.
              (place.querySelector("button") || (box && box.input) || document.getElementById("main")).focus();
            },
            { class: "chip", "aria-label": `remove filter: ${shownValue(key, value)}` },
          ),
        ),
        active.length > 1 &&
          button(
            "clear all",
            () => {
              if (box) box.clear();
              ibidem.setFilters(Object.fromEntries(active.map(([key]) => [key, null])));
            },
            { class: "quiet" },
          ),
      );
      place.hidden = !active.length;
    };
    return { place, show };
  }

  function facet(key, items, about) {
    const listed = h("ul", null);
    const choose = (value) => ibidem.setFilters({ [key]: String(ibidem.state.filters[key]) === String(value) ? null : value });
    let isOpen = false;
    // Choosing a button does not rebuild the list, so the focus stays.
    const show = () =>
      listed.querySelectorAll("[data-value]").forEach((each) => {
        const chosen = ibidem.shown(ibidem.state.filters[key] ?? "").toLowerCase();
        each.setAttribute("aria-pressed", String(each.dataset.value.toLowerCase() === chosen));
      });
    const build = () => {
      const few = isOpen ? items : items.slice(0, MAX_LISTED);
      const more =
        items.length > MAX_LISTED &&
        button(
          isOpen ? "fewer" : `all ${number(items.length)}`,
          () => {
            isOpen = !isOpen;
            build();
            listed.querySelector("button.quiet").focus();
          },
          { class: "quiet" },
        );
      put(
        listed,
        few.map(({ value, n_pairs, label }) => {
          const says = label || String(value);
          const count = h("span", { class: "count" }, number(n_pairs));
          const inside = [h("bdi", null, says), " ", count];
          return h(
            "li",
            null,
            button(inside, () => choose(value), { "data-value": String(value), title: says }),
          );
        }),
        more && h("li", null, more),
      );
      show();
    };
    build();
    return { element: h("section", null, h("h2", null, NAMES[key]), about && h("p", { class: "about" }, about), listed), show };
  }

  // Verdicts, and the pairs without one; null if there are none and none can be given.
  function verdictFacet(found, nPairs, mayJudge) {
    const judged = found.filter((each) => each.value !== "none");
    const nJudged = judged.reduce((sum, each) => sum + each.n_pairs, 0);
    if (!nJudged && !mayJudge) return null;
    const open = { value: "none", label: NOT_JUDGED, n_pairs: Math.max(0, nPairs - nJudged) };
    return facet("verdict", [open, ...judged], `${number(nJudged)} of ${many(nPairs, "pair")} have a verdict`);
  }

  function facets(found, source, summary) {
    const toggle = summary.has_groups ? acrossToggle() : null;
    const nPairs = source.isApp ? summary.totals.pairs : summary.shown.pairs;
    const parts = Object.keys(NAMES)
      .map((key) => {
        const items = found[key] || [];
        if (key === "verdict") return verdictFacet(items, nPairs, source.isApp && summary.may_write);
        return items.length > 1 && !(key === "kind" && ibidem.isCluster(summary)) ? facet(key, items) : null;
      })
      .filter(Boolean);
    const listed = parts.length
      ? h(
          "details",
          { class: "facets", open: window.innerWidth >= 1440 },
          h("summary", null, "Narrow down"),
          h(
            "div",
            { class: "facet-list" },
            parts.map((part) => part.element),
          ),
        )
      : null;
    return {
      element: toggle || listed ? h("div", { class: "narrowing" }, toggle && toggle.element, listed) : null,
      show: () => [toggle, ...parts].filter(Boolean).forEach((part) => part.show()),
    };
  }

  function downloads(source) {
    const place = h("p", { class: "downloads" });
    const show = () =>
      put(
        place,
        "Download as ",
        ["csv", "json"].flatMap((kind, at) => [
          at ? " or " : "",
          h("a", { href: source.download("pairs", kind, ibidem.state.filters), download: `pairs.${kind}` }, kind.toUpperCase()),
        ]),
      );
    return { place, show };
  }

  async function show(main, { source, summary }) {
    const found = await source.facets();
    const hasVerdicts = (source.isApp && summary.may_write) || ibidem.isJudged(summary);
    const groups = found.group || [];
    const box = searchBox({
      groups: groups.length < MAX_GROUPS ? groups.map((each) => String(each.value)) : [],
      hasVerdicts,
      example: ibidem.isCluster(summary) ? "similarity>0.9" : "kind:near",
    });
    const active = activeFilters(box);
    const table = new ibidem.PairTable(source, summary);
    const narrowing = facets(found, source, summary);
    const cut = ibidem.cutoffs(source, summary);
    const saved = source.isApp ? downloads(source) : null;
    const count = h("p", { class: "remaining", role: "status" });
    const trouble = h("div", null);
    const cutting = h("details", { class: "cutting" }, h("summary", null, "Distributions and cut-offs"), cut.element);
    cutting.addEventListener("toggle", () => {
      if (cutting.open) cut.draw();
    });
    put(
      main,
      h(
        "header",
        { class: "head" },
        h("h1", null, "Pairs of documents"),
        h(
          "p",
          { class: "lead" },
          ibidem.isCluster(summary) ? "Every pair of similar documents" : "Every pair that shares a passage",
          ", strongest matches first. Click a column to sort.",
        ),
      ),
      h(
        "div",
        { class: "searching" },
        h("label", { for: "search" }, "Search"),
        box.input,
        box.unclear,
        help(summary, hasVerdicts),
      ),
      cutting,
      active.place,
      h(
        "div",
        { class: narrowing.element ? "with-facets" : null },
        narrowing.element,
        h("div", { class: "results" }, trouble, h("div", { class: "above" }, count, saved && saved.place), table.element),
      ),
    );
    const refresh = async () => {
      active.show();
      narrowing.show();
      if (saved) saved.show();
      const answer = await table.refresh();
      trouble.replaceChildren();
      if (!answer) return;
      count.textContent = ibidem.remaining(answer.total, summary);
      if (!ibidem.isMissing(ibidem.state.filters.document) && !documentNames.has(ibidem.state.filters.document)) {
        learn(answer.items);
        active.show();
      }
    };
    // Below the search box, not instead of it: perhaps only its content has to be changed.
    const failed = (error) => ibidem.showProblem(trouble, error);
    const listen = () => refresh().catch(failed);
    ibidem.state.listeners.add(listen);
    await refresh();
    return () => {
      ibidem.state.listeners.delete(listen);
      table.close();
      cut.close();
    };
  }

  ibidem.viewer = Object.assign(ibidem.viewer || {}, { pairs: { title: "Pairs", show } });
  Object.assign(ibidem, { activeFilters, acrossToggle });
})(window.ibidem);
