// Cut-offs: how the pairs are distributed, and the limit above which they are shown. Moving one filters the page.
(function (ibidem) {
  "use strict";

  const { h, button, number, many } = ibidem;
  const MEASURES = [
    {
      key: "similarity",
      label: "Similarity",
      about: "how alike the shared passages are",
      show: (value) => String(Number(value.toFixed(3))),
    },
    {
      key: "coverage",
      label: "Coverage",
      about: "share of the document in shared passages (the larger of the two)",
      show: ibidem.percent,
    },
    { key: "longest", label: "Longest passage", about: "in characters", show: (value) => number(Math.round(value)) },
  ];

  const MEASURES_OF_DUPLICATES = MEASURES.filter(({ key }) => key !== "longest").map((measure) => ({
    ...measure,
    about:
      measure.key === "similarity"
        ? "how many word sequences the two have in common"
        : "share of the document that the other one also has (the larger of the two)",
  }));

  const THUMB = 16; // pixels

  // Nothing is left at the last edge; a cut-off may be at any other.
  function edgeNear(edges, value) {
    let nearest = 0;
    edges.slice(0, -1).forEach((edge, at) => {
      if (Math.abs(edge - value) < Math.abs(edges[nearest] - value)) nearest = at;
    });
    return nearest;
  }

  class Cutoff {
    constructor(measure, distribution) {
      this.measure = measure;
      this.edges = distribution.edges;
      this.counts = distribution.counts;
      this.isLog = false;
      this.chart = null;
      const id = `cut-${measure.key}`;
      this.place = h("div", { class: "chart bars" });
      this.input = h("input", {
        type: "range",
        id,
        min: "0",
        max: String(Math.max(0, this.counts.length - 1)),
        step: "1",
        "aria-describedby": `${id}-about`,
        on: { input: () => this.choose(Number(this.input.value)) },
      });
      this.value = h("output", { for: id });
      this.slider = h("div", { class: "slider" }, this.input);
      this.element = h(
        "div",
        { class: "cutoff" },
        h("h3", null, h("label", { for: id }, measure.label, h("span", { class: "unseen" }, ", cut-off"))),
        h("p", { class: "about", id: `${id}-about` }, measure.about),
        this.place,
        this.slider,
        this.value,
      );
      this.show();
    }

    get current() {
      return ibidem.state.filters[`min_${this.measure.key}`] || 0;
    }

    take({ counts }) {
      this.counts = counts;
    }

    choose(at) {
      const edge = this.edges[at];
      const limit = this.measure.key === "longest" ? Math.ceil(edge) : Number(edge.toPrecision(6));
      ibidem.setFilters({ [`min_${this.measure.key}`]: at === 0 ? null : limit });
    }

    // The bars, over all pairs, and which of them the cut-off keeps.
    rows() {
      const isTall = (count) => count > 0 || !this.isLog;
      const floor = this.measure.key === "longest" ? 1 : -Infinity;
      return this.counts
        .map((count, at) => ({
          at,
          count,
          base: this.isLog ? 0.6 : 0,
          start: Math.max(floor, this.edges[at]),
          end: Math.max(floor, this.edges[at + 1]),
          is_kept: this.edges[at + 1] > this.current,
          says: `${this.measure.show(this.edges[at])} – ${this.measure.show(this.edges[at + 1])}: ${many(count, "pair")}`,
        }))
        .filter((row) => isTall(row.count) && row.end > row.start);
    }

    cut() {
      return this.current > this.edges[0] ? [{ value: this.current }] : [];
    }

    async draw() {
      if (this.chart) this.chart.finalize();
      this.chart = null;
      const adapt = (spec) => {
        const { x, y } = spec.layer[0].encoding;
        const floor = this.measure.key === "longest" ? 1 : -Infinity;
        const domain = [Math.max(floor, this.edges[0]), Math.max(floor, this.edges[this.edges.length - 1])];
        x.scale.domain = domain;
        spec.layer[1].encoding.x.scale.domain = domain;
        if (this.isLog) {
          y.scale = { type: "log", nice: false, domainMin: 0.6 };
          y.axis.values = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7];
        }
      };
      const data = { bars: this.rows(), cut: this.cut() };
      this.chart = await ibidem.drawChart(this.place, this.measure.key, data, {
        adapt,
        click: (row) => {
          if (row.at !== undefined) this.choose(row.at);
        },
      });
      this.align();
    }

    // The slider lies under the bars: its ends are where the axis begins and ends. Half a thumb sticks out on either side.
    align() {
      const area = this.chart && this.chart.area();
      if (!area) return;
      this.slider.style.setProperty("margin-left", `${Math.round(area.left - THUMB / 2)}px`);
      this.slider.style.setProperty("width", `${Math.round(area.width * ((this.counts.length - 1) / this.counts.length) + THUMB)}px`);
    }

    show() {
      const at = edgeNear(this.edges, this.current);
      this.input.value = String(at);
      const says = this.current > this.edges[0] ? `at least ${this.measure.show(this.current)}` : "all";
      this.value.textContent = says;
      this.input.setAttribute("aria-valuetext", says);
      if (this.chart) this.chart.change({ bars: this.rows(), cut: this.cut() });
    }
  }

  // Returns { element, draw(), close() } with one cut-off per measure; the bars count what the list of pairs shows.
  function cutoffs(source, summary) {
    const measures = ibidem.isCluster(summary) ? MEASURES_OF_DUPLICATES : MEASURES;
    const place = h("div", { class: "charts" });
    let parts = [];
    let round = 0;
    const show = () => {
      parts.forEach((part) => part.show());
      clear.disabled = !parts.some((part) => part.current > 0);
    };
    // Asks again how the pairs are distributed: other filters may have changed.
    async function count() {
      round += 1;
      const mine = round;
      const distributions = await source.distributions(ibidem.state.filters);
      if (mine !== round) return;
      if (!parts.length) {
        parts = measures
          .filter(({ key }) => distributions[key] && distributions[key].counts.length)
          .map((measure) => new Cutoff(measure, distributions[measure.key]));
        place.replaceChildren(...parts.map((part) => part.element));
      }
      parts.forEach((part) => part.take(distributions[part.measure.key]));
      show();
    }
    const redraw = () => Promise.all(parts.map((part) => part.draw()));
    const draw = async () => {
      await count();
      await redraw();
    };
    const scale = button(
      "Logarithmic counts",
      () => {
        const isLog = scale.getAttribute("aria-pressed") !== "true";
        scale.setAttribute("aria-pressed", String(isLog));
        parts.forEach((part) => {
          part.isLog = isLog;
        });
        redraw();
      },
      { class: "quiet", "aria-pressed": "false" },
    );
    const clear = button(
      "Reset",
      () => {
        ibidem.setFilters({ min_similarity: null, min_coverage: null, min_longest: null });
      },
      { class: "quiet" },
    );
    const listen = () => {
      show();
      count().catch((error) => ibidem.announce(error.message));
    };
    ibidem.state.listeners.add(listen);
    const element = h("div", { class: "cutoffs" }, place, h("div", { class: "actions" }, scale, clear));
    return {
      element,
      draw,
      close() {
        round += 1;
        ibidem.state.listeners.delete(listen);
        parts.forEach((part) => {
          if (part.chart) part.chart.finalize();
        });
      },
    };
  }

  // Says how many pairs are left, and of how many.
  function remaining(total, summary) {
    const all = summary.totals.pairs;
    const here = summary.shown ? summary.shown.pairs : all;
    const counted = many(total, "pair");
    return here < all ? ibidem.ofEmbedded(counted, here, all, "found") : `${counted} of ${number(all)}`;
  }

  Object.assign(ibidem, { cutoffs, remaining });
})(window.ibidem);
