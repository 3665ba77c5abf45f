// A collation: the wordings of a family as one base text, folded open where they differ, with who reads what; when each wording
// was first seen; and which may come from which.
(function (ibidem) {
  "use strict";

  const { h, svg, link, number, many, name, origin } = ibidem;
  const UNITS = [
    [60e3, "1 min"],
    [3600e3, "1 h"],
    [6 * 3600e3, "6 h"],
    [86400e3, "1 day"],
    [3 * 86400e3, "3 days"],
    [7 * 86400e3, "1 week"],
    [30 * 86400e3, "1 month"],
    [365 * 86400e3, "1 year"],
    [3650 * 86400e3, "10 years"],
  ];
  const MOST_NAMED = 4;

  const shortened = (name_) => (name_.length > 40 ? `${name_.slice(0, 40)}…` : name_);
  const timeOf = (member) => (member.time ? new Date(member.time).getTime() : null);
  const earliest = (variant) =>
    variant.members.reduce((least, member) => {
      const moment = timeOf(member);
      return moment === null || (least !== null && least <= moment) ? least : moment;
    }, null);

  // Returns places of the base where wordings differ, in order, without overlap: { start, end, readings }, each reading with its
  // words and the numbers of the wordings that have it. Edits that overlap are one place.
  function placesOf(variants) {
    const edits = variants.flatMap((variant, at) => variant.edits.map((edit) => ({ at, edit })));
    edits.sort((one, other) => one.edit[0] - other.edit[0] || one.edit[1] - other.edit[1]);
    const places = [];
    for (const { at, edit } of edits) {
      let place = places[places.length - 1];
      const isSame = place && (edit[0] < place.end || (edit[0] === place.start && edit[1] === place.end));
      if (!isSame) {
        place = { start: edit[0], end: edit[1], edits: new Map() };
        places.push(place);
      }
      place.end = Math.max(place.end, edit[1]);
      if (!place.edits.has(at)) place.edits.set(at, []);
      place.edits.get(at).push(edit);
    }
    return places.map(({ start, end, edits: own }) => {
      const readings = new Map();
      for (const [at, some] of own) {
        const words = reading(variants, at, start, end, some);
        if (!readings.has(words)) readings.set(words, []);
        readings.get(words).push(at);
      }
      return { start, end, readings: [...readings].map(([words, wordings]) => ({ words, wordings })) };
    });
  }

  // What a wording has at a place of the base: its own words where it differs, those of the base between.
  function reading(variants, at, start, end, edits) {
    const whole = (text, from, to) => ibidem.slice({ segments: [{ start: 0, text }] }, from, to);
    let words = "";
    let reached = start;
    for (const [from, to, ownFrom, ownTo] of edits) {
      words += whole(variants[0].text, reached, from) + whole(variants[at].text, ownFrom, ownTo);
      reached = to;
    }
    return (words + whole(variants[0].text, reached, end)).trim();
  }

  const witness = (variant) => {
    const groups = [...new Set(variant.members.map((member) => member.group || ibidem.named(member)))];
    const more = groups.length - MOST_NAMED;
    return [
      groups.slice(0, MOST_NAMED).map((each, at) => [at ? ", " : "", h("bdi", { title: each }, shortened(each))]),
      more > 0 && ` and ${number(more)} more`,
    ];
  };

  function witnesses(variants, wordings) {
    const more = wordings.length - MOST_NAMED;
    return [
      wordings.slice(0, MOST_NAMED).map((each, k) => [k ? "; " : "", `${each + 1}: `, witness(variants[each])]),
      more > 0 && `; and ${many(more, "more wording")}`,
    ];
  }

  // The base text with a button at every place where wordings differ, and beside it who reads what there.
  function apparatus(variants) {
    const places = placesOf(variants);
    const rows = places.map((place, at) => {
      const lemma = ibidem.slice({ segments: [{ start: 0, text: variants[0].text }] }, place.start, place.end).trim();
      const differing = new Set(place.readings.flatMap(({ wordings }) => wordings));
      const same = variants.map((_, each) => each).filter((each) => !differing.has(each) && variants[each].is_compared);
      return h(
        "li",
        { id: `place-${at}`, tabindex: "-1" },
        h("span", { class: "place-number" }, String(at + 1)),
        h(
          "dl",
          null,
          h("dt", { lang: "", dir: "auto" }, lemma ? h("span", { class: "lemma" }, lemma) : h("span", { class: "own" }, "nothing")),
          h("dd", null, witnesses(variants, same)),
          place.readings.map(({ words, wordings }) => [
            h("dt", { lang: "", dir: "auto" }, words ? h("ins", null, words) : h("span", { class: "own" }, "left out")),
            h("dd", null, witnesses(variants, wordings)),
          ]),
        ),
      );
    });
    const list = h("div", { class: "readings", tabindex: "0", role: "region", "aria-label": "Readings" }, h("ol", null, rows));
    let before = null;
    const choose = (at) => {
      if (before !== null) rows[before].classList.remove("chosen");
      before = at;
      rows[at].classList.add("chosen");
      list.scrollTop += rows[at].getBoundingClientRect().top - list.getBoundingClientRect().top - 8;
    };
    const text = h(
      "div",
      { class: "text base", lang: "", dir: "auto" },
      withPlaces(variants[0].text, places, (at, words) =>
        // Not a button: browsers do not break its words over lines.
        h(
          "span",
          {
            role: "button",
            tabindex: "0",
            class: "variation",
            on: {
              click: () => choose(at),
              keydown: (event) => {
                if (event.key !== "Enter" && event.key !== " ") return;
                event.preventDefault();
                choose(at);
              },
            },
          },
          words || "‸",
          h("sup", null, String(at + 1)),
          ibidem.hidden(` ${many(places[at].readings.length, "other reading")}`),
        ),
      ),
    );
    return { text, list: places.length ? list : null, nPlaces: places.length };
  }

  function withPlaces(text, places, made) {
    const whole = { segments: [{ start: 0, text }] };
    const nodes = [];
    let written = 0;
    places.forEach((place, at) => {
      nodes.push(ibidem.slice(whole, written, place.start), made(at, ibidem.slice(whole, place.start, place.end)));
      written = place.end;
    });
    return [...nodes, ibidem.slice(whole, written, ibidem.nCharsOf(text))];
  }

  // When the text was seen, on a logarithmic axis of the time since it was first seen; null unless times differ.
  function strip(variants) {
    const seen = variants.flatMap((variant, at) =>
      variant.members.filter((member) => member.time).map((member) => ({ member, at, moment: timeOf(member) })),
    );
    const first = Math.min(...seen.map(({ moment }) => moment));
    const last = Math.max(...seen.map(({ moment }) => moment));
    if (!(last > first)) return null;
    const [width, height] = [720, 74];
    const least = 30e3;
    const along = (since) => (since <= least ? 14 : 30 + (Math.log(since / least) / Math.log((last - first) / least || 1)) * (width - 60));
    const ticks = UNITS.filter(([since]) => since > least && since < (last - first) * 1.02);
    const shown = ticks.filter((_, at) => ticks.length <= 6 || (ticks.length - 1 - at) % 2 === 0);
    const stacked = new Map();
    const dots = seen.map(({ member, at, moment }) => {
      const x = along(moment - first);
      const level = stacked.get(Math.round(x / 9)) || 0;
      stacked.set(Math.round(x / 9), level + 1);
      const y = 44 - Math.min(level, 4) * 9;
      return svg(
        "circle",
        { class: at ? "edited" : "same", cx: x.toFixed(1), cy: String(y), r: "4.5" },
        svg("title", null, `${ibidem.named(member)}, ${ibidem.time(member.time)}: wording ${at + 1}`),
      );
    });
    return h(
      "figure",
      { class: "strip" },
      svg(
        "svg",
        { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `seen from ${ibidem.time(new Date(first).toISOString())} to ${ibidem.time(new Date(last).toISOString())}` },
        svg("line", { class: "axis", x1: "8", x2: String(width - 20), y1: "52", y2: "52" }),
        svg("text", { x: "14", y: "68" }, "first"),
        shown.map(([since, label]) => [
          svg("line", { class: "tick", x1: along(since).toFixed(1), x2: along(since).toFixed(1), y1: "6", y2: "52" }),
          svg("text", { x: along(since).toFixed(1), y: "68" }, label),
        ]),
        dots,
      ),
    );
  }

  function memberRows(members, source) {
    const inOrder = [...members].sort((one, other) => String(one.time || "9999").localeCompare(String(other.time || "9999")));
    return h(
      "ol",
      { class: "members" },
      inOrder.map((member) =>
        h(
          "li",
          null,
          source.holds("document", member.document) ? link(`#document=${member.document}`, name(member)) : name(member),
          " ",
          origin(member),
          h("span", { class: "quiet-text" }, ` · characters ${number(member.start)}–${number(member.end)}`),
        ),
      ),
    );
  }

  // Wordings below the earlier one they differ from least; without known order, a plain list.
  function tree(variants, source) {
    const children = variants.map(() => []);
    const roots = [];
    variants.forEach((variant, at) => {
      if (ibidem.isMissing(variant.parent)) roots.push(at);
      else children[variant.parent].push(at);
    });
    const before = (one, other) => (earliest(variants[one]) ?? Infinity) - (earliest(variants[other]) ?? Infinity) || one - other;
    const entry = (at) => {
      const variant = variants[at];
      const moment = earliest(variant);
      const away = ibidem.isMissing(variant.parent)
        ? ""
        : ` · ${many(variant.n_differences, "difference")} from wording ${variant.parent + 1}`;
      return h(
        "li",
        null,
        h(
          "details",
          { open: at === 0 },
          h(
            "summary",
            null,
            h("strong", null, `Wording ${at + 1}`),
            at === 0 && h("span", { class: "tag" }, "base"),
            h("span", { class: "quiet-text" }, ` ${many(variant.n_places, "place")}: `),
            witness(variant),
            h("span", { class: "quiet-text" }, `${moment === null ? "" : ` · ${ibidem.time(new Date(moment).toISOString())}`}${away}`),
          ),
          variant.text
            ? h("blockquote", { class: "text", lang: "", dir: "auto" }, ibidem.underlined(variant.text, variant.changes, "ins"))
            : h("p", { class: "nothing" }, "The text is not available."),
          memberRows(variant.members, source),
        ),
        children[at].length > 0 && h("ul", null, children[at].sort(before).map(entry)),
      );
    };
    return h("ul", { class: "descent" }, roots.sort(before).map(entry));
  }

  // Returns { element, nPlaces } of the wordings of a family.
  function collation(variants, source) {
    const made = variants[0].text ? apparatus(variants) : { text: null, list: null, nPlaces: 0 };
    const isOrdered = variants.some((variant) => !ibidem.isMissing(variant.parent));
    const nUncompared = variants.filter((variant) => !variant.is_compared).length;
    const element = h(
      "div",
      { class: "collation" },
      strip(variants),
      h(
        "div",
        { class: made.list ? "collated" : null },
        h("section", { "aria-label": "Base text" }, made.list && h("h2", null, "Wording 1"), made.text),
        made.list && h("section", null, h("h2", null, "Where wordings differ"), made.list),
      ),
      nUncompared > 0 && h("p", { class: "notice" }, `${many(nUncompared, "long wording")} could not be compared.`),
      h(
        "section",
        null,
        h("h2", null, variants.length === 1 ? "Places" : isOrdered ? "Likely descent" : "Wordings"),
        isOrdered &&
          h("p", { class: "about" }, "Each wording is listed under the earlier wording it is closest to. Wordings outside this collection are unknown."),
        tree(variants, source),
      ),
    );
    return { element, nPlaces: made.nPlaces };
  }

  Object.assign(ibidem, { collation: Object.assign(collation, { placesOf }) });
})(window.ibidem);
