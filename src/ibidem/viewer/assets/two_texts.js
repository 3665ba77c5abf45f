// The page that `ibidem compare --html` writes: two texts to read, and nothing around them.
(function (ibidem) {
  "use strict";

  const { h, put } = ibidem;

  function start() {
    const data = JSON.parse(document.getElementById("ibidem-data").textContent);
    const { a: left, b: right, shares } = data;
    const main = h("main", { id: "main" });
    const title = h("h1", null);
    const passage = Number(new URLSearchParams(location.hash.slice(1)).get("passage")) || null;
    const addressOf = (stretch) => (stretch ? `#passage=${stretch.passages[0]}` : "#");
    const reading = ibidem.reading({
      kind: "comparison",
      left,
      right,
      stretches: data.stretches,
      isTurned: false,
      base: null,
      shares,
      title: () => title.textContent,
      address: addressOf,
      heads: [left, right].map((text) => h("header", null, h("h2", null, ibidem.name(text)))),
      chosen: (stretch) => history.replaceState(null, "", addressOf(stretch)),
    });
    const { stretches } = reading;
    put(title, ibidem.headline({ left, right, earlier: null, base: null, days: null, shares, stretches, similarity: null }));
    const paper = ibidem.passages.printed(reading);
    put(
      main,
      h("header", { class: "head compare-head" }, title),
      reading.element,
      h(
        "div",
        { class: "actions below" },
        h("p", { class: "lead" }, data.sharing),
        ibidem.button("Print", () => window.print()),
      ),
      stretches.length > 0 && ibidem.passages.foldedPositions(stretches, [left, right]),
      paper.element,
    );
    document.body.append(main, h("footer", { class: "foot" }, `Made by ibidem ${data.version}. Similarity is not proof of copying.`));
    reading.open(passage);
    document.addEventListener("keydown", (event) => {
      const isTyping = event.target.closest && event.target.closest("input, textarea, select");
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping || !Object.hasOwn(reading.keys, event.key)) return;
      event.preventDefault();
      reading.keys[event.key]();
    });
    document.documentElement.dataset.ready = "true";
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})(window.ibidem);
