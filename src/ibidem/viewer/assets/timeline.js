// The flow over time: lanes of outlets, folders or documents, and a curve from each earlier to each later document.
(function (ibidem) {
  "use strict";

  const { number, many, time, named } = ibidem;
  const MAX_LANES = 24;
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
  function shortenedInside(name, most) {
    const letters = Array.from(name);
    if (letters.length <= most) return name;
    const nEnd = Math.floor((most - 1) / 2);
    const [head, tail] = [letters.slice(0, most - 1 - nEnd).join(""), letters.slice(-nEnd).join("")];
    return `${head.trimEnd()}…${tail.trimStart()}`;
  }

  // The labels of the lanes: names, or ids where names are the same. No two labels are equal.
  function labelsOf(lanes, most) {
    const count = (labels) => labels.reduce((seen, label) => seen.set(label, (seen.get(label) || 0) + 1), new Map());
    const names = lanes.map((lane) => shortenedInside(lane.name, most));
    const nNamed = count(names);
    const labels = lanes.map((lane, at) => (nNamed.get(names[at]) > 1 && lane.id ? shortenedInside(lane.id, most) : names[at]));
    const nLabelled = count(labels);
    return labels.map((label, at) => (nLabelled.get(label) > 1 ? `${at + 1}. ${label}` : label));
  }

  // How documents are grouped into lanes or nodes: { key(side), name(side), noun, nouns, isDocument }.
  function lanesBy(way, pairs) {
    if (way === "group") {
      return { key: (side) => `g${side.group || ""}`, name: (side) => side.group || "no group", noun: "outlet or group", nouns: "outlets or groups" };
    }
    if (way === "folder") {
      const folder = ibidem.foldersOf(pairs);
      return { key: (side) => `f${folder(side)}`, name: folder, noun: "folder", nouns: "folders" };
    }
    if (way === "cluster") {
      const cluster = clustersOf(pairs);
      return { key: (side) => `c${cluster(side).at}`, name: (side) => cluster(side).name, noun: "cluster of documents", nouns: "clusters of documents" };
    }
    return { key: (side) => side.document, name: named, noun: "document", nouns: "documents", isDocument: true };
  }

  // The community of each document, named after its earliest one.
  function clustersOf(pairs) {
    const sides = [...new Map(pairs.flatMap((pair) => [pair.a, pair.b]).map((side) => [side.document, side])).values()];
    const place = new Map(sides.map((side, at) => [side.document, at]));
    const edges = pairs.map((pair) => ({ from: place.get(pair.a.document), to: place.get(pair.b.document), shared: pair.shared }));
    const found = ibidem.communities(sides, edges).of;
    const names = new Map();
    const isEarlier = (one, other) => (one.time || "9999") < (other.time || "9999");
    sides.forEach((side, at) => {
      if (!names.has(found[at]) || isEarlier(side, names.get(found[at]))) names.set(found[at], side);
    });
    return (side) => ({ at: found[place.get(side.document)], name: named(names.get(found[place.get(side.document)])) });
  }

  // The folder of a document, from its id: as deep as it takes to tell documents apart. Null if ids are no paths.
  function foldersOf(pairs) {
    const ids = [...new Set(pairs.flatMap((pair) => [pair.a.id, pair.b.id]))].map((id) => id.split("/").slice(0, -1));
    if (!ids.length || ids.some((parts) => !parts.length)) return null;
    let shared = 0;
    while (ids.every((parts) => parts.length > shared && parts[shared] === ids[0][shared])) shared += 1;
    const nameAt = (depth) => (parts) => parts.slice(shared, shared + depth).join("/") || parts[parts.length - 1];
    let best = null;
    for (let depth = 1; depth <= 4; depth += 1) {
      const counts = new Map();
      ids.map(nameAt(depth)).forEach((name) => counts.set(name, (counts.get(name) || 0) + 1));
      if (counts.size > 1) {
        if (2 * counts.size > ids.length) break;
        const largest = Math.max(...counts.values()) / ids.length;
        if (!best || largest < best.largest) best = { depth, largest };
        if (largest <= 0.35) break;
      }
    }
    return best ? (side) => nameAt(best.depth)(side.id.split("/").slice(0, -1)) : null;
  }

  // The node or lane of all documents without a group.
  const isWithoutGroup = ({ key }) => key === "g";

  // The lanes that share most, in the order of their first document; the rest are merged into one.
  function lanesOf(pairs, by) {
    const lanes = new Map();
    for (const pair of pairs) {
      for (const side of [pair.a, pair.b]) {
        const key = by.key(side);
        const lane = lanes.get(key) || { key, name: by.name(side), group: side.group, id: null, shared: 0, first: Infinity };
        if (by.isDocument) lane.id = side.id;
        lane.shared += pair.shared;
        lane.first = Math.min(lane.first, instant(side));
        lanes.set(key, lane);
      }
    }
    const bySize = [...lanes.values()].sort((one, other) => other.shared - one.shared);
    const kept = bySize.length > MAX_LANES ? bySize.slice(0, MAX_LANES - 1) : bySize;
    kept.sort((one, other) => one.first - other.first || (one.name < other.name ? -1 : 1));
    const places = new Map(kept.map((lane, at) => [lane.key, at]));
    return { kept, places, nOther: bySize.length - kept.length };
  }

  // The ways to draw time that show something: not a single moment, and not the same time for all.
  function axesOf(pairs) {
    const dated = pairs.filter((pair) => !Number.isNaN(instant(pair.a)) && !Number.isNaN(instant(pair.b)));
    const times = new Set(dated.flatMap((pair) => [instant(pair.a), instant(pair.b)]));
    const gaps = new Set(dated.map((pair) => Math.abs(instant(pair.a) - instant(pair.b))).filter(Boolean));
    const ways = [];
    if (gaps.size > 1) ways.push("since");
    if (times.size > 2) ways.push("date");
    ways.push("rank");
    return ways;
  }

  // Positions from 0 to 1 of the two ends of a pair, and the ticks below.
  function axis(way, dated) {
    const times = dated.flatMap((pair) => [instant(pair.a), instant(pair.b)]);
    const gap = (pair) => Math.abs(instant(pair.a) - instant(pair.b)) / 1000;
    if (way === "since") {
      const scale = ibidem.sinceFirst(dated.reduce((most, pair) => Math.max(most, gap(pair)), 1));
      return { of: (pair) => [0, scale.at(gap(pair))], ticks: (apart) => scale.ticks(apart) };
    }
    if (way === "date") {
      const [first, last] = [times.reduce((a, b) => Math.min(a, b), Infinity), times.reduce((a, b) => Math.max(a, b), -Infinity)];
      const at = (moment) => (moment - first) / Math.max(1, last - first);
      const label = (share) => time(new Date(first + share * (last - first)).toISOString().slice(0, 10));
      const ticks = (apart) => {
        const n = Math.max(1, Math.min(5, Math.floor(1 / apart)));
        return Array.from({ length: n + 1 }, (_, k) => ({ at: k / n, label: label(k / n) }));
      };
      return { of: (pair) => order(pair).map((side) => at(instant(side))), ticks };
    }
    // By rank: documents side by side in the order of their times, those of one time in the order of their ids.
    const sides = new Map(dated.flatMap((pair) => [pair.a, pair.b]).map((side) => [side.document, side]));
    const compare = (one, other) => (instant(one) || 0) - (instant(other) || 0) || (one.id < other.id ? -1 : 1);
    const rank = new Map([...sides.values()].sort(compare).map((side, at) => [side.document, at]));
    const most = Math.max(1, rank.size - 1);
    const ends = [
      { at: 0, label: "earliest" },
      { at: 1, label: "latest" },
    ];
    const isOrdered = new Set(times.filter((moment) => !Number.isNaN(moment))).size > 1;
    return { of: (pair) => order(pair).map((side) => rank.get(side.document) / most), ticks: () => (isOrdered ? ends : []) };
  }

  // Returns lanes, curves, dots and the figures for the text beside them. `by`: see lanesBy; `way`: see axesOf.
  function timeline(pairs, by, way, mostLetters) {
    const isDated = (pair) => !Number.isNaN(instant(pair.a)) && !Number.isNaN(instant(pair.b));
    const dated = pairs.some(isDated) ? pairs.filter(isDated) : pairs;
    const { kept, places, nOther } = lanesOf(dated, by);
    const laneOf = (side) => places.get(by.key(side)) ?? kept.length;
    const scale = axis(way, dated);
    const curves = [];
    const dots = new Map();
    let nHidden = 0;
    for (const pair of dated) {
      const [from, to] = order(pair);
      const isOrdered = pair.direction !== "unknown" && instant(from) !== instant(to);
      const [x0, x1] = scale.of(pair);
      [
        [from, x0],
        [to, x1],
      ].forEach(([side, x]) => {
        const key = `${side.document} ${way === "since" ? x.toFixed(3) : ""}`;
        dots.set(key, { x, lane: laneOf(side), document: side.document, group: side.group, says: `${named(side)}\n${whereFrom(side)}` });
      });
      if (x0 === x1 && laneOf(from) === laneOf(to)) {
        nHidden += 1;
        continue;
      }
      curves.push({ pair: pair.pair, shared: pair.shared, isOrdered, x0, x1, from: laneOf(from), to: laneOf(to), group: from.group, says: says(pair), ends: [from.document, to.document] });
    }
    const labels = labelsOf(kept, mostLetters);
    const laneSays = (lane) => (lane.id && lane.id !== lane.name ? `${lane.name}\n${lane.id}` : lane.name);
    const lanes = kept.map((lane, at) => ({ at, label: labels[at], says: laneSays(lane), name: lane.name, group: lane.group }));
    if (nOther) lanes.push({ at: kept.length, label: OTHER, says: `${many(nOther, "other")}, in one lane`, name: OTHER, isOther: true });
    return {
      lanes,
      curves,
      dots: [...dots.values()],
      ticks: scale.ticks,
      nOther,
      nUndated: pairs.length - dated.length,
      nHidden,
    };
  }

  Object.assign(ibidem, { timeline, lanesBy, foldersOf, axesOf, isWithoutGroup, inOrder: order });
})(window.ibidem);
