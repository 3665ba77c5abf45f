// Checking a text, pasted or from a file, against the index: where it already appears, and adding it.
(function (ibidem) {
  "use strict";

  const { h, put, button, number, many, percent, bar } = ibidem;

  function verdictWords({ verdict, covered_share: share, sources }) {
    const sentences = many(verdict.n_sentences, "sentence");
    const known = `${number(verdict.n_known)} of ${sentences} also ${verdict.n_known === 1 ? "appears" : "appear"} in the index`;
    if (!sources.length) return ["This text is new.", `${known}.`];
    const part = ibidem.isNearlyAll(verdict) ? "Nearly all" : "Part";
    return [`${part} of this text is already in the index.`, `${known}; ${percent(share)} of the text is shared.`];
  }

  function commonWords(nCommon) {
    if (!nCommon) return "";
    return ` ${many(nCommon, "sentence")} ${nCommon === 1 ? "is too common to count" : "are too common to count"}.`;
  }

  // The index shows the words of a passage; the served results may have the whole document.
  const hasDocument = (one) => !ibidem.isMissing(one.document);
  const documentLink = (one) =>
    hasDocument(one) && ibidem.link(`#document=${one.document}`, "read it", ibidem.hidden(`: ${ibidem.named(one)}`));

  // The words of the sources one after another, in the order of the checked text, each under its name; and what they share with it.
  function besideSources({ passages, sources }) {
    const segments = [];
    const stretches = [];
    let end = 0;
    const inOrder = [...passages].sort((one, other) => one.a_start - other.a_start || one.source - other.source);
    for (const passage of inOrder) {
      const from = sources[passage.source];
      const words = passage.b_text || "(The words are not available.)";
      const start = end;
      end += ibidem.nCharsOf(words);
      const places = `characters ${number(passage.b_start)}–${number(passage.b_end)}`;
      const head = () => h("span", { class: "source-head" }, from ? ibidem.name(from) : "another document", ` · ${places}`);
      segments.push({ start, text: words, head });
      const moved = (edit) => [edit[0], edit[1], edit[2] + start, edit[3] + start, ...edit.slice(4)];
      stretches.push({
        ...passage,
        passages: [passage.number],
        b_start: start,
        b_end: end,
        is_compared: passage.is_compared && Boolean(passage.b_text),
        edits: passage.edits.map(moved),
        sentences: passage.sentences.map(moved),
      });
    }
    const right = { document: null, id: "sources", title: "Sources", group: null, time: null, n_chars: end, segments, boilerplate: [] };
    return { right, stretches };
  }

  // Returns { element, open() }: `open` is to be called once the element is in the page.
  function result(answer, source, mayAdd) {
    const { text, sources, verdict } = answer;
    const body = h("div", { class: "checked-text" });
    let chosen = null;
    let reading = null;
    const listed = h("ol", { class: "sources" });
    const detail = h("p", { class: "detail quiet-text", role: "status" });
    const [headline, figures] = verdictWords(answer);
    const draw = () => {
      if (reading) reading.close();
      const passages = answer.passages.filter((passage) => chosen === null || passage.source === chosen);
      const { right, stretches } = besideSources({ passages, sources });
      const heads = ["This text", chosen === null ? "The sources’ words" : ibidem.name(sources[chosen])];
      reading = ibidem.reading({
        kind: "check",
        left: text,
        right,
        stretches,
        earlier: null,
        shares: [chosen === null ? answer.covered_share : sources[chosen].coverage, null],
        title: () => headline,
        heads: heads.map((head) => h("header", null, h("h3", null, head))),
        hasDots: false,
      });
      put(body, reading.element);
      if (body.isConnected) reading.open();
      put(listed, sources.map(sourceEntry));
      put(
        detail,
        chosen === null
          ? "Choose a source to see only its passages."
          : "Only passages of the chosen source are marked. Choose it again to see all.",
      );
    };
    const sourceEntry = (each, at) =>
      h(
        "li",
        null,
        button(
          [
            ibidem.name(each),
            ibidem.origin(each),
            each.n_passages
              ? h(
                  "span",
                  { class: "figures-line" },
                  bar(each.coverage),
                  ` ${number(each.n_chars)} characters, ${many(each.n_passages, "passage")}`,
                )
              : h("span", { class: "figures-line" }, `${many(each.n_sentences, "known sentence")}, too few for a passage`),
          ],
          () => {
            chosen = chosen === at ? null : at;
            draw();
          },
          { class: "source", "aria-pressed": String(chosen === at) },
        ),
        h("p", { class: "places" }, documentLink(each)),
      );
    draw();
    const element = h(
      "section",
      { class: "checked", "aria-labelledby": "checked-title" },
      h("h2", { id: "checked-title", tabindex: "-1" }, headline),
      h(
        "p",
        { class: "lead" },
        figures,
        commonWords(verdict.n_common),
        verdict.is_own_id_known && " The index already has a document with this id.",
      ),
      h(
        "div",
        { class: "document" },
        body,
        h(
          "aside",
          { "aria-label": "Sources" },
          h("h3", null, "Sources, most covered first"),
          detail,
          sources.length ? listed : h("p", null, "None."),
          mayAdd && adding(answer, source),
        ),
      ),
    );
    return { element, open: () => reading.open(), keys: () => reading.keys, close: () => reading.close() };
  }

  function adding({ text, verdict }, source) {
    const id = h("input", { type: "text", id: "new-id", autocomplete: "off", required: true });
    id.value = verdict.id && !verdict.is_own_id_known ? verdict.id : "";
    const said = h("p", { class: "quiet-text", role: "status" });
    const add = button("Add to the index", async () => {
      if (!id.value.trim()) {
        said.textContent = "Give the document an id first.";
        id.focus();
        return;
      }
      add.disabled = true;
      try {
        const arrival = await source.add(id.value.trim(), text.segments.map((segment) => segment.text).join(""));
        put(said, "Added as ", h("bdi", null, arrival.id), ". ", ibidem.link("#arrivals", "See the arrivals"), ".");
      } catch (error) {
        said.textContent = ibidem.fullMessage(error);
        add.disabled = false;
      }
    });
    return h(
      "section",
      { class: "adding" },
      h("h3", null, "Add it"),
      h("label", { for: "new-id" }, "Document id"),
      id,
      add,
      said,
    );
  }

  async function show(main, { source }) {
    const { may_add: mayAdd } = await source.index();
    const text = h("textarea", { id: "checked", rows: "10", placeholder: "Paste a text here", lang: "", dir: "auto" });
    const file = h("input", { type: "file", id: "file", accept: ".txt,.html,.htm,.md,text/plain,text/html" });
    const place = h("div", { class: "result", "aria-live": "polite" });
    let made = null;
    const run = async (ask) => {
      go.disabled = true;
      put(place, h("p", { class: "quiet-text" }, "Looking it up…"));
      try {
        const answer = await ask();
        if (made) made.close();
        made = result(answer, source, mayAdd);
        put(place, made.element);
        made.open();
        place.querySelector("h2").focus();
      } catch (error) {
        ibidem.showProblem(place, error, () => run(ask));
      } finally {
        go.disabled = false;
      }
    };
    const start = () => {
      if (text.value.trim()) run(() => source.checkText(text.value));
      else {
        put(place, h("p", null, "There is nothing to check yet: paste a text, or choose a file."));
        text.focus();
      }
    };
    const go = button("Check this text", start, { class: "main" });
    file.addEventListener("change", () => {
      if (file.files.length) run(() => source.checkFile(file.files[0]));
    });
    text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) start();
    });
    put(
      main,
      h(
        "header",
        { class: "head" },
        h("h1", null, "Check a text"),
        h("p", { class: "lead" }, "The text is compared with every document in the index. It is stored only if you add it."),
      ),
      h(
        "div",
        { class: "checking" },
        h("label", { for: "checked" }, "Text"),
        text,
        h(
          "div",
          { class: "actions" },
          go,
          h("span", { class: "quiet-text" }, "or"),
          h("label", { for: "file" }, "choose a file"),
          file,
        ),
      ),
      place,
    );
    return () => made && made.close();
  }

  ibidem.viewer = Object.assign(ibidem.viewer || {}, { check: { title: "Check a text", show } });
})(window.ibidem);
