// Spans of time in words, a logarithmic axis of the time since the first place, and the colours of outlets.
(function (ibidem) {
  "use strict";

  const { h, many, isMissing } = ibidem;
  const [MINUTE, HOUR, DAY] = [60, 3600, 86400];
  const UNITS = [
    [365.25 * DAY, "year", 2],
    [30.4375 * DAY, "month", 2],
    [DAY, "day", 1],
    [HOUR, "hour", 1],
    [MINUTE, "minute", 1],
    [1, "second", 0],
  ];
  const TICKS = [
    [10, "10 s"],
    [MINUTE, "1 min"],
    [10 * MINUTE, "10 min"],
    [HOUR, "1 h"],
    [6 * HOUR, "6 h"],
    [DAY, "1 day"],
    [3 * DAY, "3 days"],
    [7 * DAY, "1 week"],
    [30.4375 * DAY, "1 month"],
    [182.6 * DAY, "6 months"],
    [365.25 * DAY, "1 year"],
    [3652.5 * DAY, "10 years"],
    [36525 * DAY, "100 years"],
  ];
  const N_HUES = 10;
  const MONTH = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", month: "long", year: "numeric" });
  const MONTH_ONLY = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", month: "long" });

  // A span of time, rounded to its largest unit.
  function duration(seconds) {
    const [unit, noun] = UNITS.find(([size, , least]) => seconds >= size * least) || UNITS[UNITS.length - 1];
    const count = seconds / unit;
    if (noun === "year" && count < 10) return `${ibidem.decimal(count)} years`;
    return many(Math.round(count), noun);
  }

  // Positions from 0 to 1 on a logarithmic axis that begins at the first place: minutes are as visible as months.
  function sinceFirst(longest) {
    const most = Math.max(longest, 1);
    const unit = Math.max(1, Math.min(10 * MINUTE, most / 20));
    const all = Math.log1p(most / unit);
    const at = (seconds) => Math.min(1, Math.log1p(Math.max(0, seconds) / unit) / all);
    // The ticks that fit: each at least `apart` of the axis away from the one before.
    const ticks = (apart) => {
      const kept = [{ at: 0, label: "first" }];
      for (const [seconds, label] of TICKS) {
        if (seconds > most * 1.02) break;
        const place = at(seconds);
        if (place - kept[kept.length - 1].at >= apart) kept.push({ at: place, label });
      }
      return kept;
    };
    return { at, ticks };
  }

  // A period as months, or as days if it is short.
  function period([first, last]) {
    const [start, end] = [new Date(first), new Date(last)];
    if ([start, end].some((moment) => Number.isNaN(moment.getTime()))) return null;
    if (end - start < 62 * DAY * 1000) {
      const [one, other] = [first, last].map((moment) => ibidem.time(moment.slice(0, 10)));
      return one === other ? one : `${one} to ${other}`;
    }
    if (start.getUTCFullYear() === end.getUTCFullYear()) return `${MONTH_ONLY.format(start)} to ${MONTH.format(end)}`;
    return `${MONTH.format(start)} to ${MONTH.format(end)}`;
  }

  // Every outlet has one colour on all views: those in the picture of the front page come first, so that they differ.
  function coloursOf(summary, front) {
    const { left = [], right = [] } = (front && front.picture) || {};
    const named = [...left, ...right].filter(({ family }) => isMissing(family)).map(({ name }) => name);
    const known = new Map();
    const groups = (summary.facets.groups || []).map(({ group }) => group);
    [...named, ...groups].forEach((name) => name === "no group" || known.has(name) || known.set(name, known.size));
    return (name) => {
      if (isMissing(name) || name === "no group") return "outlet"; // documents without a group are no outlet
      if (!known.has(name)) known.set(name, known.size);
      return `outlet outlet${known.get(name) % N_HUES}`;
    };
  }

  // A text on one line, at most so many letters.
  function shortened(text, most) {
    const letters = Array.from(String(text));
    return letters.length <= most ? text : `${letters.slice(0, most - 1).join("").trimEnd()}…`;
  }

  // The same for a name: of a path, its end says more.
  function shortenedName(name, most) {
    const letters = Array.from(name);
    if (letters.length <= most || !/^[^\s]+\/[^\s]+$/.test(name)) return shortened(name, most);
    const end = letters.slice(1 - most).join("");
    return `…${end.slice(Math.max(0, end.indexOf("/")))}`;
  }

  const outletName = (step, colour, most) => {
    const name = step.group || ibidem.named(step);
    return h("bdi", { class: colour(step.group || ibidem.named(step)), title: ibidem.named(step) }, shortened(name, most));
  };

  Object.assign(ibidem, { duration, sinceFirst, period, coloursOf, outletName, shortened, shortenedName });
})(window.ibidem);
