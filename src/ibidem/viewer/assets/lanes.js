// The drawing of the flow over time: lanes, curves that end in arrowheads, dots, and an axis.
(function (ibidem) {
  "use strict";

  const { svg } = ibidem;
  const AXIS = 30;

  // A curve leaves and reaches its lanes horizontally; within one lane it makes an arc.
  function path(curve, x, y, lane) {
    const [x0, x1, y0, y1] = [x(curve.x0), x(curve.x1), y(curve.from), y(curve.to)];
    const away = Math.max(18, Math.abs(x1 - x0) / 2);
    if (curve.from === curve.to) {
      const height = Math.min(lane * 0.95, 8 + Math.abs(x1 - x0) / 8);
      return `M${x0},${y0}C${x0 + (x1 - x0) * 0.25},${y0 - height} ${x1 - (x1 - x0) * 0.25},${y0 - height} ${x1},${y1}`;
    }
    if (x0 === x1) return `M${x0},${y0}C${x0 + 26},${y0} ${x1 + 26},${y1} ${x1},${y1}`;
    return `M${x0},${y0}C${x0 + away},${y0} ${x1 - away},${y1} ${x1},${y1}`;
  }

  // Draws what `timeline` returns. `act`: { open(curve), openDocument(dot), point(keys) }; returns { element, light(pairs) }.
  function drawLanes(made, width, colour, act) {
    const label = Math.min(190, width * 0.3);
    const right = 16;
    const lane = Math.max(34, Math.min(90, 320 / made.lanes.length)); // few lanes leave room for arcs
    const height = made.lanes.length * lane + AXIS;
    const x = (share) => label + 14 + share * (width - label - 14 - right);
    const y = (at) => (at + 0.62) * lane;
    const most = made.curves.reduce((largest, curve) => Math.max(largest, curve.shared), 1);
    const range = made.curves.length > 80 ? [0.8, 4] : [1.2, 7];
    const thick = (curve) => range[0] + (range[1] - range[0]) * Math.sqrt(curve.shared / most);
    const usual = made.curves.length > 150 ? 0.3 : 0.5;
    const laneColour = (one) => (one.isOther ? "outlet" : colour(one.name));
    const colours = made.lanes.map(laneColour);
    const shapes = new Map();
    const curves = [...made.curves]
      .sort((one, other) => other.shared - one.shared)
      .map((curve) => {
        const shape = svg(
          "path",
          {
            d: path(curve, x, y, lane),
            class: `curve ${colours[curve.from]}`,
            "stroke-width": thick(curve).toFixed(2),
            "stroke-dasharray": curve.isOrdered ? null : "5 4",
            opacity: String(usual),
            fill: "none",
            on: { click: () => act.open(curve), mouseover: () => act.point([curve.pair]), mouseout: () => act.point([]) },
          },
          svg("title", null, curve.says),
        );
        shapes.set(curve.pair, shape);
        return shape;
      });
    const heads = made.curves
      .filter((curve) => curve.isOrdered)
      .map((curve) => {
        const size = 3.5 + thick(curve) * 0.9;
        const [tip, at] = [x(curve.x1), y(curve.to)];
        return svg("path", { d: `M${tip},${at}l${-size * 1.5},${-size / 1.2}v${size * 1.66}z`, class: `head ${colours[curve.from]}` });
      });
    const ofDocument = (number) => made.curves.filter((curve) => curve.ends.includes(number)).map((curve) => curve.pair);
    const ofLane = (at) => made.curves.filter((curve) => curve.from === at || curve.to === at).map((curve) => curve.pair);
    const dots = made.dots.map((dot) =>
      svg(
        "circle",
        {
          cx: x(dot.x).toFixed(1),
          cy: String(y(dot.lane)),
          r: "3.4",
          class: `dot ${colours[dot.lane]}`,
          on: { click: () => act.openDocument(dot), mouseover: () => act.point(ofDocument(dot.document)), mouseout: () => act.point([]) },
        },
        svg("title", null, dot.says),
      ),
    );
    const lanes = made.lanes.map((one) => [
      svg("line", { x1: String(label + 6), x2: String(width), y1: String(y(one.at)), y2: String(y(one.at)), class: "lane" }),
      svg(
        "text",
        {
          x: String(label),
          y: String(y(one.at)),
          "text-anchor": "end",
          class: `lane-name ${colours[one.at]}`,
          on: { mouseover: () => act.point(ofLane(one.at)), mouseout: () => act.point([]) },
        },
        one.label,
        svg("title", null, one.says),
      ),
    ]);
    const ticks = made.ticks(Math.min(0.5, 74 / (width - label))).map((tick) => [
      svg("line", { x1: String(x(tick.at)), x2: String(x(tick.at)), y1: "0", y2: String(height - AXIS + 4), class: "tick" }),
      svg(
        "text",
        { x: String(x(tick.at)), y: String(height - 10), "text-anchor": tick.at < 0.03 ? "start" : tick.at > 0.92 ? "end" : "middle", class: "tick-name" },
        tick.label,
      ),
    ]);
    const element = svg(
      "svg",
      { class: "lanes", viewBox: `0 0 ${Math.round(width)} ${height}`, width: String(Math.round(width)), height: String(height), "aria-hidden": "true" },
      ticks,
      lanes,
      svg("g", { class: "mark-line" }, curves),
      heads,
      dots,
    );
    return {
      element,
      light(pairs) {
        const lit = new Set(pairs);
        shapes.forEach((shape, pair) => {
          shape.setAttribute("opacity", String(!lit.size ? usual : lit.has(pair) ? 0.95 : 0.07));
        });
      },
    };
  }

  Object.assign(ibidem, { drawLanes });
})(window.ibidem);
