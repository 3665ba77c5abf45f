// A collation: the wordings of a family as one base text, folded open where they differ, with who reads what; when each wording
// was first seen; and which may come from which.
(function (ibidem) {
  "use strict";

  const { h, svg, link, number, many, name, origin } = ibidem;
  const MOST_ROWS = 14;
  const MOST_NAMED = 4;
  const MOVED = "⇅"; // in place of words that a wording has elsewhere

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
    // Words that a wording has at another place are missing here.
    const movesOf = (variant) => (variant.moves || []).map(([from, to]) => [from, to, null, null]);
    const edits = variants.flatMap((variant, at) => [...variant.edits, ...movesOf(variant)].map((edit) => ({ at, edit })));
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
      words += whole(variants[0].text, reached, from) + (ownFrom === null ? MOVED : whole(variants[at].text, ownFrom, ownTo));
      reached = to;
    }
    return (words + whole(variants[0].text, reached, end)).trim();
  }

  function readingOf(words) {
    if (words === MOVED) return h("span", { class: "moved-mark" }, `${MOVED}\u2009moved`);
    return words ? h("ins", null, words) : h("span", { class: "own" }, "left out");
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
            h("dt", { lang: "", dir: "auto" }, readingOf(words)),
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

  // When the text was seen, on a logarithmic axis of the time since it was first seen; null unless times differ. One row for each
  // wording: dots at nearly the same time are one, as large as they are many. Drawn in pixels, again for each width.
  function strip(variants) {
    const seen = variants.flatMap((variant, at) =>
      variant.members.filter((member) => member.time).map((member) => ({ member, at, moment: timeOf(member) })),
    );
    const first = Math.min(...seen.map(({ moment }) => moment));
    const last = Math.max(...seen.map(({ moment }) => moment));
    if (!(last > first)) return null;
    const rows = [...new Set(seen.map(({ at }) => at))].sort((one, other) => one - other);
    const place = h("div", { class: "strip-place" });
    let drawnAt = 0;
    const draw = () => {
      const width = Math.floor(place.clientWidth);
      if (!width || width === drawnAt) return;
      drawnAt = width;
      place.replaceChildren(stripAt(width, seen, rows.slice(0, MOST_ROWS), first, last));
    };
    const watcher = new ResizeObserver(draw);
    watcher.observe(place);
    const nMore = rows.length - MOST_ROWS;
    const element = h(
      "figure",
      { class: "seen-when" },
      h("h2", null, "When it was seen"),
      place,
      h("figcaption", { class: "about" }, `Time since it was first seen, ${ibidem.time(new Date(first).toISOString())}; the axis is logarithmic. A larger dot means several places.${nMore > 0 ? ` ${many(nMore, "more wording")} ${ibidem.are(nMore)} not drawn.` : ""}`),
    );
    return element;
  }

  function stripAt(width, seen, rows, first, last) {
    const label = width < 520 ? 26 : Math.min(230, width * 0.3);
    const [row, top, right] = [26, 10, 24];
    const base = top + rows.length * row;
    const { at: share, ticks } = ibidem.sinceFirst((last - first) / 1000);
    const x = (seconds) => label + 16 + share(seconds) * (width - label - 16 - right);
    const line = (x0, y0, x1, y1, name_) => svg("line", { class: name_, x1: x0.toFixed(1), y1: y0.toFixed(1), x2: x1.toFixed(1), y2: y1.toFixed(1) });
    const dots = rows.flatMap((wording, level) => {
      const own = seen.filter(({ at }) => at === wording).sort((one, other) => one.moment - other.moment);
      const groups = [];
      for (const each of own) {
        const along = x((each.moment - first) / 1000);
        const group = groups[groups.length - 1];
        if (group && along - group.from < 9) group.members.push(each);
        else groups.push({ from: along, members: [each] });
      }
      return groups.map(({ from, members }) => {
        const radius = Math.min(11, 4 + 1.6 * Math.sqrt(members.length - 1));
        const y = top + (level + 0.5) * row;
        const says = members.slice(0, 12).map(({ member }) => `${ibidem.named(member)}, ${ibidem.time(member.time)}`);
        const more = members.length - 12;
        return [
          svg(
            "circle",
            { class: wording ? "edited" : "same", cx: from.toFixed(1), cy: y.toFixed(1), r: radius.toFixed(1) },
            svg("title", null, `Wording ${wording + 1}${members.length > 1 ? `, ${many(members.length, "place")}` : ""}\n${says.join("\n")}${more > 0 ? `\nand ${number(more)} more` : ""}`),
          ),
          members.length > 2 && svg("text", { class: "dot-count", x: (from + radius + 3).toFixed(1), y: (y + 3.5).toFixed(1) }, number(members.length)),
        ];
      });
    });
    const names = rows.map((wording, level) => {
      const who = label < 100 ? "" : ` ${ibidem.shortened(witnessNames(seen, wording), Math.floor((label - 20) / 7))}`;
      return svg("text", { class: "row-name", x: "0", y: (top + (level + 0.5) * row + 4).toFixed(1) }, `${wording + 1}${who}`);
    });
    const says = rows.map((wording) => `wording ${wording + 1}: ${many(seen.filter(({ at }) => at === wording).length, "place")}`).join(", ");
    return svg(
      "svg",
      {
        class: "wordings-strip",
        width: String(width),
        height: String(base + 24),
        viewBox: `0 0 ${width} ${base + 24}`,
        role: "img",
        "aria-label": `Seen from ${ibidem.time(new Date(first).toISOString())} to ${ibidem.time(new Date(last).toISOString())}; ${says}`,
      },
      ticks(Math.min(0.4, 62 / Math.max(1, width - label - 40))).map((tick) => {
        const along = label + 16 + tick.at * (width - label - 16 - right);
        const anchor = tick.at > 0.93 ? "end" : "middle";
        return [line(along, top, along, base, "tick"), svg("text", { class: "tick-name", x: along.toFixed(1), y: String(base + 18), "text-anchor": anchor }, tick.label)];
      }),
      rows.map((_, level) => line(label + 8, top + (level + 0.5) * row, width - 4, top + (level + 0.5) * row, "lane")),
      names,
      dots,
    );
  }

  const witnessNames = (seen, wording) =>
    [...new Set(seen.filter(({ at }) => at === wording).map(({ member }) => member.group || ibidem.named(member)))].join(", ");

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
          h("span", { class: "quiet-text" }, ` · ${ibidem.located(member)}`),
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
            ? h("blockquote", { class: "text", lang: "", dir: "auto" }, ibidem.underlined(variant.text, variant.changes, "ins", (variant.moves || []).map((move) => move.slice(2))))
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
