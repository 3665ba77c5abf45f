// The front page: what happened, in a headline, three facts, a picture of who to whom, and a card for each story.
(function (ibidem) {
  "use strict";

  const { h, link, number, many, percent, isMissing } = ibidem;

  const headline = (pieces) => h("h1", null, pieces.map((piece) => (isMissing(piece.name) ? piece.text : h("bdi", null, piece.name))));

  // What was compared, and what was found: the counts behind the headline.
  function counted(summary) {
    const { totals } = summary;
    if (ibidem.isCluster(summary)) {
      return totals.pairs ? `${many(totals.pairs, "pair")} of similar documents in ${many(totals.families, "cluster")}.` : null;
    }
    if (!totals.pairs) return null;
    return `${many(totals.passages, "passage")} in ${many(totals.pairs, "pair")} of documents.`;
  }

  function lead(summary, front) {
    const { totals } = summary;
    const when = front.period && ibidem.period(front.period);
    const from = front.n_outlets > 1 ? ` of ${number(front.n_outlets)} outlets` : "";
    const against = front.n_references ? `, compared with ${many(front.n_references, "reference document")}` : "";
    const without = front.n_without_group ? ` (${number(front.n_without_group)} without a group)` : "";
    const shared = isMissing(summary.reused_share)
      ? null
      : `${percent(summary.reused_share)} of all characters also appear ${summary.is_against ? "in the reference documents" : "in another document"}.`;
    return h(
      "p",
      { class: "lead" },
      [`${many(totals.documents - (front.n_references || 0), "document")}${against}${from}${without}${when ? `, ${when}` : ""}.`, counted(summary), totals.pairs > 0 && shared].filter(Boolean).join(" "),
    );
  }

  const quoted = (text) => ["“", h("bdi", { lang: "", dir: "auto" }, text.replace(/^["“”„«»]+|["“”»]+$/g, "")), "”"];

  // Who took most text from whom, if the picture says so.
  function largestBand(picture, noun, nouns) {
    if (!picture || !picture.is_directed) return null;
    const named = picture.links.filter(({ from, to }) => from < picture.left.length && to < picture.right.length);
    const largest = named.reduce((best, each) => (!best || each.n_chars > best.n_chars ? each : best), null);
    if (!largest) return null;
    const [from, to] = [picture.left[largest.from], picture.right[largest.to]].map(({ name }) => h("bdi", null, name));
    return ["Most text: ", h("strong", null, from, " → ", to), ` (${many(largest.n_chars, "character")} in ${picture.is_from_reference ? many(largest.n_stories, "pair") : many(largest.n_stories, noun, nouns)}).`];
  }

  // The facts that are known, at most four.
  function facts(summary, front, source) {
    const { counts, fastest, widest, leaders } = front;
    const isCluster = ibidem.isCluster(summary);
    const noun = isCluster ? "cluster" : front.has_groups ? "story" : "text";
    const nouns = isCluster ? "clusters" : front.has_groups ? "stories" : "texts";
    const to = (family, ...content) => (source.holds("family", family) ? link(`#family=${family}`, ...content) : content);
    const found = [];
    const widestBand = largestBand(front.picture, noun, nouns);
    if (widestBand) found.push(widestBand);
    // If the headline names the leader, the others follow here; otherwise, this is where they are named.
    const isLed = front.headline.some((piece) => !isMissing(piece.name));
    const listed = leaders.slice(isLed ? 1 : 0, 3).map((each, at) => [at ? ", " : "", h("strong", null, h("bdi", null, each.outlet)), ` with ${number(each.n_stories)}`]);
    if (listed.length && !(isLed && widestBand)) found.push([isLed ? "Then come " : "Most often first: ", listed, "."]);
    // Between two snapshots, everything takes equally long.
    const isTold = fastest && front.period && fastest.seconds < (new Date(front.period[1]) - new Date(front.period[0])) / 1000;
    if (isTold && (front.has_groups || !isCluster)) {
      const who = front.has_groups && [" (", h("bdi", null, fastest.from), " → ", h("bdi", null, fastest.to), ")"];
      found.push([isCluster || !front.has_groups ? "The fastest copy" : "The fastest reprint", " followed after ", h("strong", null, ibidem.duration(fastest.seconds)), who, "."]);
    }
    if (widest && (front.has_groups ? widest.n_outlets : widest.n_documents) > 2) {
      const places = front.has_groups ? many(widest.n_outlets, "outlet") : many(widest.n_documents, "document");
      found.push([widest.excerpt ? to(widest.family, quoted(widest.excerpt)) : "One text", " is in ", h("strong", null, places), widest.is_widest ? ", more than any other." : "."]);
    }
    if (counts.stories) {
      const same = h("strong", null, many(counts.unchanged, noun, nouns));
      const edited = h("strong", null, number(counts.edited));
      found.push(
        isCluster
          ? [same, ` ${counts.unchanged === 1 ? "consists" : "consist"} of identical documents; `, edited, ` ${counts.edited === 1 ? "has" : "have"} changes.`]
          : [same, ` ${counts.unchanged === 1 ? "was" : "were"} repeated word for word; `, edited, ` ${counts.edited === 1 ? "was" : "were"} edited.`],
      );
    }
    if (counts.stories && !counts.ordered && !isCluster && !summary.is_against) {
      found.push([summary.has_times ? "Which came first is not known: the times are equal." : "Which came first is not known: there are no dates."]);
    }
    return found.length ? h("ul", { class: "three-facts" }, found.map((fact) => h("li", null, fact))) : null;
  }

  function opener(source, front) {
    return (band, from, to) => {
      if (!band) return source.holds("family", from.family) ? `#family=${from.family}` : null;
      if (from.family) return source.holds("family", from.family) ? `#family=${from.family}` : null;
      if (from.isOther || to.isOther || front.picture.of !== "groups") return null;
      return ibidem.address.write("pairs", null, { group: from.name, search: `"${to.name}"`, across: "1" });
    };
  }

  // Returns { masthead, element, load(), close() }. `isOpen`: whether what is folded away is shown.
  function frontPage(front, { source, summary, isOpen, fold }) {
    const colour = ibidem.coloursOf(summary, front);
    const { counts } = front;
    const drawn = front.picture && ibidem.flowPicture(front.picture, colour, opener(source, front));
    const caution =
      "Similarity is not proof of copying: two texts can match because both quote a third, or because both use a standard phrase. “First” means the earliest in this collection.";
    const masthead = h(
      "header",
      { class: "masthead" },
      h(
        "p",
        { class: "what" },
        h("bdi", null, summary.title),
        ` · ibidem ${summary.verb === "query" ? "index query" : summary.verb} · `,
        h("time", { datetime: summary.made }, ibidem.time(summary.made)),
      ),
      headline(front.headline),
      lead(summary, front),
    );
    const settings = { source, summary, colour };
    const stories = counts.stories ? ibidem.cardList(settings, false, "Show more") : null;
    const folded = ibidem.foldedLine(counts, settings, isOpen, fold);
    const several = ibidem.isCluster(summary) ? "Clusters" : front.has_groups ? "Stories" : "Shared texts";
    const element = h(
      "div",
      { class: "front" },
      h("div", { class: drawn ? "opening" : "opening no-picture" }, drawn && drawn.element, facts(summary, front, source)),
      h("p", { class: "caution" }, caution, " ", link("#left-out", "What was left out, and why"), "."),
      stories && h("section", { "aria-labelledby": "stories-title" }, h("h2", { id: "stories-title" }, several), stories.element),
      folded && folded.element,
    );
    return {
      masthead,
      element,
      async load() {
        if (drawn) drawn.draw();
        if (stories) await stories.load();
        if (folded) await folded.set();
      },
      close() {
        if (drawn) drawn.close();
      },
    };
  }

  Object.assign(ibidem, { frontPage });
})(window.ibidem);
