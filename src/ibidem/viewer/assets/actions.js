// What can be done with what is being read: copy a link, save a picture, print evidence. Views show whatever is registered here.
(function (ibidem) {
  "use strict";

  const { h, button } = ibidem;
  const registered = [];

  // `run(context)` may be asynchronous. `isOffered(context)`, if given, says where the action makes sense.
  function add({ label, title, run, isOffered }) {
    registered.push({ label, title: title || null, run, isOffered: isOffered || (() => true) });
  }

  // The buttons for one context:
  //   kind: "pair", "check", "comparison" or "family"
  //   title(): the sentence above the texts, as plain text
  //   address(): a link that restores what is shown, with the passage
  //   left, right: the texts, { id, title, group, time, n_chars, segments }; for a family, both are null
  //   shares: the shared part of the left and of the right text, from 0 to 1, or null
  //   stretches: what the texts share, in the order of the left text: { number, left: [start, end], right: [start, end], kind }
  //   current(): the chosen stretch, or null
  //   words(side, stretch): its words in the "left" or "right" text
  //   pair: the pair with its verdict and note, or null; family: the family with its variants, or null
  //   element: the element that shows it, for pictures
  function bar(context) {
    const said = h("span", { class: "quiet-text", role: "status" });
    const act = (action) => async () => {
      said.textContent = "";
      try {
        const done = await action.run(context);
        if (typeof done === "string") said.textContent = ibidem.shown(done);
      } catch (error) {
        said.textContent = ibidem.shown(ibidem.fullMessage(error));
      }
    };
    const offered = registered.filter((action) => action.isOffered(context));
    if (!offered.length) return null;
    return h(
      "div",
      { class: "reading-actions", role: "group", "aria-label": "Share" },
      said,
      offered.map((action) => button(action.label, act(action), { class: "quiet", title: action.title })),
    );
  }

  Object.assign(ibidem, { actions: { add, bar } });
})(window.ibidem);
