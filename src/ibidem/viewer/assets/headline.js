// The sentence above two texts: who repeated whom, how much, how much later, and what changed, as far as it is known.
(function (ibidem) {
  "use strict";

  const { h, many, number, isMissing } = ibidem;
  const WORDS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
  const inWords = (count, noun) => (count < WORDS.length ? `${WORDS[count]} ${noun}${count === 1 ? "" : "s"}` : many(count, noun));

  const MAX_NAME = 60;

  // The time between two moments, spelt out.
  function delay(days) {
    const minutes = days * 24 * 60;
    if (minutes < 1) return "less than a minute";
    if (minutes < 59.5) return many(Math.round(minutes), "minute");
    if (days < 2) return many(Math.round(minutes / 60), "hour");
    if (days < 60) return many(Math.round(days), "day");
    return days < 730 ? many(Math.round(days / 30.44), "month") : many(Math.round(days / 365.25), "year");
  }

  // What changed in the shared text, or that nothing did; nothing is said if it is not known.
  function changes(stretches, base) {
    if (!stretches.length || stretches.some((stretch) => stretch.is_compared === false)) return "";
    const { isRepetitive } = ibidem.alignment;
    const parts = stretches.flatMap((stretch) => stretch.parts).filter(({ look }) => look !== "same");
    const nMoved = stretches.flatMap((stretch) => stretch.moves).length;
    if (!parts.length && !nMoved) return stretches.every((stretch) => stretch.kind === "exact") ? ", word for word" : "";
    if (isRepetitive(stretches)) return ", with changes"; // sentences would be counted more than once
    const [isGone, isNew] = ["right", "left"].map((side) => (part) => part[side][0] === part[side][1]);
    const isLost = base === "right" ? isNew : isGone;
    const counts = { rewritten: 0, edited: 0, removed: 0, added: 0 };
    for (const part of parts) {
      if (isGone(part) || isNew(part)) counts[isLost(part) ? "removed" : "added"] += 1;
      else counts[part.look] += 1;
    }
    const said = Object.entries(counts)
      .filter(([, count]) => count)
      .map(([what, count], at) => `${at ? (count < WORDS.length ? WORDS[count] : number(count)) : inWords(count, "sentence")} ${what}`);
    if (nMoved) said.push(`${inWords(nMoved, "part")} moved`);
    const last = said.pop();
    return `, with ${said.length ? `${said.join(", ")} and ${last}` : last}`;
  }

  function howMuch(share, stretches) {
    if (share >= 0.995) return "";
    if (share >= 0.5) return "most of ";
    if (share >= 0.1) return "part of ";
    return stretches.length === 1 ? "a passage of " : `${inWords(stretches.length, "passage")} of `;
  }

  const shortened = (name) => (name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name);
  const quoted = (text) => h("bdi", { class: "name", title: ibidem.named(text) }, `“${shortened(ibidem.named(text))}”`);

  // `earlier`: "left", "right" or null; `base`: the text that the other is compared with, in the same words. `days`: between them,
  // or null. A base without an earlier text is a reference. Returns nodes.
  function headline({ left, right, earlier, base, days, shares, stretches, similarity }) {
    if (!stretches.length && !isMissing(similarity)) {
      return [quoted(left), " and ", quoted(right), ` are similar (similarity ${ibidem.similarity(similarity)})`];
    }
    if (!stretches.length) return [quoted(left), " and ", quoted(right), " share no passage"];
    const changed = changes(stretches, base);
    const known = shares.map((share) => (isMissing(share) ? 0 : share));
    if (!earlier && base) {
      const [reference, own, share] = base === "left" ? [left, right, known[1]] : [right, left, known[0]];
      const part = share >= 0.995 ? "all of its text" : share >= 0.5 ? "most of its text" : inWords(stretches.length, "passage");
      return [quoted(own), ` shares ${part} with `, quoted(reference), changed];
    }
    if (!earlier) {
      const least = Math.min(...known);
      const part =
        least >= 0.995 ? (changed === ", word for word" ? "are the same text" : "share all of their text") : least >= 0.5 ? "share most of their text" : `share ${inWords(stretches.length, "passage")}`;
      return [quoted(left), " and ", quoted(right), ` ${part}${least >= 0.995 && changed === ", word for word" ? "" : changed}`];
    }
    const [first, second] = earlier === "left" ? [left, right] : [right, left];
    const part = howMuch(known[earlier === "left" ? 0 : 1], stretches);
    const later = isMissing(days) ? " later" : ` ${delay(days)} later`;
    if (!first.group || !second.group) return [quoted(second), ` repeats ${part}`, quoted(first), `${later}${changed}`];
    if (first.group === second.group) {
      return [h("bdi", null, second.group), ` repeated ${part}its own text${later}${changed}`];
    }
    return [h("bdi", null, second.group), ` repeated ${part}`, h("bdi", null, first.group), `’s text${later}${changed}`];
  }

  Object.assign(ibidem, { headline });
})(window.ibidem);
