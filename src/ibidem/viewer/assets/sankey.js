// Who took text from whom: bands from the left to the right, as wide as the amount of text.
(function (ibidem) {
  "use strict";

  const { h, svg, number, many } = ibidem;
  const BAR = 8;
  const LEAST_SLOT = 19;
  const GAP = 7;
  const HEAD = 24; // for what the two sides are

  // Ends with their places: bars in slots, each slot at least as high as a line of text.
  function placed(ends, sizes, scale) {
    let top = 0;
    return ends.map((end, at) => {
      const height = Math.max(2, sizes[at] * scale);
      const slot = Math.max(height + GAP, LEAST_SLOT);
      const one = { ...end, at, size: sizes[at], height, y: top + (slot - height) / 2, used: 0 };
      top += slot;
      return { ...one, bottom: top };
    });
  }

  const heightOf = (ends) => (ends.length ? ends[ends.length - 1].bottom : 0);

  // The ends of one side, with all others as the last one.
  function endsOf(listed, nOther, noun) {
    return nOther > 0 ? [...listed, { name: `${number(nOther)} other ${nOther === 1 ? noun : `${noun}s`}`, isOther: true }] : listed;
  }

  // The order of the right side that lets bands cross least: by where their text comes from.
  function untangled(nRight, links, nFixed) {
    const middle = Array.from({ length: nRight }, () => ({ sum: 0, size: 0 }));
    links.forEach((link) => {
      middle[link.to].sum += link.from * link.n_chars;
      middle[link.to].size += link.n_chars;
    });
    const order = middle.map((each, at) => ({ at, mean: each.size ? each.sum / each.size : Infinity }));
    order.sort((one, other) => (one.at >= nFixed) - (other.at >= nFixed) || one.mean - other.mean || one.at - other.at);
    return order.map(({ at }) => at);
  }

  function band(from, to, y0, y1, width, x0, x1) {
    const middle = (x0 + x1) / 2;
    const [a, b] = [y0 + width / 2, y1 + width / 2];
    return `M${x0},${a}C${middle},${a} ${middle},${b} ${x1},${b}`;
  }

  // As much of a name as fits into so many pixels, of a path its end; letters of East Asian scripts are twice as wide.
  function fitting(name, room, size) {
    let used = 0;
    let at = 0;
    const isPath = /^[^\s]+\/[^\s]+$/.test(name);
    const letters = isPath ? Array.from(name).reverse() : Array.from(name);
    while (at < letters.length) {
      used += /[\u1100-\u11ff\u2e80-\ua4cf\uac00-\ud7af\uff00-\uff60]/u.test(letters[at]) ? 13.5 : /[A-Z+@%mw]/.test(letters[at]) ? 9.4 : 7;
      if (used * size > (room - 6) * 13) break;
      at += 1;
    }
    if (at === letters.length) return name;
    if (isPath) {
      const end = letters.slice(0, at).reverse().join("");
      const cut = end.indexOf("/");
      return `…${cut > 0 ? end.slice(cut) : end}`;
    }
    return `${letters.slice(0, at).join("").trimEnd()}…`;
  }

  // A click on a shape opens an address. Links inside of a picture would confuse screen readers, which get a description of it.
  function leading(shape, address) {
    if (!address) return shape;
    shape.dataset.open = address;
    shape.addEventListener("click", () => {
      location.hash = address;
    });
    return shape;
  }

  const NOUNS = { groups: "outlet", folders: "folder", documents: "document" };

  // What the two sides are.
  const headsOf = (picture) =>
    picture.is_from_reference ? ["reference", "also in"] : picture.is_directed ? ["first in", "later in"] : ["this text", "is in"];

  // Says in words what the picture shows.
  function inWords(picture, left, right) {
    const largest = [...picture.links].sort((one, other) => other.n_chars - one.n_chars).slice(0, 8);
    const joint = picture.is_directed ? "to" : "in";
    return largest
      .map((link) => `${left[link.from].name} ${joint} ${right[link.to].name}: ${many(link.n_chars, "character")}`)
      .join("; ");
  }

  // Returns the drawing for a width. `colour` gives the class of a name; `open(link, left, right)` an address or null.
  function sankey(picture, width, colour, open) {
    const noun = NOUNS[picture.of];
    const left = endsOf(picture.left, picture.n_other_left, picture.is_directed ? noun : "text");
    const listed = endsOf(picture.right, picture.n_other_right, noun);
    const order = untangled(listed.length, picture.links, picture.right.length);
    const right = order.map((at) => listed[at]);
    const rank = new Map(order.map((at, place) => [at, place]));
    const links = picture.links.map((link) => ({ ...link, to: rank.get(link.to) }));
    const sizes = (key, ends) => ends.map((_, at) => links.reduce((sum, link) => sum + (link[key] === at ? link.n_chars : 0), 0));
    const [sizesLeft, sizesRight] = [sizes("from", left), sizes("to", right)];
    const total = Math.max(1, sizesLeft.reduce((sum, size) => sum + size, 0));
    const scale = Math.max(150, Math.min(230, width * 0.5)) / total;
    const [a, b] = [placed(left, sizesLeft, scale), placed(right, sizesRight, scale)];
    const height = HEAD + Math.max(heightOf(a), heightOf(b));
    const shift = [a, b].map((ends) => HEAD + (height - HEAD - heightOf(ends)) / 2);
    const label = Math.min(240, width * (picture.is_directed ? 0.3 : 0.36));
    const labelRight = Math.min(190, width * 0.32);
    const [x0, x1] = [label + 6 + BAR, width - labelRight - 6 - BAR];
    const bands = [...links]
      .sort((one, other) => one.from - other.from || one.to - other.to)
      .map((link) => ({ link, thick: Math.max(1.2, link.n_chars * scale) }));
    bands.forEach((each) => {
      const from = a[each.link.from];
      each.y0 = from.y + shift[0] + from.used;
      from.used += each.link.n_chars * scale;
    });
    [...bands]
      .sort((one, other) => one.link.to - other.link.to || one.link.from - other.link.from)
      .forEach((each) => {
        const to = b[each.link.to];
        each.y1 = to.y + shift[1] + to.used;
        to.used += each.link.n_chars * scale;
      });
    const nameOf = (end) => (end.isOther ? "outlet" : picture.is_directed || !end.family ? colour(end.name) : `outlet outlet${end.at % 10}`);
    const joint = picture.is_directed ? "→" : "in";
    const drawn = bands.map(({ link, thick, y0, y1 }) => {
      const [from, to] = [a[link.from], b[link.to]];
      const says = `${from.name} ${joint} ${to.name}\n${many(link.n_chars, "character")}${picture.is_directed ? ` in ${many(link.n_stories, picture.is_from_reference ? "pair" : "text")}` : ""}`;
      const path = svg(
        "path",
        { d: band(from, to, y0, y1, thick, x0, x1), class: `band ${nameOf(from)}`, "stroke-width": String(thick), fill: "none" },
        svg("title", null, says),
      );
      return leading(path, open(link, from, to));
    });
    const ends = (side, isLeft) =>
      side.map((end) => {
        const y = end.y + shift[isLeft ? 0 : 1];
        const room = isLeft ? label : labelRight;
        const x = isLeft ? label + 6 : width - labelRight - 6 - BAR;
        const text = svg(
          "text",
          {
            x: String(isLeft ? label : width - labelRight),
            y: String(y + end.height / 2),
            "text-anchor": isLeft ? "end" : "start",
            class: "end-name",
          },
          fitting(end.name, room, width < 500 ? 11.5 : 13),
          svg("title", null, end.name),
        );
        return [
          svg("rect", { x: String(x), y: String(y), width: String(BAR), height: String(end.height), class: `end ${nameOf(end)}` }),
          leading(text, isLeft && end.family && open(null, end, null)),
        ];
      });
    return svg(
      "svg",
      {
        class: "sankey",
        viewBox: `0 0 ${Math.round(width)} ${Math.ceil(height)}`,
        width: String(Math.round(width)),
        height: String(Math.ceil(height)),
        role: "img",
        "aria-label": inWords(picture, left, listed),
      },
      headsOf(picture).map((says, at) =>
        svg("text", { x: String(at ? width - labelRight : label), y: "10", "text-anchor": at ? "start" : "end", class: "side-name" }, says),
      ),
      drawn,
      ends(a, true),
      ends(b, false),
    );
  }

  function captionOf(picture) {
    const noun = NOUNS[picture.of];
    if (picture.is_from_reference) {
      const left = picture.n_left_out > 0 ? ` ${many(picture.n_left_out, `more ${noun}`)} ${ibidem.are(picture.n_left_out)} not drawn.` : "";
      return `From the reference (left) to the ${noun}s that share text with it (right). Width: number of characters.${left}`;
    }
    if (picture.is_directed) {
      return `From the ${noun} where a text first appeared (left) to those where it appeared later (right). Width: number of characters. Text that stays within one ${noun} is left out.`;
    }
    const more = picture.n_left_out > 0 ? ` ${many(picture.n_left_out, `more ${noun}`)} ${ibidem.are(picture.n_left_out)} not drawn.` : "";
    const texts = ibidem.isCluster(ibidem.state.summary) ? "Clusters" : "Shared texts";
    return `${texts} (left) and the ${noun}s that contain them (right). Width: number of characters.${more}`;
  }

  // Returns { element, draw(), close() }: the picture, drawn again whenever its width changes.
  function flowPicture(picture, colour, open) {
    const place = h("div", { class: "picture" });
    let width = 0;
    const draw = () => {
      const now = Math.floor(place.clientWidth);
      if (!now || now === width) return;
      width = now;
      place.replaceChildren(sankey(picture, width, colour, open));
    };
    const watcher = new ResizeObserver(draw);
    watcher.observe(place);
    const element = h("figure", { class: "who-whom" }, place, h("figcaption", { class: "about" }, captionOf(picture)));
    return { element, draw, close: () => watcher.disconnect() };
  }

  Object.assign(ibidem, { flowPicture });
})(window.ibidem);
