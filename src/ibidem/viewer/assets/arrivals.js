// Arrivals: documents as they are added to the index, latest first.
(function (ibidem) {
  "use strict";

  const { h, put, button, number, many, percent, time } = ibidem;
  const MAX_SHOWN = 500;

  const sourceName = (one) =>
    ibidem.isMissing(one.document) ? ibidem.name(one) : ibidem.link(`#document=${one.document}`, ibidem.name(one));

  function entry(arrival) {
    const sentences = many(arrival.n_sentences, "sentence");
    const share = ibidem.isMissing(arrival.covered_share) ? "" : `, ${percent(arrival.covered_share)} covered`;
    const known = arrival.n_known ? `${number(arrival.n_known)} of ${sentences} known${share}` : "new";
    return h(
      "li",
      { class: ibidem.isNearlyAll(arrival) ? "duplicated" : null },
      h(
        "p",
        { class: "arrival-head" },
        h("time", { datetime: arrival.at }, time(arrival.at)),
        " ",
        h("bdi", { class: "name", title: arrival.id }, arrival.id),
        arrival.duplicated && h("span", { class: "tag" }, ibidem.isNearlyAll(arrival) ? "duplicate" : "shares text"),
        h("span", { class: "quiet-text" }, ` ${known}`),
      ),
      arrival.excerpt && h("p", { class: "excerpt", lang: "", dir: "auto" }, arrival.excerpt),
      (arrival.sources || []).length > 0 &&
        h(
          "p",
          { class: "quiet-text" },
          "also in ",
          arrival.sources
            .slice(0, 5)
            .map((each, at) => [at ? ", " : "", sourceName(each), ` (${many(each.n_sentences, "sentence")})`]),
          arrival.sources.length > 5 && ` and ${number(arrival.sources.length - 5)} more`,
        ),
    );
  }

  async function show(main, { source }) {
    const listed = h("ol", { class: "arrivals", "aria-label": "Arrivals, latest first" });
    const status = h("p", { class: "quiet-text", role: "status" }, "connecting");
    const empty = h("p", { class: "nothing" }, "Nothing has arrived yet. New documents appear here as they are added.");
    const held = [];
    let isPaused = false;
    let state = "connecting";
    const showState = () => {
      status.textContent = isPaused ? `paused${held.length ? `, ${number(held.length)} waiting` : ""}` : state;
    };
    const place = (arrival) => {
      listed.prepend(entry(arrival));
      empty.hidden = true;
      while (listed.childElementCount > MAX_SHOWN) listed.lastElementChild.remove();
    };
    const pause = button("Pause", () => {
      isPaused = !isPaused;
      pause.textContent = isPaused ? "Resume" : "Pause";
      if (!isPaused) held.splice(0).forEach(place);
      showState();
    });
    put(
      main,
      h(
        "header",
        { class: "head" },
        h("h1", null, "Arrivals"),
        h(
          "p",
          { class: "lead" },
          "Documents as they are added to the index, latest first, and how much of each was known before.",
        ),
      ),
      h("div", { class: "actions" }, pause, status),
      empty,
      listed,
    );
    const answer = await source.arrivals(null, 200);
    const items = [...answer.items].sort((one, other) => one.arrival - other.arrival);
    items.forEach(place);
    const last = items.length ? items[items.length - 1].arrival : 0;
    const stop = source.watch(
      last,
      (arrival) => {
        if (isPaused) held.push(arrival);
        else place(arrival);
        showState();
      },
      (now) => {
        state = now;
        showState();
      },
    );
    return stop;
  }

  ibidem.viewer = Object.assign(ibidem.viewer || {}, { arrivals: { title: "Arrivals", show } });
})(window.ibidem);
