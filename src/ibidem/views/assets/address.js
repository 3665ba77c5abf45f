// The address: what is shown is written behind the # of the page's address, so that a link restores it.
(function (ibidem) {
  "use strict";

  const FILTERS = [
    "min_similarity",
    "min_coverage",
    "min_longest",
    "search",
    "group",
    "kind",
    "year",
    "verdict",
    "document",
    "sort",
    "order",
  ];
  const NUMBERS = new Set(["min_similarity", "min_coverage", "min_longest", "year", "document"]);
  const FILTERED = new Set(["overview", "pairs", "flow"]);
  const CHOICES = { kind: ["exact", "near", "quote"], verdict: ["confirmed", "rejected", "unsure", "none"] };
  const CONDITION = /(?:^|\s)([a-z_]+)(>=|>|:|=)("[^"]*"|[^\s"]+)/gi;

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

  // Returns the filters among options; what is no number where a number belongs is left out.
  function filtersOf(options) {
    const filters = {};
    for (const key of FILTERS) {
      const value = options[key];
      if (value === undefined || value === "") continue;
      if (!NUMBERS.has(key)) filters[key] = value;
      else if (Number.isFinite(Number(value))) filters[key] = Number(value);
    }
    return filters;
  }

  // Splits what stands in the search box into conditions ("coverage>0.5", "kind:near") and words to look for.
  function conditionsOf(text) {
    const conditions = {};
    const words = String(text).replace(CONDITION, (whole, key, sign, given) => {
      const value = given.replace(/^"|"$/g, "");
      const name = key.toLowerCase();
      const measure = /^(min_)?(similarity|coverage|longest)$/.exec(name);
      if (measure) {
        let amount = Number.parseFloat(value);
        if (!Number.isFinite(amount)) return whole;
        if (measure[2] !== "longest" && (value.endsWith("%") || amount > 1)) amount /= 100;
        conditions[`min_${measure[2]}`] = measure[2] === "longest" ? Math.ceil(amount) : Math.min(1, amount);
      } else if (name === "group") {
        conditions.group = value;
      } else if (name === "kind" || name === "verdict") {
        // While it is typed it is none of these yet.
        if (CHOICES[name].includes(value)) conditions[name] = value;
      } else if (name === "year" || name === "document") {
        if (!/^\d+$/.test(value)) return whole;
        conditions[name] = Number(value);
      } else {
        return whole;
      }
      return " ";
    });
    return { conditions, words: words.trim().replace(/\s+/g, " ") };
  }

  // The filters in force, which the overview, the pairs and the flow share, and those who want to know when they change.
  const state = { filters: {}, listeners: new Set() };

  function setFilters(changes) {
    const filters = { ...state.filters, ...changes };
    Object.keys(filters).forEach((key) => {
      if (filters[key] === null || filters[key] === undefined || filters[key] === "") delete filters[key];
    });
    state.filters = filters;
    const here = read(location.hash);
    if (FILTERED.has(here.view)) {
      // Not a new entry of the history: going back should leave the view, not undo one move of a cut-off.
      history.replaceState(null, "", write(here.view, null, filters));
    }
    state.listeners.forEach((listen) => listen());
  }

  Object.assign(ibidem, { address: { read, write, filtersOf, conditionsOf, FILTERED, FILTERS }, state, setFilters });
})(window.ibidem);
