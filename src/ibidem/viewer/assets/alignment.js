// The alignment of two texts: what they share, as stretches and sentences of the left and of the right text, and which place of
// one belongs to which place of the other. Nothing here touches the page.
(function (ibidem) {
  "use strict";

  const LOOKS = ["same", "edited", "rewritten"];
  // Kinds of changes that change what a text says.
  const TELLING = ["number", "date", "name", "negation", "unit"];
  const NAMED = [...TELLING, "spelling", "order"]; // the others, such as added words, can be seen
  const MOVED = 3; // a sentence of which only moved words are left: they are parts themselves
  const turned = ([a0, a1, b0, b1, ...rest], isTurned) => (isTurned ? [b0, b1, a0, a1, ...rest] : [a0, a1, b0, b1, ...rest]);
  const length = ([start, end]) => end - start;
  const sizeOf = (one) => Math.min(length(one.left), length(one.right));

  // Returns stretches in the order of the left text, numbered from 1. Their `parts` are sentences, { left, right, look };
  // neighbouring sentences that are the same are one part. A rewritten one has no word in common with the other text. Words that
  // were moved are a part of their own, with `isMoved`, perhaps within a sentence. If `isTurned`, b is on the left.
  function aligned(stretches, isTurned) {
    const found = stretches.map((one) => {
      const [l0, l1, r0, r1] = turned([one.a_start, one.a_end, one.b_start, one.b_end], isTurned);
      const kinds = one.edit_kinds || [];
      const edits = (one.edits || []).map((edit, at) => Object.assign(turned(edit, isTurned), { kinds: kinds[at] || [] }));
      const look = one.is_compared === false || edits.length ? 1 : 0;
      const sentences = (one.sentences || []).length
        ? one.sentences.map((each) => turned(each, isTurned))
        : [[l0, l1, r0, r1, look]];
      const partOf = (each, more) => ({ left: [each[0], each[1]], right: [each[2], each[3]], ...more });
      const parts = sentences.filter((each) => each[4] !== MOVED).map((each) => partOf(each, { look: LOOKS[each[4]] }));
      const moves = (one.moves || []).map((move) => partOf(turned(move, isTurned), { look: "same", isMoved: true }));
      return { ...one, left: [l0, l1], right: [r0, r1], edits, moves, parts: [...parts, ...moves] };
    });
    found.sort((one, other) => one.left[0] - other.left[0] || one.right[0] - other.right[0]);
    found.forEach((stretch, at) => {
      stretch.number = at + 1;
      stretch.parts.forEach((part) => {
        part.stretch = stretch;
      });
    });
    return found;
  }

  const largest = (stretches) =>
    stretches.reduce((best, one) => (best && sizeOf(best) >= sizeOf(one) ? best : one), null);

  // The number of characters of one side in stretches; overlaps count once.
  function covered(stretches, side) {
    let count = 0;
    let reached = 0;
    for (const [start, end] of stretches.map((one) => one[side]).sort((one, other) => one[0] - other[0])) {
      count += Math.max(0, end - Math.max(start, reached));
      reached = Math.max(reached, end);
    }
    return count;
  }

  // The spans of one side, for ibidem.piecesOf.
  function spansOf(stretches, side) {
    const at = side === "left" ? 0 : 2;
    return stretches.flatMap((stretch) => {
      let next = 0;
      return stretch.parts.map((part) => {
        const [start, end] = part[side];
        const changes = [];
        if (part.isMoved) return { id: part, start, end, weight: sizeOf(stretch) + 0.5, changes }; // above its sentence
        while (next < stretch.edits.length && stretch.edits[next][at + 1] <= end) {
          const edit = stretch.edits[next];
          changes.push([edit[at], edit[at + 1], edit]);
          next += 1;
        }
        return { id: part, start, end, weight: sizeOf(stretch), changes };
      });
    });
  }

  // Returns those of `items`, in the order of the left text, that are also in order in the right one and together weigh most.
  // `kept` is always among them: where text was moved, the way past the chosen passage is the one to follow.
  function inOrder(items, kept) {
    const isFitting = (one) =>
      !kept || one === kept || (one.left < kept.left && one.right < kept.right) || (one.left > kept.left && one.right > kept.right);
    const fitting = items.filter(isFitting);
    const ranks = [...new Set(fitting.map((one) => one.right))].sort((one, other) => one - other);
    const rankOf = new Map(ranks.map((place, at) => [place, at + 1]));
    const best = new Array(ranks.length + 1).fill(null); // a Fenwick tree: the heaviest way that ends at or before a rank
    const before = (rank) => {
      let found = null;
      for (let at = rank; at > 0; at -= at & -at) if (best[at] && (!found || best[at].sum > found.sum)) found = best[at];
      return found;
    };
    const enter = (rank, way) => {
      for (let at = rank; at < best.length; at += at & -at) if (!best[at] || way.sum > best[at].sum) best[at] = way;
    };
    let heaviest = null;
    for (const item of fitting) {
      const rank = rankOf.get(item.right);
      const previous = before(rank - 1);
      const way = { item, previous, sum: item.weight + (previous ? previous.sum : 0) };
      enter(rank, way);
      if (!heaviest || way.sum > heaviest.sum) heaviest = way;
    }
    const found = [];
    for (let way = heaviest; way; way = way.previous) found.push(way.item);
    return found.reverse();
  }

  // Returns a function from places of one side to places of the other, linear between pairs of places that rise on both.
  function following(pairs) {
    const rising = [];
    for (const [from, to] of pairs) {
      const last = rising[rising.length - 1];
      if (!last || (from > last[0] && to >= last[1])) rising.push([from, to]);
    }
    return (place) => {
      let low = 0;
      let high = rising.length - 1;
      if (high < 0) return place;
      if (place <= rising[0][0]) return rising[0][1] + (place - rising[0][0]);
      if (place >= rising[high][0]) return rising[high][1] + (place - rising[high][0]);
      while (high - low > 1) {
        const middle = (low + high) >> 1;
        if (rising[middle][0] <= place) low = middle;
        else high = middle;
      }
      const [[from, to], [nextFrom, nextTo]] = [rising[low], rising[high]];
      return to + ((place - from) / (nextFrom - from)) * (nextTo - to);
    };
  }

  // Whether a part is in both texts, so that a ribbon can join it.
  const isJoined = ({ look, left, right }) => look !== "rewritten" && left[0] < left[1] && right[0] < right[1];

  // Whether the same place is in several stretches, as in texts that repeat themselves.
  const isRepetitive = (stretches) => {
    const sum = (side) => stretches.reduce((total, one) => total + length(one[side]), 0);
    return ["left", "right"].some((side) => sum(side) > 1.02 * covered(stretches, side));
  };

  // How many edits of each telling kind there are, as [kind, count].
  function tellingKinds(stretches) {
    const kinds = stretches.flatMap((stretch) => stretch.edits.flatMap((edit) => edit.kinds));
    return TELLING.map((kind) => [kind, kinds.filter((each) => each === kind).length]).filter(([, count]) => count);
  }

  Object.assign(ibidem, { alignment: { TELLING, NAMED, tellingKinds, isRepetitive, isJoined, aligned, largest, covered, spansOf, inOrder, following } });
})(window.ibidem);
