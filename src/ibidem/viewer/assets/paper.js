// A page to print or to save as a file: the evidence, with both passages, their places, digests of the texts, and the settings.
(function (ibidem) {
  "use strict";

  const { h, button, number, many, percent } = ibidem;
  const MAX_PLACES = 200;
  // The saved file has no other style: black on white, readable on paper.
  const STYLE = `
    body { margin: 2rem auto; max-width: 60rem; padding: 0 1.5rem; font: 15px/1.5 Georgia, serif; color: #16181c; background: #fff; }
    h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .3rem; } h2 { font-size: 1.1rem; margin: 1.6rem 0 .4rem; }
    p { margin: .4rem 0; } .paper-quiet { color: #55595f; font-size: .88rem; }
    table { border-collapse: collapse; width: 100%; } th, td { text-align: start; vertical-align: top; padding: .35rem .8rem .35rem 0; }
    thead th { border-bottom: 1px solid #8b8f96; font-size: .88rem; } tbody tr { border-bottom: 1px solid #dcdedf; break-inside: avoid; }
    .paper-number { width: 8rem; font-weight: 400; } .paper-words { white-space: pre-wrap; overflow-wrap: anywhere; } .paper-words td, td .paper-words { width: 50%; }
    .paper-places { font-size: .88rem; } .paper-places code { overflow-wrap: anywhere; } .paper-places td:nth-child(4) { white-space: nowrap; }
    u { text-decoration: underline 2px; text-underline-offset: .18em; background: #fbe7b5; }
    .moved { background: #dbe8f7; text-decoration: underline dashed 1px #0b57b0; text-underline-offset: .25em; }
    mark { background: #dbe8f7; color: inherit; } mark.left-aside { background: #eee; text-decoration: underline dotted; }
    dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1.2rem; margin: .3rem 0; }
    dt { color: #55595f; } dd { margin: 0; overflow-wrap: anywhere; } code { font: .85em ui-monospace, monospace; }
    .paper-share { font-size: 3.4rem; line-height: 1.1; font-weight: 600; margin: .6rem 0 0; }
    @page { margin: 16mm; } @media print { body { margin: 0; max-width: none; padding: 0; } a { color: inherit; } }`;

  const facts = (rows) => h("dl", null, rows.map(([key, value]) => [h("dt", null, key), h("dd", null, value)]));

  function sides(evidence) {
    if (!evidence.sides.length) return null;
    const row = (label, tell) => {
      const cells = evidence.sides.map(tell);
      return cells.some(Boolean) && h("tr", null, h("th", { scope: "row" }, label), cells.map((each) => h("td", null, each || "–")));
    };
    return h(
      "table",
      null,
      h("thead", null, h("tr", null, h("td", null), evidence.sides.map((side) => h("th", { scope: "col" }, h("bdi", null, side.name))))),
      h(
        "tbody",
        null,
        row("Id", (side) => side.id && h("bdi", null, side.id)),
        row("Source and date", (side) => side.from && h("bdi", null, side.from)),
        row("Shared", (side) => (side.share === null ? null : `${percent(side.share)} of its text`)),
        row("Length", (side) => !ibidem.isMissing(side.nChars) && many(side.nChars, "character")),
        row("SHA-256", (side) => side.sha256 && h("code", null, side.sha256)),
      ),
    );
  }

  function cell({ text, changes, moves, place, of }) {
    return h(
      "td",
      null,
      of && h("p", { class: "paper-quiet" }, h("bdi", null, of)),
      text
        ? h("div", { class: "paper-words", lang: "", dir: "auto" }, ibidem.underlined(text, changes, "u", moves))
        : h("p", { class: "paper-quiet" }, "The words are not available."),
      h("p", { class: "paper-quiet" }, h("bdi", null, place)),
    );
  }

  function passages(evidence) {
    const { MAX_ROWS } = ibidem.evidence;
    const shown = evidence.rows.slice(0, MAX_ROWS);
    if (!shown.length) return h("p", null, "There is no passage to show.");
    const has = (what) => shown.some((row) => row.cells.some((each) => (each[what] || []).length));
    const [isChanged, isMoved] = [has("changes"), has("moves")];
    return [
      isChanged && h("p", { class: "paper-quiet" }, h("u", null, "Marked"), " words differ."),
      isMoved && h("p", { class: "paper-quiet" }, h("span", { class: "moved" }, "Dashed"), " words are in both texts, in different places."),
      h(
        "table",
        null,
        h("tbody", null, shown.map((row) => h("tr", null, h("th", { scope: "row", class: "paper-number" }, h("span", { class: "paper-quiet" }, row.says)), row.cells.map(cell)))),
      ),
      evidence.rows.length > MAX_ROWS &&
        h("p", { class: "paper-quiet" }, `${number(MAX_ROWS)} of ${number(evidence.rows.length)} passages are printed.`),
    ];
  }

  // Every place that is known here: in which document, where in it, and the digest of that document.
  function placeTable({ places, nPlaces }) {
    const heads = ["", "Document", "Source and date", "Place in it", "SHA-256 of the document"];
    const row = (one, at) => [
      number(at + 1),
      [h("bdi", null, ibidem.named(one)), ibidem.named(one) !== one.id && h("p", { class: "paper-quiet" }, h("bdi", null, one.id))],
      h("bdi", null, [one.is_reference && "reference", one.group, one.time && ibidem.time(one.time)].filter(Boolean).join(" · ") || "–"),
      ibidem.located(one),
      one.sha256 ? h("code", null, one.sha256) : "–",
    ];
    const nMore = nPlaces - places.length;
    return [
      h(
        "table",
        { class: "paper-places" },
        h("thead", null, h("tr", null, heads.map((head) => h("th", { scope: "col" }, head)))),
        h("tbody", null, places.slice(0, MAX_PLACES).map((one, at) => h("tr", null, row(one, at).map((cell_) => h("td", null, cell_))))),
      ),
      nMore > 0 && h("p", { class: "paper-quiet" }, `and ${many(nMore, "more place")}, such as later ones in the same outlets.`),
    ];
  }

  function content(evidence) {
    const { CAUTION, WHY, made } = ibidem.evidence;
    const told = [
      evidence.verdict && ["Verdict", evidence.verdict],
      evidence.note && ["Note", h("bdi", null, evidence.note)],
      ...evidence.figures,
    ].filter(Boolean);
    const now = new Date().toISOString().slice(0, 16);
    const about = evidence.isAnonymous ? made(evidence).filter(([key]) => key !== "Collection") : made(evidence);
    return [
      h("h1", { tabindex: "-1" }, h("bdi", null, evidence.title)),
      evidence.share && h("p", { class: "paper-share" }, evidence.share),
      evidence.about && h("p", null, evidence.about),
      sides(evidence),
      told.length > 0 && facts(told),
      evidence.places.length > 0 && [h("h2", null, "Where it appears"), placeTable(evidence)],
      evidence.table && [h("h2", null, evidence.table.label), evidence.table.element()],
      h("h2", null, evidence.kind === "family" ? "Wordings" : evidence.kind === "story" ? "Its words" : "Passages"),
      passages(evidence),
      evidence.text && [h("h2", null, "The whole text"), evidence.text()],
      h("h2", null, "How this was made"),
      facts([
        ...about,
        ["Printed", `${ibidem.time(`${now}:00Z`)} (UTC)`],
        ...(evidence.isAnonymous || location.protocol === "file:" ? [] : [["Address", evidence.link.length > 300 ? "too long to print" : evidence.link]]),
      ]),
      h("p", null, h("strong", null, CAUTION), ` ${WHY} An earlier date shows which text is the earliest known, not which one was the source.`),
    ];
  }

  // A file that needs nothing else, and can load nothing.
  function fileOf(title, element) {
    const head = h("title", null, title).outerHTML;
    const policy = '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'">';
    const body = element.outerHTML;
    return `<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n${policy}\n${head}\n<style>${STYLE}</style>\n</head>\n<body>\n${body}\n</body>\n</html>\n`;
  }

  let close = null;

  // Opens the page over whatever is shown; Escape, the button or another address closes it.
  function paper(evidence) {
    if (close) close();
    const sheet = h("article", { class: "sheet" }, content(evidence));
    const before = document.activeElement;
    const place = h(
      "div",
      { class: "paper", role: "dialog", "aria-modal": "true", "aria-label": "Evidence" },
      h(
        "div",
        { class: "paper-tools" },
        button("Print", () => window.print(), { class: "main" }),
        button("Save as a file", () => ibidem.save(`${ibidem.evidence.fileName(evidence.title)}.html`, "text/html", fileOf(evidence.title, sheet))),
        button("Close", () => close()),
      ),
      sheet,
    );
    const pressed = (event) => {
      if (event.key === "Escape") close();
      event.stopPropagation();
    };
    close = () => {
      place.remove();
      document.body.classList.remove("has-paper");
      window.removeEventListener("hashchange", close);
      close = null;
      if (before && before.isConnected) before.focus();
    };
    place.addEventListener("keydown", pressed);
    window.addEventListener("hashchange", close);
    document.body.append(place);
    document.body.classList.add("has-paper");
    place.scrollTop = 0;
    sheet.querySelector("h1").focus();
  }

  Object.assign(ibidem, { paper });
})(window.ibidem);
