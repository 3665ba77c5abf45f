// Evidence: a link, a picture and a page to print for whatever is being read, made here and sent nowhere.
(function (ibidem) {
  "use strict";

  const { h, number, many, percent, isMissing } = ibidem;
  const CAUTION = "Similarity is not proof of copying.";
  const WHY = "Two texts can match because both quote a third, or because both use a standard phrase.";
  const MAX_ROWS = 500;

  const wordsOf = (side) => [side.group, side.time && ibidem.time(side.time)].filter(Boolean).join(" · ");
  const sideOf = (text, share) => ({
    name: ibidem.named(text),
    id: ibidem.named(text) === text.id ? null : text.id,
    from: wordsOf(text),
    share: isMissing(share) ? null : share,
    nChars: text.n_chars,
    sha256: text.sha256 || null,
  });

  // The words of a passage on one side, and which of them differ, as [start, end] in these words.
  function cellOf(context, side, stretch) {
    const at = side === "left" ? 0 : 2;
    const [start] = stretch[side];
    const changes = (stretch.edits || []).map((edit) => [edit[at] - start, edit[at + 1] - start]);
    const moves = (stretch.moves || []).map((part) => part[side].map((place) => place - start));
    return { text: context.words(side, stretch), changes: changes.filter(([from, to]) => from < to), moves, place: ibidem.placed(stretch[side], context[side]) };
  }

  function ofPair(context) {
    const chosen = context.current();
    const rows = context.stretches.map((stretch) => ({
      says: [`Passage ${number(stretch.number)}`, ibidem.KINDS[stretch.kind] || stretch.kind].filter(Boolean).join(", "),
      cells: ["left", "right"].map((side) => cellOf(context, side, stretch)),
      isChosen: stretch === chosen,
    }));
    const { pair } = context;
    return {
      sides: [sideOf(context.left, context.shares[0]), sideOf(context.right, context.shares[1])],
      rows,
      verdict: pair && pair.verdict,
      note: pair && pair.note,
    };
  }

  // A family: its wordings, and where each of them appears.
  function ofFamily(context) {
    const { variants } = context.family;
    const rows = variants.map((variant, at) => ({
      says: `Wording ${number(at + 1)}, in ${many(variant.n_places, "place")}`,
      cells: [
        {
          text: variant.text,
          changes: variant.changes || [],
          moves: (variant.moves || []).map((move) => move.slice(2)),
          place: variant.members.map((one) => [ibidem.named(one), wordsOf(one), ibidem.located(one)].filter(Boolean).join(", ")).join("; "),
        },
      ],
    }));
    const places = variants.flatMap((variant) => variant.members);
    places.sort((one, other) => String(one.time || "9999").localeCompare(String(other.time || "9999")));
    const { n_places: nPlaces } = context.family.family;
    const title = `One text in ${many(nPlaces, "place")}, ${many(variants.length, "wording")}`;
    return { title, sides: [], rows, places, nPlaces };
  }

  // One wording of a story card: its pieces of one kind are those that the other wording does not have.
  function wording(pieces, kind, movedKind) {
    let at = 0;
    const [changes, moves] = [[], []];
    const own = pieces.filter((piece) => ["same", kind, movedKind].includes(piece.is));
    for (const piece of own) {
      const end = at + [...piece.text].length;
      if (piece.is === kind) changes.push([at, end]);
      if (piece.is === movedKind) moves.push([at, end]);
      at = end;
    }
    return { text: own.map((piece) => piece.text).join(""), changes, moves };
  }

  // A story card has the words, how they changed, and the outlets in order.
  function ofStory(context) {
    const { story } = context;
    const differences = [story.n_changed && `${many(story.n_changed, "word")} changed`, story.n_moved && `${many(story.n_moved, "part")} moved`];
    const said = differences.filter(Boolean).join(", ");
    const edited = { ...wording(story.words, "added", "moved_here"), place: `the wording that differs most: ${said}` };
    const first = story.steps[0].is_reference ? "the wording of the reference" : "the first wording";
    const cells = [{ ...wording(story.words, "removed", "moved_away"), place: first }, ...(said ? [edited] : [])];
    return {
      sides: [],
      rows: [{ says: `in ${many(story.story.n_places, "place")}`, cells }],
      places: story.steps,
      nPlaces: story.story.n_places,
    };
  }

  // Everything that a picture or a page shows: { title, link, sides, rows, places, figures, verdict, note, made }.
  function evidenceOf(context) {
    const build = { family: ofFamily, story: ofStory }[context.kind];
    const own = context.evidence || (build ? build(context) : ofPair(context));
    const summary = ibidem.state && ibidem.state.summary;
    return {
      kind: context.kind,
      title: context.title(),
      link: new URL(context.address(), location.href).href,
      places: [],
      figures: [],
      verdict: null,
      note: null,
      summary: summary || null,
      ...own,
    };
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
      return true;
    } catch {
      // Without a secure connection, or if the browser refuses: the old way.
      const field = h("textarea", { class: "unseen", "aria-hidden": "true", tabindex: "-1" });
      field.value = text;
      document.body.append(field);
      field.select();
      const isDone = document.execCommand("copy");
      field.remove();
      return isDone;
    }
  }

  async function copyLink(context) {
    const address = new URL(await (context.link ? context.link() : context.address()), location.href).href;
    if (await copy(address)) return location.protocol === "file:" ? "Link copied. It works only on computers that have this file in the same place." : "Link copied.";
    window.prompt("Copy this link:", address);
    return "";
  }

  const fileName = (title) =>
    `ibidem ${ibidem.shown(title)}`
      .normalize("NFC")
      .replace(/[\\/:*?"<>|\u0000-\u001f\ufffd]+/g, " ")
      .replace(/\s+/g, " ")
      .trim()
      .slice(0, 80);

  async function savePicture(context, kind) {
    const evidence = evidenceOf(context);
    const drawn = ibidem.picture(evidence);
    const name = `${fileName(evidence.title)}.${kind}`;
    if (kind === "svg") ibidem.save(name, "image/svg+xml", drawn.source);
    else ibidem.save(name, "image/png", await ibidem.pictureAsPng(drawn));
    return "Picture saved.";
  }

  // The facts below a picture and on a page: when and with what it was made.
  function made({ summary }) {
    if (!summary) return [];
    const changed = (summary.settings || []).filter((each) => !each.is_default);
    const setting = ({ name, value }) => `${name} = ${typeof value === "string" ? value : JSON.stringify(value)}`;
    return [
      ["Collection", summary.title],
      ["Run", `ibidem ${summary.version}, ${summary.verb === "query" ? "index query" : summary.verb}, ${ibidem.time(summary.made)}`],
      ["Settings", changed.length ? changed.map(setting).join(", ") : "all at their defaults"],
    ];
  }

  ["Copy link", "Save picture", "SVG", "Evidence"].forEach((label) => {
    const run = {
      "Copy link": copyLink,
      "Save picture": (context) => savePicture(context, "png"),
      SVG: (context) => savePicture(context, "svg"),
      Evidence: (context) => ibidem.paper(evidenceOf(context)),
    }[label];
    const title = {
      "Copy link": "copy a link that opens this again",
      "Save picture": "save a picture of this, with a caption",
      SVG: "save the picture as SVG, which scales without loss",
      Evidence: "a page to print or save, with passages, positions, checksums and settings",
    }[label];
    ibidem.actions.add({ label, title, run, isOffered: (context) => context.kind !== "check" || Boolean(context.evidence) });
  });

  Object.assign(ibidem, { evidence: { of: evidenceOf, made, CAUTION, WHY, MAX_ROWS, fileName, percent, copy } });
})(window.ibidem);
