// The flow over time: rows for a chart with a lane per group and curves from the earlier to the later document.
(function (ibidem) {
  "use strict";

  const { number, many, time, named } = ibidem;
  const MAX_LANES = 24;
  const N_STEPS = 20;
  const OTHER = "all others";

  const order = (pair) => (pair.direction === "b_to_a" ? [pair.b, pair.a] : [pair.a, pair.b]);
  const instant = (side) => (side.time ? Date.parse(side.time) : NaN);
  const whereFrom = (side) => [side.group, time(side.time)].filter(Boolean).join(", ");

  function says(pair) {
    const [from, to] = order(pair);
    const joint = pair.direction === "unknown" ? "and" : "→";
    const inPassages = pair.n_passages ? ` in ${many(pair.n_passages, "passage")}` : "";
    const shared = `${number(pair.shared)} characters${inPassages}`;
    return `${named(from)} (${whereFrom(from)})\n${joint} ${named(to)} (${whereFrom(to)})\n${shared}`;
  }

  // A name, its middle left out if it is too long: names often differ at their ends.
  function shortened(name, most) {
    const letters = Array.from(name);
    if (letters.length <= most) return name;
    const nEnd = Math.floor((most - 1) / 2);
    return `${letters
      .slice(0, most - 1 - nEnd)
      .join("")
      .trimEnd()}…${letters.slice(-nEnd).join("").trimStart()}`;
  }

  // The labels of the lanes: names, or ids where names are the same. No two labels are equal.
  function labelsOf(lanes, most) {
    const count = (labels) => labels.reduce((seen, label) => seen.set(label, (seen.get(label) || 0) + 1), new Map());
    const names = lanes.map((lane) => shortened(lane.name, most));
    const nNamed = count(names);
    const labels = lanes.map((lane, at) => (nNamed.get(names[at]) > 1 && lane.id ? shortened(lane.id, most) : names[at]));
    const nLabelled = count(labels);
    return labels.map((label, at) => (nLabelled.get(label) > 1 ? `${at + 1}. ${label}` : label));
  }

  // The lanes that share most, in the order of their first document; the rest are merged into one.
  function lanesOf(pairs, laneKey, laneName) {
    const lanes = new Map();
    for (const pair of pairs) {
      for (const side of [pair.a, pair.b]) {
        const key = laneKey(side);
        const lane = lanes.get(key) || { key, name: laneName(side), id: null, shared: 0, first: Infinity };
        if (key === side.document) lane.id = side.id;
        lane.shared += pair.shared;
        lane.first = Math.min(lane.first, instant(side));
        lanes.set(key, lane);
      }
    }
    const bySize = [...lanes.values()].sort((one, other) => other.shared - one.shared);
    const kept = bySize.length > MAX_LANES ? bySize.slice(0, MAX_LANES - 1) : bySize;
    kept.sort((one, other) => one.first - other.first || (one.name < other.name ? -1 : 1));
    const places = new Map(kept.map((lane, at) => [lane.key, at]));
    return { kept, places, nOther: bySize.length - kept.length, nAll: bySize.length };
  }

  // Curves leave and reach lanes horizontally; within one lane they make an arc, higher for longer times.
  function curve(fromTime, toTime, fromLane, toLane, allTime) {
    const height = fromLane === toLane ? Math.min(0.7, 0.8 * Math.sqrt((toTime - fromTime) / allTime)) : 0;
    return Array.from({ length: N_STEPS + 1 }, (_, step) => {
      const t = step / N_STEPS;
      const eased = t * t * (3 - 2 * t);
      const bow = -height * 16 * t * t * (1 - t) * (1 - t);
      return { step, time: fromTime + (toTime - fromTime) * t, lane: fromLane + (toLane - fromLane) * eased + bow };
    });
  }

  // Returns the data sets of the chart and the figures for the text beside it. Unsafe characters in lane names are replaced
  // here, as the chart draws them itself.
  function timeline(pairs, hasGroups, mostLetters) {
    const laneKey = (side) => (hasGroups ? `g${side.group || ""}` : side.document);
    const laneName = (side) => (hasGroups ? side.group || "no group" : named(side));
    const dated = pairs.filter((pair) => !Number.isNaN(instant(pair.a)) && !Number.isNaN(instant(pair.b)));
    const { kept, places, nOther, nAll } = lanesOf(dated, laneKey, laneName);
    const laneOf = (side) => places.get(laneKey(side)) ?? kept.length;
    const ofDocument = new Map();
    const ofLane = new Map();
    const addPair = (map, key, pair) => map.set(key, (map.get(key) || new Set()).add(pair));
    const data = { lanes: [], ordered: [], unordered: [], heads: [], dots: [] };
    const dots = new Map();
    const times = dated.flatMap((pair) => [instant(pair.a), instant(pair.b)]);
    const allTime = Math.max(1, Math.max(...times) - Math.min(...times));
    let nHidden = 0;
    for (const pair of dated) {
      const [from, to] = order(pair);
      const [start, end] = [instant(from), instant(to)];
      const isOrdered = pair.direction !== "unknown" && start !== end;
      for (const side of [from, to]) {
        addPair(ofDocument, side.document, pair.pair);
        addPair(ofLane, laneOf(side), pair.pair);
        dots.set(side.document, {
          document: side.document,
          time: instant(side),
          lane: laneOf(side),
          says: `${named(side)}\n${whereFrom(side)}`,
        });
      }
      if (start === end && laneOf(from) === laneOf(to)) {
        nHidden += 1;
        continue;
      }
      const facts = { pair: pair.pair, shared: pair.shared, says: says(pair) };
      const points = curve(start, end, laneOf(from), laneOf(to), allTime).map((point) => ({ ...point, ...facts }));
      data[isOrdered ? "ordered" : "unordered"].push(...points);
      if (isOrdered) data.heads.push({ time: end, lane: laneOf(to), ...facts });
    }
    data.dots = [...dots.values()];
    const labels = labelsOf(kept, mostLetters);
    const laneSays = (lane) => (lane.id && lane.id !== lane.name ? `${lane.name}\n${lane.id}` : lane.name);
    data.lanes = kept.map((lane, at) => ({ at_lane: at, lane: at, name: ibidem.shown(labels[at]), says: laneSays(lane) }));
    if (nOther)
      data.lanes.push({ at_lane: kept.length, lane: kept.length, name: OTHER, says: `${many(nOther, "other")}, in one lane` });
    const isDrawn = new Set([...data.ordered, ...data.unordered].map((point) => point.pair));
    // The pairs that belong to the curve, document or lane under the pointer.
    const pairsOf = (row) => {
      if (row.pair !== undefined) return isDrawn.has(row.pair) ? [row.pair] : [];
      if (row.document !== undefined) return [...(ofDocument.get(row.document) || [])];
      return row.at_lane === undefined ? [] : [...(ofLane.get(row.at_lane) || [])];
    };
    return {
      data,
      pairsOf,
      nLanes: data.lanes.length,
      nAllLanes: nAll,
      nOther,
      nUndated: pairs.length - dated.length,
      nHidden,
    };
  }

  Object.assign(ibidem, { timeline, inOrder: order });
})(window.ibidem);
