// A verdict on a pair, with a note: only if the app can save it.
(function (ibidem) {
  "use strict";

  const { h, button } = ibidem;
  const LABELS = { confirmed: "Confirmed", rejected: "Rejected", unsure: "Unsure" };
  const KEYS = { confirmed: "c", rejected: "r", unsure: "u" };

  // Returns { element, keys }.
  function verdict(source, pair) {
    let current = pair.verdict;
    const said = h("span", { class: "quiet-text", role: "status" });
    const note = h("textarea", { id: "note", rows: "1", placeholder: "why", spellcheck: "true" });
    note.value = pair.note || "";
    const buttons = Object.entries(LABELS).map(([value, label]) =>
      button([label, h("kbd", { "aria-hidden": "true" }, KEYS[value])], () => choose(value), {
        "data-verdict": value,
        class: `judge ${value}`,
      }),
    );
    const show = () => buttons.forEach((each) => each.setAttribute("aria-pressed", String(each.dataset.verdict === current)));

    async function save() {
      said.textContent = "saving…";
      try {
        const now = await source.judge(pair.pair, current, note.value);
        Object.assign(pair, { verdict: now.verdict, note: now.note });
        said.textContent = "saved";
      } catch (error) {
        said.textContent = ibidem.fullMessage(error);
      }
    }

    // Choosing the same verdict again removes it.
    function choose(value) {
      current = current === value ? null : value;
      show();
      return save();
    }

    note.addEventListener("change", save);
    note.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey) {
        event.preventDefault();
        note.blur();
      }
    });
    show();
    const element = h(
      "div",
      { class: "judging", role: "group", "aria-label": "Verdict on this pair" },
      h("span", { class: "label" }, "Verdict"),
      buttons,
      h("label", { for: "note" }, "Note"),
      note,
      said,
    );
    const keys = Object.fromEntries(Object.entries(KEYS).map(([value, key]) => [key, () => choose(value)]));
    return { element, keys };
  }

  Object.assign(ibidem, { verdict });
})(window.ibidem);
