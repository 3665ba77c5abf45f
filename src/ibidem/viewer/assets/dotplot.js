// The dot plot: the left text across, the right text down, a line where they share words. Copies are diagonals, cuts are steps,
// text that was moved crosses. It is hidden from screen readers, as the table of positions says the same in words.
(function (ibidem) {
  "use strict";

  const { h, svg, number } = ibidem;
  const SIZE = 200;
  // The shortest line, so that one sentence in a million characters is seen.
  const MIN_LINE = 2.5;

  const lengthOf = (text, parts, side) => parts.reduce((most, part) => Math.max(most, part[side][1]), Math.max(1, text.n_chars || 0));

  // `choose(stretch)` and `go(left, right)`, in characters, say what a click does. Returns { element, draw(current, seen) }.
  function dotplot(texts, parts, { choose, go }) {
    const [width, height] = [lengthOf(texts[0], parts, "left"), lengthOf(texts[1], parts, "right")];
    const line = (part) => {
      const [x, y] = [(part.left[0] / width) * SIZE, (part.right[0] / height) * SIZE];
      const dx = Math.max(MIN_LINE, ((part.left[1] - part.left[0]) / width) * SIZE);
      const dy = Math.max(MIN_LINE, ((part.right[1] - part.right[0]) / height) * SIZE);
      return `M${x.toFixed(2)},${y.toFixed(2)}l${dx.toFixed(2)},${dy.toFixed(2)}`;
    };
    const lines = (which) => parts.filter(which).map(line).join("");
    const chosen = svg("path", { class: "chosen" });
    const seen = svg("rect", { class: "seen", x: "0", y: "0", width: "0", height: "0" });
    const picture = svg(
      "svg",
      { class: "dotplot", viewBox: `-4 -4 ${SIZE + 8} ${SIZE + 8}`, "aria-hidden": "true", focusable: "false" },
      svg("rect", { class: "ground", x: "0", y: "0", width: String(SIZE), height: String(SIZE) }),
      seen,
      svg("path", { class: "same", d: lines((part) => part.look === "same") }),
      svg("path", { class: "edited", d: lines((part) => part.look === "edited") }),
      chosen,
    );
    picture.addEventListener("click", (event) => {
      const box = picture.getBoundingClientRect();
      const scale = (SIZE + 8) / box.width;
      const [x, y] = [(event.clientX - box.left) * scale - 4, (event.clientY - box.top) * scale - 4];
      let near = null;
      for (const part of parts) {
        const away = Math.hypot(
          Math.max((part.left[0] / width) * SIZE - x, 0, x - (part.left[1] / width) * SIZE),
          Math.max((part.right[0] / height) * SIZE - y, 0, y - (part.right[1] / height) * SIZE),
        );
        if (!near || away < near.away) near = { part, away };
      }
      if (near && near.away < 8) choose(near.part.stretch);
      else go((Math.max(0, x) / SIZE) * width, (Math.max(0, y) / SIZE) * height);
    });
    return {
      element: h(
        "figure",
        { class: "dots" },
        h("figcaption", null, `left text → ${number(width)} characters`),
        picture,
        h("p", { class: "about" }, `right text ↓ ${number(height)} characters. Each slanted line is shared text; lines out of order show that text was moved. Click to go there.`),
      ),
      draw(current, window_) {
        chosen.setAttribute("d", current ? current.parts.filter(ibidem.alignment.isJoined).map(line).join("") : "");
        if (!window_) return;
        const [[l0, l1], [r0, r1]] = window_;
        const set = (name, value) => seen.setAttribute(name, Math.max(0, value).toFixed(2));
        set("x", (l0 / width) * SIZE);
        set("width", Math.min(SIZE, ((l1 - l0) / width) * SIZE));
        set("y", (r0 / height) * SIZE);
        set("height", Math.min(SIZE, ((r1 - r0) / height) * SIZE));
      },
    };
  }

  Object.assign(ibidem, { dotplot });
})(window.ibidem);
