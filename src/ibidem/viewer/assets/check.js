// Checking a text, pasted or from a file, against the index: where it already appears, and adding it.
(function (ibidem) {
  "use strict";

  const { h, put, button, number, many, percent, bar } = ibidem;

  const MAX_NUMBERS = 8;

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

  const sourceWords = (passage) =>
    h("blockquote", { class: "text", lang: "", dir: "auto" }, ibidem.underlined(passage.b_text, passage.b_changes));

  // The index shows the words of a passage; the served results may have the whole document.
  const hasDocument = (one) => !ibidem.isMissing(one.document);
  const documentLink = (one) =>
    hasDocument(one) && ibidem.link(`#document=${one.document}`, "read it", ibidem.hidden(`: ${ibidem.named(one)}`));

  function result(answer, source, mayAdd) {
    const { text, sources, verdict } = answer;
    // Numbered in text order; passages with the same start follow the rank of their sources.
    const passages = [...answer.passages]
      .sort((one, other) => one.a_start - other.a_start || one.source - other.source || one.a_end - other.a_end)
      .map((each, at) => ({ ...each, number: at + 1 }));
    const body = h("div", { class: "checked-text" });
    let chosen = null;
    let shownPane = null;
    const listed = h("ol", { class: "sources" });
    // The numbers of a source's first passages.
    const numbersOf = (source) => {
      const own = passages.filter((each) => each.source === source);
      const more = own.length - MAX_NUMBERS;
      return [
        own.slice(0, MAX_NUMBERS).map((each) => ibidem.badge(each.number)),
        more > 0 && h("span", null, `and ${number(more)} more`),
      ];
    };
    const draw = () => {
      if (shownPane) shownPane.close();
      const kept = passages.filter((passage) => chosen === null || passage.source === chosen);
      shownPane = ibidem.pane(
        text,
        kept.map((each) => ({ number: each.number, start: each.a_start, end: each.a_end, changes: each.a_changes })),
        {
          label: "The checked text",
          changed: "u",
          withMap: true,
          chosen: tell,
          says: (passage) => {
            const found = passages.find((each) => each.number === passage);
            return `passage ${passage}, also in ${sources[found.source] ? ibidem.named(sources[found.source]) : "another document"}`;
          },
        },
      );
      put(body, shownPane.element);
      put(
        listed,
        sources.map((each, at) =>
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
            h("p", { class: "places" }, numbersOf(at), documentLink(each)),
          ),
        ),
      );
      put(words);
      put(
        detail,
        chosen === null
          ? "Choose a source to see only its passages."
          : "Only passages of the chosen source are marked. Choose it again to see all.",
      );
    };
    const detail = h("p", { class: "detail", role: "status" });
    const words = h("div", { class: "variant" });
    const tell = (passage) => {
      const found = passages.find((each) => each.number === passage);
      const from = sources[found.source];
      shownPane.show(passage);
      put(
        detail,
        ibidem.badge(passage),
        ` ${found.kind}, similarity ${ibidem.similarity(found.similarity)}, also in `,
        from ? (hasDocument(from) ? ibidem.link(`#document=${from.document}`, ibidem.name(from)) : ibidem.name(from)) : "–",
        ` at characters ${number(found.b_start)}–${number(found.b_end)}.`,
      );
      put(words, found.b_text ? sourceWords(found) : null);
    };
    const [headline, figures] = verdictWords(answer);
    draw();
    return h(
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
      detail,
      words,
      h(
        "div",
        { class: "document" },
        body,
        h(
          "aside",
          { "aria-label": "Sources" },
          h("h3", null, "Sources, most covered first"),
          sources.length ? listed : h("p", null, "None."),
          mayAdd && adding(answer, source),
        ),
      ),
    );
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
    const run = async (ask) => {
      go.disabled = true;
      put(place, h("p", { class: "quiet-text" }, "Looking it up…"));
      try {
        const answer = await ask();
        put(place, result(answer, source, mayAdd));
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
    return null;
  }

  ibidem.viewer = Object.assign(ibidem.viewer || {}, { check: { title: "Check a text", show } });
})(window.ibidem);
