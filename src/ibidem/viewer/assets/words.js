// Words: numbers, shares, times and names as people read them.
(function (ibidem) {
  "use strict";

  const { h, hidden } = ibidem;
  const WHOLE = new Intl.NumberFormat("en");
  const TENTH = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });
  const DAY = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", day: "numeric", month: "short", year: "numeric" });
  const CLOCK = new Intl.DateTimeFormat("en-GB", { timeZone: "UTC", hour: "2-digit", minute: "2-digit" });

  // Pairs of near-duplicates have no passages until one is opened; their similarity is always known.
  const isCluster = (summary) => summary.verb === "cluster";
  const isJudged = (summary) => (summary.facets.verdicts || []).some((each) => each.verdict && each.n_pairs);

  // What the kinds of passages mean.
  const KINDS = {
    exact: "word for word",
    near: "with changes",
    quote: "a few sentences, quoted",
  };

  const isMissing = (value) => value === null || value === undefined;
  const number = (value) => (isMissing(value) ? "–" : WHOLE.format(value));
  const decimal = (value) => (isMissing(value) ? "–" : TENTH.format(value));
  const many = (count, noun, nouns) => `${number(count)} ${count === 1 ? noun : nouns || `${noun}s`}`;
  const are = (count) => (count === 1 ? "is" : "are");

  // A count, and how many are in this report if it does not contain all.
  function ofEmbedded(counted, nHere, nAll, verb) {
    return nHere < nAll ? `${counted} of the ${number(nHere)} in this report (${number(nAll)} were ${verb})` : counted;
  }

  // A text is called a duplicate only if nearly all of it is known: the verdict `duplicated` needs just a few sentences.
  const isNearlyAll = ({ duplicated, n_known: nKnown, n_common: nCommon = 0, n_sentences: nSentences }) =>
    duplicated && nKnown + nCommon >= 0.9 * nSentences;

  // A share as a percentage; only all reads as "100 %", and only nothing as "0 %".
  function percent(share) {
    if (isMissing(share)) return "–";
    if (share > 0 && share < 0.005) return "<\u00a01\u00a0%";
    if (share < 1 && share >= 0.995) return ">\u00a099\u00a0%";
    return `${Math.round(share * 100)}\u00a0%`;
  }

  const similarity = (value) => (isMissing(value) ? "–" : Math.min(value < 1 ? 0.99 : 1, value).toFixed(2));

  function time(value) {
    if (!value) return "no date";
    const date = new Date(value);
    if (Number.isNaN(date.getTime())) return String(value);
    const isWholeDay = /T00:00(:00(\.0+)?)?(Z|\+00:00)?$/.test(value) || !value.includes("T");
    return isWholeDay ? DAY.format(date) : `${DAY.format(date)}, ${CLOCK.format(date)}`;
  }

  // The time between two moments, in minutes or hours if it is short.
  function apart(value) {
    if (isMissing(value)) return "–";
    if (value === 0) return "same time";
    const minutes = value * 24 * 60;
    if (minutes < 1) return "< 1 min";
    if (minutes < 59.5) return `${Math.round(minutes)} min`;
    if (value < 2 && !Number.isInteger(value)) return `${Math.round(minutes / 60)} h`;
    const whole = Math.round(value);
    return `${number(whole)} ${whole === 1 ? "day" : "days"}`;
  }

  // A message as a sentence, so that another can follow.
  function sentence(text) {
    const said = String(text || "").trim();
    return !said || /[.!?…:]["”’)]?$/.test(said) ? said : `${said}.`;
  }
  const fullMessage = (error) => [error.message, error.nextStep].filter(Boolean).map(sentence).join(" ");

  function bytes(value) {
    if (isMissing(value)) return "";
    if (value < 1000) return `${value} bytes`;
    return value < 1e6 ? `${decimal(value / 1e3)} kB` : `${decimal(value / 1e6)} MB`;
  }

  // The name of a document: its title, or its id without the folder that all ids of the collection begin with.
  function named(one) {
    const folder = (ibidem.state && ibidem.state.summary && ibidem.state.summary.shared_folder) || "";
    return one.title || (folder && one.id.startsWith(folder) ? one.id.slice(folder.length) : one.id);
  }

  // The page of a character in a text with pages, counted from 1; null if it has none.
  function pageOf({ pages }, place) {
    let [low, high] = [0, (pages || []).length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (pages[middle] <= place) low = middle + 1;
      else high = middle;
    }
    return low || null;
  }

  // A place in characters, and on which pages it is if the text has pages.
  function placed([start, end], text) {
    const [first, last] = [pageOf(text, start), pageOf(text, Math.max(start, end - 1))];
    const page = first === null ? "" : first === last ? `p. ${number(first)}, ` : `pp. ${number(first)}–${number(last)}, `;
    return `${page}characters ${number(start)}–${number(end)}`;
  }

  // The same for a place that knows its first page only.
  const located = ({ start, end, page }) => `${page ? `p. ${number(page)}, ` : ""}characters ${number(start)}–${number(end)}`;

  // A name whose writing direction does not affect its surroundings; the full name is in its title.
  function name(one, attributes) {
    const title = one.title ? `${one.title} (${one.id})` : one.id;
    return h("bdi", { class: "name", title, ...attributes }, named(one));
  }

  // The line below a name: group, time, and the id if the name is a title.
  function origin(one) {
    const parts = [];
    if (one.group) parts.push(h("bdi", null, one.group));
    if (one.time) parts.push(h("time", { datetime: one.time }, time(one.time)));
    if (one.title) parts.push(h("bdi", { class: "id", title: one.id }, one.id));
    return h(
      "span",
      { class: "origin" },
      parts.flatMap((part, i) => (i ? [" · ", part] : [part])),
    );
  }

  // A share as a small bar and a number.
  function bar(share) {
    if (isMissing(share)) return h("span", { class: "share", title: "not known" }, "–");
    const filled = h("span", { class: "filled", styles: { width: `${Math.round((share || 0) * 100)}%` } });
    return h("span", { class: "share" }, h("span", { class: "bar", "aria-hidden": "true" }, filled), percent(share));
  }

  Object.assign(ibidem, {
    isCluster,
    isJudged,
    KINDS,
    isMissing,
    number,
    decimal,
    many,
    are,
    ofEmbedded,
    isNearlyAll,
    percent,
    similarity,
    time,
    apart,
    sentence,
    fullMessage,
    bytes,
    named,
    pageOf,
    placed,
    located,
    name,
    origin,
    bar,
  });
})(window.ibidem);
