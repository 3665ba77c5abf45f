// A pane: one text with its passages, numbered and coloured, changed words underlined, boilerplate grey.
(function (ibidem) {
  "use strict";

  const { h, hue } = ibidem;
  // With more passages, the tab key skips their numbers; the list and the keys n and p still reach them.
  const MAX_STOPS = 100;

  function numberBadge(passage, says, isStop) {
    return h(
      "button",
      {
        type: "button",
        class: `number ${hue(passage)}`,
        "data-passage": String(passage),
        tabindex: isStop ? null : "-1",
        "aria-label": says(passage),
      },
      String(passage),
    );
  }

  // `spans`: { number, start, end, changes }; `changed`: the tag of changed words; `chosen(number)`: what a click does.
  // Returns { element, text, show(number), scrollTo(number), close() }.
  function pane(text, spans, { label, changed, says, chosen, withMap }) {
    const firsts = new Map();
    const lasts = new Map();
    const parts = new Map(spans.map((span) => [span.number, []]));
    const isStop = spans.length <= MAX_STOPS;
    const ends = new Map(spans.map((span) => [span.number, `${span.start}–${span.end}`]));
    const isSame = (mark) => mark.others.every((other) => ends.get(other) === ends.get(mark.passage));
    const decorate = (mark, words) => {
      const nodes = [];
      if (!mark.passage) return [h("span", { class: "boilerplate" }, words)];
      const badges = [];
      for (const passage of [...mark.others, mark.passage].sort((one, other) => one - other)) {
        if (!firsts.has(passage)) {
          const badge = numberBadge(passage, says, isStop);
          firsts.set(passage, badge);
          badges.push(badge);
        }
      }
      if (badges.length > 1) nodes.push(h("span", { class: "numbers" }, badges));
      else nodes.push(...badges);
      const tag = mark.isChanged ? changed : "mark";
      const classes = [
        hue(mark.passage),
        mark.others.length && !isSame(mark) ? "several" : "",
        mark.isBoilerplate ? "boilerplate" : "",
      ];
      const element = h(
        tag,
        {
          class: classes.filter(Boolean).join(" "),
          "data-in": String(mark.passage),
          "data-also": mark.others.join(" ") || null,
          title: mark.others.length ? `also in passage ${mark.others.join(", ")}` : null,
        },
        words,
      );
      for (const passage of [mark.passage, ...mark.others]) {
        lasts.set(passage, element);
        parts.get(passage).push(element);
      }
      nodes.push(element);
      return nodes;
    };
    const body = h(
      "div",
      { class: "text", tabindex: "0", role: "region", "aria-label": label, lang: "", dir: "auto" },
      ibidem.marked(text, ibidem.stretches(spans, text.boilerplate), decorate),
    );
    if (!text.segments.length) body.append(h("p", { class: "nothing" }, "The text is not available."));
    let current = null;

    body.addEventListener("click", (event) => {
      const badge = event.target.closest("[data-passage]");
      const mark = event.target.closest("[data-in]");
      if (badge) {
        chosen(Number(badge.dataset.passage));
      } else if (mark && !String(window.getSelection())) {
        // Where passages overlap, each click chooses the next one.
        const here = [Number(mark.dataset.in), ...(mark.dataset.also || "").split(" ").filter(Boolean).map(Number)];
        chosen(here[(here.indexOf(current) + 1) % here.length]);
      }
    });

    const map = withMap && text.segments.length ? ibidem.minimap(body, firsts, lasts, chosen) : null;
    return {
      element: h("div", { class: "pane-body" }, body, map && map.element),
      text: body,
      has: (passage) => firsts.has(passage),
      show(passage) {
        if (current !== null) {
          (parts.get(current) || []).forEach((old) => old.classList.remove("chosen"));
          if (firsts.has(current)) firsts.get(current).classList.remove("chosen");
        }
        current = passage;
        (parts.get(passage) || []).forEach((now) => now.classList.add("chosen"));
        if (firsts.has(passage)) firsts.get(passage).classList.add("chosen");
        if (map) map.mark(passage);
      },
      scrollTo(passage) {
        const first = firsts.get(passage);
        if (first) body.scrollTop += first.getBoundingClientRect().top - body.getBoundingClientRect().top - 32;
      },
      close() {
        if (map) map.close();
      },
    };
  }

  Object.assign(ibidem, { pane });
})(window.ibidem);
