// The mini-map: where the passages are in a text, as high as the pane beside it. It is hidden from screen readers, as the list
// of passages says the same in words.
(function (ibidem) {
  "use strict";

  const { svg, hue } = ibidem;
  const HEIGHT = 1000;
  const MIN_MARK = 5;

  // `firsts` and `lasts` map each passage to its first and last element in the text.
  function minimap(text, firsts, lasts, choose) {
    const marks = svg("g", null);
    const window_ = svg("rect", { class: "window", x: "0", width: "10", y: "0", height: "0" });
    const element = svg(
      "svg",
      {
        class: "minimap",
        viewBox: `0 0 10 ${HEIGHT}`,
        preserveAspectRatio: "none",
        "aria-hidden": "true",
        focusable: "false",
      },
      window_,
      marks,
    );
    let places = [];

    const follow = () => {
      const whole = Math.max(1, text.scrollHeight);
      window_.setAttribute("y", String((text.scrollTop / whole) * HEIGHT));
      window_.setAttribute("height", String(text.clientHeight < whole ? (text.clientHeight / whole) * HEIGHT : 0));
    };

    const measure = () => {
      const whole = Math.max(1, text.scrollHeight);
      places = [...firsts].map(([passage, first]) => {
        const last = lasts.get(passage);
        return { passage, top: first.offsetTop / whole, bottom: (last.offsetTop + last.offsetHeight) / whole };
      });
      marks.replaceChildren(
        ...places.map(({ passage, top, bottom }) =>
          svg("rect", {
            class: `${hue(passage)} mark`,
            x: "1",
            width: "8",
            y: String(top * HEIGHT),
            height: String(Math.max(MIN_MARK, (bottom - top) * HEIGHT)),
            "data-passage": String(passage),
          }),
        ),
      );
      follow();
    };

    element.addEventListener("click", (event) => {
      const box = element.getBoundingClientRect();
      const at = (event.clientY - box.top) / box.height;
      const slack = MIN_MARK / HEIGHT;
      const hit = places.find(({ top, bottom }) => at >= top - slack && at <= Math.max(bottom, top + slack) + slack);
      if (hit) choose(hit.passage);
      else text.scrollTop = at * text.scrollHeight - text.clientHeight / 2;
    });
    text.addEventListener("scroll", follow, { passive: true });
    const watcher = new ResizeObserver(measure);
    watcher.observe(text);
    return {
      element,
      mark(passage) {
        marks.querySelectorAll(".chosen").forEach((old) => old.classList.remove("chosen"));
        const now = marks.querySelector(`[data-passage="${Number(passage)}"]`);
        if (now) now.classList.add("chosen");
      },
      close: () => watcher.disconnect(),
    };
  }

  Object.assign(ibidem, { minimap });
})(window.ibidem);
