// The address: the part after # says what is shown, so that a link restores it.
(function (ibidem) {
  "use strict";

  const FILTERS = [
    "min_similarity",
    "min_coverage",
    "min_longest",
    "search",
    "group",
    "across",
    "kind",
    "year",
    "verdict",
    "document",
    "sort",
    "order",
  ];
  const NUMBERS = new Set(["min_similarity", "min_coverage", "min_longest", "year", "document"]);
  const FILTERED = new Set(["overview", "pairs", "flow"]);
  // How something is drawn is not a filter, but stays in the address when filters change.
  const DRAWING = ["as", "by", "axis", "folded"];
  const drawingOf = (options) => Object.fromEntries(DRAWING.map((key) => [key, options[key]]));

  // Returns { view, number, options } of an address such as "#pair=12&passage=3" or "#pairs?min_coverage=0.5".
  function read(hash) {
    const [, view = "", number, rest = ""] = /^#?([a-z-]*)(?:=(\d+))?[?&]?(.*)$/s.exec(hash || "") || [];
    const options = {};
    new URLSearchParams(rest).forEach((value, key) => {
      options[key] = value;
    });
    return { view: view || "overview", number: number === undefined ? null : Number(number), options };
  }

  function write(view, number, options) {
    const kept = Object.entries(options || {}).filter(([, value]) => value !== null && value !== undefined && value !== "");
    const rest = new URLSearchParams(kept.map(([key, value]) => [key, String(value)])).toString();
    const place = number === null || number === undefined ? view : `${view}=${number}`;
    const mark = number === null || number === undefined ? "?" : "&";
    return `#${place}${rest ? mark + rest : ""}`;
  }

  // Returns the filters among options, without those that should be numbers and are not.
  function filtersOf(options) {
    const filters = {};
    for (const key of FILTERS) {
      const value = options[key];
      if (value === undefined || value === "") continue;
      if (key === "across") filters[key] = "1";
      else if (key === "kind" || key === "verdict") filters[key] = value.toLowerCase();
      else if (!NUMBERS.has(key)) filters[key] = value;
      else if (Number.isFinite(Number(value))) filters[key] = Number(value);
    }
    if (["0", "false", "no"].includes(options.across)) delete filters.across;
    return filters;
  }

  // The active filters, shared by the overview, the pairs and the flow, and the functions to call when they change.
  const state = { filters: {}, listeners: new Set() };

  function setFilters(changes) {
    const filters = { ...state.filters, ...changes };
    Object.keys(filters).forEach((key) => {
      if (filters[key] === null || filters[key] === undefined || filters[key] === "") delete filters[key];
    });
    state.filters = filters;
    const here = read(location.hash);
    if (FILTERED.has(here.view)) {
      // No new history entry: going back should leave the view, not undo one move of a cut-off.
      history.replaceState(null, "", write(here.view, null, { ...filters, ...drawingOf(here.options) }));
    }
    state.listeners.forEach((listen) => listen());
  }

  // Notes in the address how something is drawn; null for the usual way.
  function keepInAddress(key, value) {
    const here = read(location.hash);
    if ((here.options[key] || null) === value) return;
    history.replaceState(null, "", write(here.view, here.number, { ...here.options, [key]: value }));
  }

  Object.assign(ibidem, { keepInAddress, address: { read, write, filtersOf, FILTERED, FILTERS }, state, setFilters });
})(window.ibidem);
