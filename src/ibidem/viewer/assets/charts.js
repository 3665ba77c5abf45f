// Charts: Vega draws what charts.py describes. It evaluates no code, adds no styles and loads nothing.
(function (ibidem) {
  "use strict";

  const { h, shown } = ibidem;
  let specs = null;
  let tip = null;

  function specOf(name) {
    if (!specs) {
      const element = document.getElementById("ibidem-charts");
      specs = element ? JSON.parse(element.textContent) : {};
    }
    return specs[name] ? structuredClone(specs[name]) : null;
  }

  // Shows lines of text beside the pointer; none hides them.
  function showTip(event, says) {
    if (!tip) {
      tip = h("div", { class: "tip", role: "tooltip", hidden: true });
      document.body.append(tip);
    }
    tip.hidden = !says || !event;
    if (tip.hidden) return;
    tip.textContent = shown(says);
    const left = Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 8);
    const below = event.clientY + 18;
    const top = below + tip.offsetHeight > window.innerHeight ? event.clientY - tip.offsetHeight - 12 : below;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, top)}px`;
  }

  // For a single field, Vega passes the text itself.
  const tell = (handler, event, item, value) => showTip(event, value && (value.says || String(value)));

  // Draws a chart into a place with width; returns { change(data), finalize() }, or null where charts cannot be drawn.
  async function drawChart(place, name, data, { adapt, click } = {}) {
    const spec = specOf(name);
    if (!spec || !window.vegaEmbed) return null;
    spec.datasets = data;
    if (adapt) adapt(spec, place.clientWidth);
    const refuse = () => Promise.reject(new Error("charts load nothing"));
    const { view, finalize } = await window.vegaEmbed(place, spec, {
      ast: true,
      actions: false,
      defaultStyle: false,
      renderer: "svg",
      logLevel: 1, // errors only: a data set may well be empty
      tooltip: tell,
      loader: { load: refuse, sanitize: refuse, http: refuse, file: refuse },
    });
    // Screen readers would read a chart as a list of shapes; the text beside it says the same in words.
    place.querySelectorAll("svg").forEach((drawing) => drawing.setAttribute("aria-hidden", "true"));
    if (click)
      view.addEventListener("click", (event, item) => {
        if (item && item.datum) click(item.datum, event);
      });
    return {
      // Where the axes are in the place, in pixels.
      area() {
        const [left] = view.origin();
        const padding = view.padding();
        return { left: left + (padding.left ?? padding), width: view.width() };
      },
      change(rows) {
        Object.entries(rows).forEach(([key, values]) => view.data(key, values));
        return view.runAsync();
      },
      finalize() {
        if (tip) tip.hidden = true;
        finalize();
      },
    };
  }

  Object.assign(ibidem, { drawChart, showTip });
})(window.ibidem);
