// Ribbons: what joins the two columns, from the first line of a sentence to its last, drawn again whenever a column scrolls.
(function (ibidem) {
  "use strict";

  const { svg } = ibidem;

  // Returns a function that gives the top and bottom of a part in its column, counted from the beginning of the text. Each
  // element is measured once: where texts repeat themselves, it is in many parts.
  function measured(column) {
    const origin = column.element.scrollTop - column.element.getBoundingClientRect().top;
    const { blocks, side } = column;
    const known = new Map();
    if (blocks) blocks.read(origin);
    const extent = (element) => {
      let found = known.get(element);
      if (found === undefined) {
        const boxes = element.getClientRects();
        found = boxes.length ? [boxes[0].top + origin, boxes[boxes.length - 1].bottom + origin] : null;
        known.set(element, found);
      }
      return found;
    };
    return (part) => {
      const places = column.places(part);
      const placeOf = (one, end) => (blocks && !blocks.isLaidOut(one) ? blocks.placeOf(part[side][end]) : extent(one));
      const [first, last] = places ? places.map(placeOf) : [null, null];
      return first && last ? [first[0], last[1]] : null;
    };
  }

  // Returns { element, measure(), draw(current, main), ties }: `ties` are { part, left: [top, bottom], right: [top, bottom] }.
  function ribbons(columns, parts, choose) {
    const element = svg("svg", { class: "ribbons", "aria-hidden": "true", focusable: "false" });
    parts.forEach((part, at) => {
      part.index = at;
    });
    const made = { element, ties: [], measure, draw };

    // All reading before any writing, so that the page is laid out once.
    function measure() {
      const [inLeft, inRight] = columns.map(measured);
      made.ties = parts
        .map((part) => ({ part, left: inLeft(part), right: inRight(part) }))
        .filter((tie) => tie.left && tie.right);
    }

    // `main` are the parts that follow one another in both texts; others are drawn fainter, behind them.
    function draw(current, main) {
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
      const asides = [];
      for (const { part, left: l, right: r } of made.ties) {
        const [from, to] = [l.map((y) => y + tops[0]), r.map((y) => y + tops[1])];
        if (!isSeen(from) && !isSeen(to)) continue;
        const rank = part.stretch === current ? "chosen" : main.has(part) ? "" : "aside";
        const classes = ["ribbon", part.look, part.isMoved ? "moved" : "", rank];
        const path = svg("path", {
          class: classes.filter(Boolean).join(" "),
          d: shape(from, to),
          "data-in": String(part.stretch.number),
          "data-part": String(part.index),
        });
        (rank === "aside" ? asides : paths).push(path);
      }
      element.replaceChildren(...asides, ...paths);
    }

    element.addEventListener("click", (event) => {
      const path = event.target.closest("[data-part]");
      if (path) choose(parts[Number(path.dataset.part)]);
    });
    return made;
  }

  Object.assign(ibidem, { ribbons });
})(window.ibidem);
