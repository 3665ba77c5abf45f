// A picture of the evidence: a card with the words of both sides, made as SVG, and drawn as PNG by the browser.
(function (ibidem) {
  "use strict";

  const { svg, percent, many, number } = ibidem;
  const WIDTH = 1200;
  const EDGE = 56;
  const GAP = 48;
  const SERIF = "Georgia, 'Noto Serif', serif";
  const SANS = "system-ui, 'Noto Sans', sans-serif";
  const MONO = "ui-monospace, 'Noto Sans Mono', monospace";
  const INK = "#16181c";
  const QUIET = "#55595f";
  const MARK = "#fbe7b5";
  const SAME = "#dbe8f7";
  const MOVED = "#0b57b0"; // the dashes below words that are at another place in the other text
  const MAX_LINES = 14;
  const CJK = /[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]/;
  const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]/;

  let ruler = null;
  function widthOf(text, font) {
    ruler = ruler || document.createElement("canvas").getContext("2d");
    ruler.font = font;
    return ruler.measureText(text).width;
  }

  // The smallest parts that a line is made of, each with whether its words differ.
  function tokensOf(text, changes, moves = []) {
    const tokens = [];
    let at = 0;
    const isIn = (places) => places.some(([start, end]) => at >= start && at < end);
    for (const character of text.replace(/\s/g, " ")) {
      const [isChanged, isMoved] = [isIn(changes), isIn(moves)];
      const last = tokens[tokens.length - 1];
      const isOpen = last && !last.text.endsWith(" ") && !CJK.test(last.text) && !CJK.test(character);
      if (isOpen && last.isChanged === isChanged && last.isMoved === isMoved) last.text += character;
      else tokens.push({ text: character, isChanged, isMoved, isGlued: Boolean(isOpen) });
      at += 1;
    }
    return tokens;
  }

  // Lines of tokens that fit a width, at most so many; the last one ends with an ellipsis if there is more.
  function linesOf(text, changes, width, font, most, moves) {
    const lines = [[]];
    let used = 0;
    const most_ = most || MAX_LINES;
    const tokens = tokensOf(text.slice(0, 4000).trimEnd(), changes, moves);
    for (const token of tokens) {
      const size = widthOf(token.text, font);
      const line = lines[lines.length - 1];
      if (line.length && used + widthOf(token.text.trimEnd(), font) > width && !token.isGlued) {
        if (lines.length === most_) {
          line.push({ text: "…", isChanged: false });
          return lines;
        }
        lines.push([]);
        used = 0;
        if (token.text === " ") continue;
      }
      lines[lines.length - 1].push(token);
      used += size;
    }
    return lines;
  }

  const words = (x, y, size, fill, family, text, more) =>
    svg("text", { x: String(x), y: String(y), "font-size": String(size), fill, "font-family": family, ...more }, text);

  // A block of text; returns the height it takes.
  function block(place, text, changes, x, y, width, { size = 22, most, isMarked = true, moves } = {}) {
    const font = `${size}px ${SERIF}`;
    const step = Math.round(size * 1.5);
    const lines = linesOf(text, changes, width, font, most, moves);
    const isTurned = RIGHT_TO_LEFT.test(text.slice(0, 200));
    lines.forEach((line, row) => {
      const top = y + row * step;
      const whole = line.map((token) => token.text).join("").trimEnd();
      if (isTurned) {
        place.append(words(x + width, top, size, INK, SERIF, whole, { direction: "rtl", "text-anchor": "start" }));
        return;
      }
      let at = x;
      const last = line[line.length - 1];
      if (last) last.text = last.text.trimEnd();
      for (const token of line) {
        const room = widthOf(token.text, font);
        if (isMarked && token.text !== "…") {
          const box = { x: at.toFixed(1), y: String(top - size), width: room.toFixed(1), height: String(step - 2) };
          place.append(svg("rect", { ...box, fill: token.isChanged ? MARK : SAME }));
          if (token.isMoved) {
            const under = { x1: at.toFixed(1), x2: (at + room).toFixed(1), y1: String(top + 6), y2: String(top + 6) };
            place.append(svg("line", { ...under, stroke: MOVED, "stroke-dasharray": "6 4" }));
          }
        }
        at += room;
      }
      place.append(words(x, top, size, INK, SERIF, whole, { "xml:space": "preserve" }));
    });
    return lines.length * step;
  }

  function heading(place, x, y, width, side) {
    const name = linesOf(side.name, [], width, `600 22px ${SANS}`, 1)[0].map((token) => token.text).join("");
    place.append(words(x, y, 22, INK, SANS, name, { "font-weight": "600" }));
    const about = [side.from, side.share === null ? null : `${percent(side.share)} shared`].filter(Boolean).join(" · ");
    const line = linesOf(about, [], width, `18px ${SANS}`, 1)[0].map((token) => token.text).join("");
    place.append(words(x, y + 28, 18, QUIET, SANS, line));
  }

  // Both sides of a passage, one beside the other.
  function columns(place, evidence, y) {
    const width = (WIDTH - 2 * EDGE - GAP) / 2;
    const chosen = evidence.rows.find((row) => row.isChosen) || evidence.rows[0];
    const heights = evidence.sides.map((side, at) => {
      const x = EDGE + at * (width + GAP);
      heading(place, x, y, width, side);
      const cell = chosen && chosen.cells[at];
      if (!cell) return 40;
      if (!cell.text) {
        place.append(words(x, y + 74, 20, QUIET, SANS, `The words are not available: ${cell.place}`));
        return 80;
      }
      return 74 + block(place, cell.text, cell.changes, x, y + 74, width, { moves: cell.moves });
    });
    const others = evidence.rows.length - 1;
    if (others > 0) {
      const below = y + Math.max(...heights) + 20;
      place.append(words(EDGE, below, 18, QUIET, SANS, `and ${many(others, "more passage", "more passages")}`));
      return below + 14;
    }
    return y + Math.max(40, ...heights);
  }

  // One text, and the places where it appears in order.
  function story(place, evidence, y) {
    const [row] = evidence.rows;
    let below = y;
    const shown = row && (row.cells[1] || row.cells[0]); // a story's changed wording says most
    if (shown && shown.text) below += block(place, shown.text, shown.changes, EDGE, y, WIDTH - 2 * EDGE, { size: 24, most: 7, moves: shown.moves }) + 16;
    evidence.places.slice(0, 8).forEach((one) => {
      const about = [one.group || null, ibidem.named(one), one.time && ibidem.time(one.time), ibidem.located(one)].filter(Boolean).join(" · ");
      const line = linesOf(about, [], WIDTH - 2 * EDGE - 24, `19px ${SANS}`, 1)[0].map((token) => token.text).join("");
      place.append(svg("circle", { cx: String(EDGE + 6), cy: String(below - 6), r: "5", fill: "#0b57b0" }));
      place.append(words(EDGE + 24, below, 19, INK, SANS, line));
      if (one.sha256) {
        below += 22;
        place.append(words(EDGE + 24, below, 14, QUIET, MONO, `SHA-256 ${one.sha256}`));
      }
      below += 32;
    });
    const more = evidence.nPlaces - Math.min(8, evidence.places.length);
    if (more > 0) place.append(words(EDGE + 24, below, 18, QUIET, SANS, `and ${number(more)} more`));
    return below + (more > 0 ? 26 : 0);
  }

  // A large figure, and bars of the sources.
  function figure(place, evidence, y) {
    place.append(words(EDGE, y + 84, 110, INK, SERIF, evidence.share, { "font-weight": "600" }));
    place.append(words(EDGE, y + 126, 22, QUIET, SANS, evidence.about));
    let below = y + 180;
    const room = 300;
    evidence.bars.slice(0, 8).forEach((bar) => {
      const line = linesOf(bar.name, [], WIDTH - 2 * EDGE - room - 110, `20px ${SANS}`, 1)[0].map((token) => token.text).join("");
      const size = { y: String(below - 14), height: "14", rx: "3" };
      place.append(svg("rect", { x: String(EDGE), width: String(room), fill: "#e6e7e9", ...size }));
      place.append(svg("rect", { x: String(EDGE), width: String(Math.max(3, room * bar.share)), fill: "#0b57b0", ...size }));
      place.append(words(EDGE + room + 16, below, 20, INK, SANS, percent(bar.share), { "font-weight": "600" }));
      place.append(words(EDGE + room + 96, below, 20, INK, SANS, line));
      below += 34;
    });
    const more = evidence.bars.length - 8;
    if (more > 0) place.append(words(EDGE, below, 18, QUIET, SANS, `and ${many(more, "more source", "more sources")}`));
    return below + (more > 0 ? 26 : 0);
  }

  // Returns { source, width, height }: a whole SVG file.
  function picture(evidence) {
    const place = svg("g", null);
    let y = 84;
    linesOf(evidence.title, [], WIDTH - 2 * EDGE, `600 36px ${SERIF}`, 3).forEach((line) => {
      place.append(words(EDGE, y, 36, INK, SERIF, line.map((token) => token.text).join(""), { "font-weight": "600" }));
      y += 46;
    });
    y += 26;
    const draw = evidence.bars ? figure : evidence.sides.length ? columns : story;
    y = draw(place, evidence, y) + 34;
    const { summary } = evidence;
    const from = evidence.isAnonymous || !summary ? [] : [summary.title];
    const about = [...from, summary && `ibidem ${summary.version}`, ibidem.time(new Date().toISOString().slice(0, 10))];
    const caption = `${ibidem.evidence.CAUTION}   ${about.filter(Boolean).join(" · ")}`;
    place.append(svg("line", { x1: String(EDGE), x2: String(WIDTH - EDGE), y1: String(y), y2: String(y), stroke: "#dcdedf" }));
    place.append(words(EDGE, y + 32, 18, QUIET, SANS, caption));
    const height = Math.ceil(y + 64);
    const whole = svg(
      "svg",
      { width: String(WIDTH), height: String(height), viewBox: `0 0 ${WIDTH} ${height}` },
      svg("title", null, evidence.title),
      svg("desc", null, caption),
      svg("rect", { width: String(WIDTH), height: String(height), fill: "#ffffff" }),
      place,
    );
    const source = `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(whole)}`;
    return { source, width: WIDTH, height };
  }

  async function asPng({ source, width, height }) {
    const image = new Image();
    image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(source)}`;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [2 * width, 2 * height];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((resolve, reject) => {
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(ibidem.problem("The picture could not be drawn."))), "image/png");
    });
  }

  Object.assign(ibidem, { picture, pictureAsPng: asPng });
})(window.ibidem);
