// Ribbons: what joins the two columns, from the first line of a sentence to its last, drawn anew whenever a column scrolls.
(function (ibidem) {
  "use strict";

  const { svg } = ibidem;

  // The top and bottom of a part in its column, counted from the beginning of the text.
  function extent(column, part) {
    const places = column.places(part);
    if (!places) return null;
    const box = column.element.getBoundingClientRect();
    const origin = column.element.scrollTop - box.top;
    const first = places[0].getClientRects();
    const last = places[1].getClientRects();
    if (!first.length || !last.length) return null;
    return [first[0].top + origin, last[last.length - 1].bottom + origin];
  }

  // Returns { element, measure(), draw(current), ties }: `ties` are { part, left: [top, bottom], right: [top, bottom] }.
  function ribbons(columns, parts, choose) {
    const [left, right] = columns;
    const element = svg("svg", { class: "ribbons", "aria-hidden": "true", focusable: "false" });
    parts.forEach((part, at) => {
      part.index = at;
    });
    const made = { element, ties: [], measure, draw };

    // All reading before any writing, so that the page is laid out once.
    function measure() {
      made.ties = parts
        .map((part) => ({ part, left: extent(left, part), right: extent(right, part) }))
        .filter((tie) => tie.left && tie.right);
    }

    function draw(current) {
      const box = element.getBoundingClientRect();
      if (!box.width) return;
      const tops = columns.map((column) => column.element.getBoundingClientRect().top - box.top - column.element.scrollTop);
      const isSeen = ([top, bottom]) => bottom > 0 && top < box.height;
      const shape = ([l0, l1], [r0, r1]) => {
        const middle = box.width / 2;
        return (
          `M0,${l0} C${middle},${l0} ${middle},${r0} ${box.width},${r0} ` +
          `L${box.width},${r1} C${middle},${r1} ${middle},${l1} 0,${l1} Z`
        );
      };
      const paths = [];
      for (const { part, left: l, right: r } of made.ties) {
        const [from, to] = [l.map((y) => y + tops[0]), r.map((y) => y + tops[1])];
        if (!isSeen(from) && !isSeen(to)) continue;
        const classes = ["ribbon", part.look, part.stretch === current ? "chosen" : ""];
        const path = svg("path", {
          class: classes.filter(Boolean).join(" "),
          d: shape(from, to),
          "data-in": String(part.stretch.number),
          "data-part": String(part.index),
        });
        paths.push(path);
      }
      element.replaceChildren(...paths);
    }

    element.addEventListener("click", (event) => {
      const path = event.target.closest("[data-part]");
      if (path) choose(parts[Number(path.dataset.part)].stretch);
    });
    return made;
  }

  Object.assign(ibidem, { ribbons });
})(window.ibidem);
