// Story cards: one text in all its places, who had it first, how it travelled, and how its words changed.
(function (ibidem) {
  "use strict";

  const { h, svg, put, link, button, number, many, are, isMissing } = ibidem;
  const PAGE = 8;
  const MOST_NAMES = 5;
  const STRIP = { width: 340, height: 62, left: 10, right: 14, line: 24 };

  // Whether a step is known to be later than the one before it.
  const isLater = (step, before) => !isMissing(step.seconds) && !isMissing(before.seconds) && step.seconds > before.seconds;

  // The outlets in order: an arrow only where the times differ.
  function trail(card, colour) {
    const isGrouped = card.steps.some((step) => step.group);
    const shown = card.steps.slice(0, isGrouped ? MOST_NAMES : 3);
    const nMore = card.n_steps - shown.length;
    const joint = (step, before) => (isLater(step, before) ? [" ", h("span", { class: "to" }, "→"), ibidem.hidden("then"), " "] : " · ");
    const nameOf = (step) => [
      isGrouped && !step.group ? h("span", { class: "quiet-text", title: ibidem.named(step) }, "no group") : ibidem.outletName(step, colour, isGrouped ? 30 : 44),
      step.is_reference && h("span", { class: "tag" }, "reference"),
    ];
    const parts = shown.map((step, at) => [at > 0 && joint(step, shown[at - 1]), nameOf(step)]);
    const more = nMore > 0 && [card.is_ordered ? " → " : " · ", h("span", { class: "quiet-text" }, `${number(nMore)} more`)];
    return h("p", { class: "trail" }, parts, more);
  }

  const word = (colour) => colour.split(" ").pop();

  // When each outlet followed, on a logarithmic axis.
  function strip(card, colour, longest) {
    const timed = card.steps.filter((step) => !isMissing(step.seconds));
    if (!card.is_ordered || timed.length < 2) return null;
    const { at, ticks } = ibidem.sinceFirst(longest);
    const x = (share) => STRIP.left + share * (STRIP.width - STRIP.left - STRIP.right);
    const base = timed[0];
    const most = Math.max(...timed.map((step) => step.n_chars), 1);
    const thick = (step) => 1.5 + 4 * Math.sqrt(step.n_chars / most) * Math.min(1, Math.log1p(step.n_chars) / 8);
    const arcs = timed.slice(1).map((step, row) => {
      const [from, to] = [x(0), x(at(step.seconds))];
      const bow = (row % 2 ? 1 : -1) * Math.min(20, 6 + (to - from) / 8);
      const d = `M${from},${STRIP.line}Q${(from + to) / 2},${STRIP.line + bow * 1.6} ${to},${STRIP.line}`;
      return svg("path", { d, class: `arc ${colour(step.group || ibidem.named(step))}`, "stroke-width": String(thick(step)), fill: "none" });
    });
    const dots = [...timed].reverse().map((step) =>
      svg(
        "circle",
        { cx: String(x(at(step.seconds))), cy: String(STRIP.line), r: step === base ? "6.5" : "5", class: `dot ${colour(step.group || ibidem.named(step))}` },
        svg("title", null, `${step.group || ibidem.named(step)}\n${ibidem.time(step.time)}`),
      ),
    );
    const says = timed
      .slice(1)
      .map((step) => `${step.group || ibidem.named(step)} after ${ibidem.duration(step.seconds)}`)
      .join(", ");
    return svg(
      "svg",
      { class: "strip", viewBox: `0 0 ${STRIP.width} ${STRIP.height}`, role: "img", "aria-label": `Time since the first place: ${says}` },
      ticks(0.16).map((tick) => [
        svg("line", { x1: String(x(tick.at)), x2: String(x(tick.at)), y1: "2", y2: "46", class: "tick" }),
        svg("text", { x: String(x(tick.at)), y: "58", "text-anchor": tick.at < 0.02 ? "start" : tick.at > 0.95 ? "end" : "middle" }, tick.label),
      ]),
      arcs,
      dots,
    );
  }

  const TAGS = { same: null, removed: "del", added: "ins" };
  const MOVED = { moved_away: "moved from here", moved_here: "moved here" };
  function words(card) {
    const text = card.words.map((piece) => piece.text).join("");
    if (!text.trim()) return h("p", { class: "nothing" }, "The text is not available.");
    return h(
      "p",
      { class: "words", lang: "", dir: "auto" },
      card.words.map((piece) => {
        if (MOVED[piece.is]) return h("span", { class: "moved" }, h("span", { class: "moved-mark" }, MOVED[piece.is]), piece.text);
        return TAGS[piece.is] ? h(TAGS[piece.is], null, piece.text) : piece.text;
      }),
    );
  }

  function changed(card, isCluster) {
    const differences = [
      card.n_changed && many(card.n_changed, "word changed", "words changed"),
      card.n_moved && many(card.n_moved, "part moved", "parts moved"),
    ].filter(Boolean);
    if (differences.length) return differences.join(", ");
    if (!card.is_edited) return isCluster ? "identical" : "word for word";
    return card.is_compared ? "word for word, but it begins or ends elsewhere" : "with changes";
  }

  function lastSeen(card) {
    if (isMissing(card.last_seconds)) return null;
    if (card.last_seconds === 0) return "all at the same time";
    return card.is_ordered ? `last seen ${ibidem.duration(card.last_seconds)} later` : `within ${ibidem.duration(card.last_seconds)}`;
  }

  function facts(card, isCluster) {
    const { story } = card;
    return [
      many(story.n_places, isCluster ? "document" : "place"),
      card.n_families > 1 ? `${number(card.n_families)} passages, up to ${number(story.n_chars)} characters long` : many(story.n_chars, "character"),
      changed(card, isCluster),
      lastSeen(card),
    ]
      .filter(Boolean)
      .join(" · ");
  }

  // One card. `settings`: { source, summary, colour, longest }.
  function storyCard(card, { source, summary, colour, longest }) {
    const isCluster = ibidem.isCluster(summary);
    const family = card.story.family;
    const pair = card.steps.map((step) => step.pair).find((each) => !isMissing(each) && source.holds("pair", each));
    const all = source.holds("family", family) && `#family=${family}`;
    const compare = isMissing(pair) ? null : `#pair=${pair}`;
    const title = h("bdi", { lang: "" }, card.title);
    const element = h("article", { class: "story", "data-card": String(family), "aria-label": card.title });
    const actions =
      ibidem.actions &&
      ibidem.actions.bar({
        kind: "story",
        title: () => card.title,
        address: () => all || compare || "#overview",
        left: null,
        right: null,
        shares: [null, null],
        stretches: [],
        current: () => null,
        words: () => card.words.filter((piece) => piece.is !== "added").map((piece) => piece.text).join(""),
        pair: null,
        family: card.story,
        story: card,
        element,
      });
    return put(
      element,
      h(
        "div",
        { class: "story-who" },
        h("h3", null, compare || all ? link(compare || all, title) : title),
        trail(card, colour),
        strip(card, colour, longest),
      ),
      h(
        "div",
        { class: "story-what" },
        words(card),
        h("p", { class: "story-facts" }, facts(card, isCluster)),
        h(
          "div",
          { class: "story-actions", "data-card-actions": String(family) },
          compare && link(compare, "Compare", ibidem.hidden(` ${card.title}`)),
          all && link(all, card.story.n_documents > 2 ? `All ${number(card.story.n_places)} places` : "Wordings", ibidem.hidden(` of ${card.title}`)),
          actions,
        ),
      ),
    );
  }

  // A list of cards, page by page. Returns { element, load() }.
  function cardList(settings, isFolded, more) {
    const { source } = settings;
    const place = h("div", { class: "stories" });
    let next = null;
    let longest = settings.longest;
    const next_ = button(more, () => load(), { class: "more", hidden: true });
    async function load() {
      const answer = await source.stories({ folded: isFolded || null, cursor: next, limit: PAGE });
      if (longest === undefined) longest = Math.max(3600, ...answer.items.map((card) => card.last_seconds || 0));
      place.append(...answer.items.map((card) => storyCard(card, { ...settings, longest })));
      next = answer.next;
      next_.hidden = !next;
      const nShown = place.childElementCount;
      next_.textContent = `Show more (${number(nShown)} of ${number(answer.total)})`;
      return answer;
    }
    return { element: h("div", null, place, next_), load };
  }

  // What is folded away, in one line with a switch.
  function foldedLine(counts, settings, isOpen, changed_) {
    const isGrouped = settings.summary.has_groups;
    const parts = [
      counts.inside > 0 &&
        `${many(counts.inside, "text")} ${counts.inside === 1 ? "stays" : "stay"} inside one ${isGrouped ? "outlet" : "document"}`,
      counts.boilerplate > 0 && `${many(counts.boilerplate, "text")} ${are(counts.boilerplate)} boilerplate, in very many places`,
    ].filter(Boolean);
    if (!parts.length) return null;
    const list = cardList(settings, true, "Show more");
    list.element.hidden = true;
    let isLoaded = false;
    const toggle = button("", () => set(toggle.getAttribute("aria-expanded") !== "true"), { class: "quiet", "data-action": "folded" });
    async function set(isShown) {
      toggle.setAttribute("aria-expanded", String(isShown));
      toggle.textContent = isShown ? "Hide" : "Show";
      list.element.hidden = !isShown;
      changed_(isShown);
      if (isShown && !isLoaded) {
        isLoaded = true;
        await list.load();
      }
    }
    const element = h("section", { class: "folded" }, h("p", null, `${parts.join("; ")}. `, toggle), list.element);
    return { element, set: () => set(isOpen) };
  }

  Object.assign(ibidem, { cardList, foldedLine });
})(window.ibidem);
