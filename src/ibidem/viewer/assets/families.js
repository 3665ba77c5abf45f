// Families: one text that appears in several documents, possibly with changes.
(function (ibidem) {
  "use strict";

  const { h, put, link, number, many, time } = ibidem;

  const day = (moment) => time(moment.slice(0, 10));
  const repeatMark = (family) => family.is_repeat && h("span", { class: "tag" }, "repeat group");

  function span(family) {
    if (!family.first_time) return "–";
    const [first, last] = [family.first_time, family.last_time || family.first_time].map(day);
    return first === last ? first : `${first} – ${last}`;
  }

  const COLUMNS = [
    {
      label: "Text",
      class: "wide",
      cell: (family) => [
        h(
          "a",
          { href: `#family=${family.family}`, class: "excerpt", lang: "", dir: "auto" },
          family.excerpt || `family ${family.family}`,
        ),
        repeatMark(family),
      ],
    },
    { label: "Documents", sort: "n_documents", class: "figure", cell: (family) => number(family.n_documents) },
    { label: "Places", class: "figure", cell: (family) => number(family.n_places) },
    { label: "Characters", sort: "n_chars", class: "figure", cell: (family) => number(family.n_chars) },
    { label: "Spread", sort: "spread", class: "figure", cell: (family) => number(family.n_documents * family.n_chars) },
    { label: "Groups", class: "figure", key: "groups", cell: (family) => number(family.n_groups) },
    { label: "First – last", sort: "first_time", first: "asc", key: "times", cell: span },
  ];

  async function showAll(main, { source, summary, options }) {
    const columns = COLUMNS.filter(
      (column) => (column.key !== "groups" || summary.has_groups) && (column.key !== "times" || summary.has_times),
    );
    const isCluster = ibidem.isCluster(summary);
    const [one, several] = isCluster ? ["cluster", "clusters"] : ["family", "families"];
    const all = summary.totals.families;
    const here = summary.shown ? summary.shown.families : all;
    const listed = ibidem.list({
      label: isCluster ? "Clusters of similar documents" : "Families of passages",
      columns,
      ask: (asked) => source.families(asked),
      view: "families",
      searchLabel: "Search in the text",
      options: { search: options.search, sort: options.sort || "spread", order: options.order },
      says: (total) => ibidem.ofEmbedded(many(total, one, several), here, all, "found"),
    });
    put(
      main,
      h(
        "header",
        { class: "head" },
        h("h1", null, isCluster ? "Clusters" : "Families"),
        h(
          "p",
          { class: "lead" },
          isCluster
            ? "A cluster is a set of documents that are similar to one another as a whole. "
            : "A family is one text that appears in several documents, possibly with changes. ",
          "Spread is documents times characters.",
          !isCluster && " A repeat group appears in so many places that its pairs are not listed one by one.",
        ),
      ),
      listed.element,
    );
    await listed.refresh();
    return listed.close;
  }

  async function showOne(main, { source, summary, number: familyNumber }) {
    const isCluster = ibidem.isCluster(summary);
    const answer = await source.family(familyNumber);
    const { family, variants, n_shown_places: nShown } = answer;
    const collated = ibidem.collation(variants, source);
    const title = h(
      "h1",
      { class: "excerpt", lang: "", dir: "auto" },
      family.excerpt || `${isCluster ? "Cluster" : "Family"} ${familyNumber}`,
    );
    const differing = collated.nPlaces ? `, which differ in ${many(collated.nPlaces, "place")} of the text` : "";
    const actions = ibidem.actions.bar({
      kind: "family",
      left: null,
      right: null,
      shares: [null, null],
      stretches: [],
      pair: null,
      family: answer,
      title: () => title.textContent,
      address: () => location.href,
      current: () => null,
      words: () => "",
      element: collated.element,
    });
    put(
      main,
      h(
        "header",
        { class: "head" },
        h(
          "p",
          { class: "crumbs" },
          link("#families", isCluster ? "Clusters" : "Families"),
          ` / ${isCluster ? "cluster" : "family"} ${familyNumber}`,
        ),
        title,
        repeatMark(family),
        h(
          "p",
          { class: "lead" },
          `In ${many(family.n_documents, "document")}, ${many(family.n_places, "place")}; `,
          `${many(variants.length, "wording")}${differing}; up to ${many(family.n_chars, "character")}.`,
          family.first_time && ` ${span(family)}.`,
        ),
        family.is_repeat &&
          h("p", null, "This is a repeat group: it appears in so many places that its pairs are not listed one by one."),
        answer.is_cut && h("p", null, "The text is long: only its beginning is compared and shown here."),
        nShown < family.n_places && h("p", null, `${number(nShown)} of ${number(family.n_places)} places are shown.`),
        actions,
      ),
      collated.element,
    );
    return null;
  }

  ibidem.viewer = Object.assign(ibidem.viewer || {}, {
    families: { title: "Families", titleOfDuplicates: "Clusters", show: showAll },
    family: { title: "Family", titleOfDuplicates: "Cluster", parent: "families", show: showOne },
  });
})(window.ibidem);
