// Conditions: splits the content of the search box into conditions, words to look for, and what is neither.
(function (ibidem) {
  "use strict";

  const KINDS = ["exact", "near", "quote"];
  const VERDICTS = ["confirmed", "rejected", "unsure", "none"];
  const MEASURE = /^(?:min_)?(similarity|coverage|longest)$/;
  const LIMITS = "only similarity, coverage and longest can be limited, as in coverage>50%";
  // Columns and measures that people may try to limit: such a limit is refused, not searched for as a word.
  const UNLIMITED = new Set(["days", "shared", "passages", "n_passages", "apart", "characters", "length", "verdict", "kind"]);
  const KNOWN = new Set(["group", "kind", "verdict", "year", "document"]);
  // A name, an operator, a value; spaces only around <, > and the like, as words may end with a colon.
  const CONDITION = /(?<=^|\s)([\p{L}_]+)(?:(\s*(?:>=|<=|≥|≤|>|<)\s*)|([:=]))("[^"]*"?|[^\s"]*(?:\s%(?=\s|$))?)/gu;

  const bare = (value) => value.replace(/^"|"$/g, "").trim();
  const either = (values) => `${values.slice(0, -1).join(", ")} or ${values[values.length - 1]}`;

  // A limit as a number: a share from 0 to 1, a percentage with % or from 2 up, or a count of characters.
  function amountOf(measure, value) {
    const found = /^(\d+(?:\.\d*)?|\.\d+)\s?(%?)$/.exec(value);
    if (!found) return null;
    const amount = Number(found[1]);
    if (measure === "longest") return found[2] ? null : Math.ceil(amount);
    if (found[2]) return amount <= 100 ? amount / 100 : null;
    if (amount <= 1) return amount;
    return amount >= 2 && amount <= 100 ? amount / 100 : null;
  }

  function limit(measure, sign, value) {
    if (/[<≤]/.test(sign))
      return { hint: `only a lower limit is possible, as in ${measure}>${measure === "longest" ? 200 : "50%"}` };
    const amount = amountOf(measure, value);
    if (amount === null)
      return { hint: measure === "longest" ? "give a number of characters" : "give a share such as 0.5 or 50%" };
    return { set: { [`min_${measure}`]: amount } };
  }

  function choice(name, value, values) {
    const chosen = value.toLowerCase();
    return values.includes(chosen) ? { set: { [name]: chosen } } : { hint: `must be ${either(values)}` };
  }

  // Group names, ignoring case; without quotation marks, the words that follow may belong to the name.
  function group(given, rest, groups) {
    const value = bare(given);
    const match = (name) => groups.find((each) => each.toLowerCase() === name.toLowerCase());
    if (!value) return { hint: 'give the name of a group, as in group:"Harbour Post"' };
    if (!groups.length) return { set: { group: value } };
    if (!given.startsWith('"')) {
      const longest = groups
        .filter((each) => `${value}${rest} `.replace(/\s+/g, " ").toLowerCase().startsWith(`${each.toLowerCase()} `))
        .sort((one, other) => other.length - one.length)[0];
      if (longest) return { set: { group: longest }, nMore: longest.split(/\s+/).length - 1 };
    }
    if (match(value)) return { set: { group: match(value) } };
    const near = groups.filter((each) => each.toLowerCase().includes(value.toLowerCase())).slice(0, 3);
    const closest = near.map((each) => `"${each}"`).join(", ");
    return {
      hint: near.length ? `no group has this name; did you mean ${closest}?` : "no group has this name",
    };
  }

  // What a condition means: { set } the filters, { hint } what would be accepted, or null if it is not a condition.
  function meaning(name, sign, given, rest, { groups, hasVerdicts }) {
    const value = bare(given);
    const measure = MEASURE.exec(name);
    if (measure) return limit(measure[1], sign, value);
    const isLimit = /[<>≤≥]/.test(sign);
    if (isLimit) return UNLIMITED.has(name) || KNOWN.has(name) || /^[\d.]/.test(value) ? { hint: LIMITS } : null;
    if (name === "group") return group(given, rest, groups);
    if (name === "kind") return choice(name, value, KINDS);
    if (name === "verdict") return hasVerdicts ? choice(name, value, VERDICTS) : { hint: "there are no verdicts here" };
    if (name === "year")
      return /^\d{1,4}$/.test(value) ? { set: { year: Number(value) } } : { hint: "give a year, as in year:2031" };
    if (name === "document")
      return /^\d+$/.test(value) ? { set: { document: Number(value) } } : { hint: "give the number of a document" };
    return null;
  }

  // Returns { conditions, words, misunderstood: [{ text, hint }] }; `known`: { groups: [names], hasVerdicts }.
  function conditionsOf(text, known) {
    const conditions = {};
    const misunderstood = [];
    const words = [];
    const all = String(text);
    let at = 0;
    CONDITION.lastIndex = 0;
    for (let found = CONDITION.exec(all); found; found = CONDITION.exec(all)) {
      const [whole, name, limitSign, otherSign, given] = found;
      const before = all.slice(at, found.index);
      // Inside quotation marks, everything is words.
      if (before.split('"').length % 2 === 0) continue;
      let end = found.index + whole.length;
      const meant = meaning(name.toLowerCase(), (limitSign || otherSign).trim(), given, all.slice(end), known);
      if (!meant) continue;
      if (meant.nMore) end += new RegExp(`^(\\s+\\S+){${meant.nMore}}`).exec(all.slice(end))[0].length;
      if (meant.set) Object.assign(conditions, meant.set);
      else misunderstood.push({ text: whole.trim(), hint: meant.hint });
      words.push(before);
      at = end;
      CONDITION.lastIndex = end;
    }
    words.push(all.slice(at));
    return { conditions, words: words.join(" ").trim().replace(/\s+/g, " "), misunderstood };
  }

  Object.assign(ibidem, { conditionsOf });
})(window.ibidem);
