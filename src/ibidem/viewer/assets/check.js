// Checking a text, pasted, dropped or from a file, against the index: where it already appears, and adding it.
(function (ibidem) {
  "use strict";

  const { h, put, button, number, many } = ibidem;
  const ACCEPTED =
    ".txt,.md,.html,.htm,.pdf,.docx,.odt,.rtf,.epub,.xml,.eml,text/plain,text/html,application/pdf,application/vnd.openxmlformats-officedocument.wordprocessingml.document";

  // The form that adds a checked text to the index.
  function addingToIndex({ text, verdict }, source) {
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
    return h("section", { class: "adding" }, h("h3", null, "Add it"), h("label", { for: "new-id" }, "Document id"), id, add, said);
  }

  // What is compared, in a sentence: truthfully, if the index keeps no texts.
  function about({ n_documents: nDocuments, settings }) {
    const compared = `It is compared with ${nDocuments === 1 ? "the one document" : `all ${many(nDocuments, "document")}`} in the index, and stored only if you add it.`;
    const noTexts = " This index stores no texts: matches are located, but the words of sources cannot be shown and edited copies are not found.";
    return settings && settings.texts === false ? compared + noTexts : compared;
  }

  class CheckView {
    constructor(main, { source, options }, index) {
      Object.assign(this, { main, source, options, index, made: null, round: 0 });
      this.text = h("textarea", { id: "checked", rows: "9", placeholder: "Paste a text here, or drop a file anywhere on this page", lang: "", dir: "auto" });
      this.file = h("input", { type: "file", id: "file", class: "unseen", accept: ACCEPTED });
      this.place = h("div", { class: "result", "aria-live": "polite" });
      this.go = button("Check this text", () => this.start(), { class: "main" });
      this.fileName = h("span", { class: "quiet-text file-name" });
      this.input = h("details", { class: "checking", open: true });
      this.build();
      this.listen();
    }

    build() {
      this.label = h("span", null, "Your text");
      put(
        this.input,
        h("summary", null, this.label),
        h("label", { for: "checked", class: "unseen" }, "Text to check"),
        this.text,
        h(
          "div",
          { class: "actions" },
          this.go,
          button("Choose a file", () => this.file.click(), { "aria-describedby": "file-kinds" }),
          this.file,
          button("Clear", () => this.clear(), { class: "quiet" }),
          h("span", { id: "file-kinds", class: "quiet-text" }, "Text, Markdown, HTML; PDF, Word and others if their readers are installed."),
          this.fileName,
        ),
      );
      put(
        this.main,
        h("header", { class: "head" }, h("h1", null, "Check a text"), h("p", { class: "lead" }, about(this.index))),
        this.input,
        this.place,
      );
    }

    listen() {
      this.file.addEventListener("change", () => {
        if (this.file.files.length) this.checkFile(this.file.files[0]);
        this.file.value = "";
      });
      this.text.addEventListener("input", () => ibidem.checked.keep({ text: this.text.value, name: null, answer: null }));
      this.text.addEventListener("keydown", (event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.start();
      });
      const isContent = (event) => [...event.dataTransfer.types].some((type) => type === "Files" || type === "text/plain");
      this.dragged = (event) => {
        if (!isContent(event) || event.target === this.text) return;
        event.preventDefault();
        this.main.classList.add("dropping");
      };
      this.left = (event) => {
        if (!event.relatedTarget) this.main.classList.remove("dropping");
      };
      this.dropped = (event) => {
        this.main.classList.remove("dropping");
        const { files } = event.dataTransfer;
        const words = event.dataTransfer.getData("text/plain");
        if (!files.length && (!words || event.target === this.text)) return;
        event.preventDefault();
        if (files.length) this.checkFile(files[0], files.length - 1);
        else this.checkText(words, null);
      };
      document.addEventListener("dragover", this.dragged);
      document.addEventListener("dragleave", this.left);
      document.addEventListener("drop", this.dropped);
    }

    close() {
      document.removeEventListener("dragover", this.dragged);
      document.removeEventListener("dragleave", this.left);
      document.removeEventListener("drop", this.dropped);
      this.round += 1;
      if (this.made) this.made.close();
    }

    clear() {
      this.round += 1;
      ibidem.checked.keep({ text: "", name: null, answer: null, leftOut: null });
      this.text.value = "";
      this.fileName.textContent = "";
      if (this.made) this.made.close();
      this.made = null;
      put(this.place);
      history.replaceState(null, "", "#check");
      this.text.focus();
    }

    start() {
      if (this.text.value.trim()) return this.checkText(this.text.value, ibidem.checked.kept.name);
      put(this.place, h("p", null, "There is nothing to check yet: paste a text, or choose a file."));
      this.text.focus();
      return null;
    }

    checkText(text, name) {
      ibidem.checked.keep({ text, name });
      this.text.value = text;
      return this.run(() => this.source.checkText(text, name));
    }

    checkFile(file, nOthers) {
      return this.run(async () => {
        const answer = await this.source.checkFile(file);
        ibidem.checked.keep({ text: answer.text.segments.map((segment) => segment.text).join(""), name: file.name });
        this.text.value = ibidem.checked.kept.text;
        this.fileName.textContent = nOthers > 0 ? `Only the first of ${number(nOthers + 1)} files was checked.` : "";
        return answer;
      });
    }

    async run(ask, isRestored) {
      this.round += 1;
      const { round } = this;
      this.go.disabled = true;
      put(this.place, h("p", { class: "quiet-text" }, "Looking it up…"));
      try {
        const answer = await ask();
        if (round !== this.round) return;
        if (!isRestored) this.options = {};
        this.showAnswer(answer, ibidem.checked.read(this.options, answer.sources));
        this.place.querySelector("h2").focus({ preventScroll: Boolean(isRestored) });
      } catch (error) {
        if (round === this.round) ibidem.showProblem(this.place, error, () => this.run(ask, isRestored));
      } finally {
        if (round === this.round) this.go.disabled = false;
      }
    }

    showAnswer(answer, leftOut, isAnonymous = this.options.anonymous === "1") {
      const { kept, keep } = ibidem.checked;
      if (this.made) this.made.close();
      const options = () => ibidem.checked.written(this.made.leftOut, answer.sources, this.made.isAnonymous);
      const changed = () => {
        keep({ leftOut: this.made.leftOut, isAnonymous: this.made.isAnonymous });
        history.replaceState(null, "", ibidem.address.write("check", null, options()));
      };
      this.made = new ibidem.CheckResult(answer, {
        source: this.source,
        mayAdd: this.index.may_add,
        leftOut,
        isAnonymous,
        name: kept.name,
        changed,
        link: () => ibidem.checked.linkOf(kept.text, this.made.isAnonymous ? null : kept.name, options()),
      });
      keep({ answer });
      changed();
      const what = kept.name ? [h("bdi", null, kept.name), " · "] : "";
      put(this.label, what, many(answer.text.n_chars, "character"), h("span", { class: "quiet-text" }, " · change the text"));
      this.input.open = false;
      put(this.place, this.made.element);
      this.made.open();
    }

    // What a link brings, else what was checked before in this tab.
    async restore() {
      const { kept, unpack, keep } = ibidem.checked;
      if (this.options.text) {
        const text = await unpack(this.options.text);
        keep({ text, name: this.options.name || null, answer: null });
        this.text.value = text;
        await this.run(() => this.source.checkText(text, kept.name), true);
        return;
      }
      this.text.value = kept.text;
      if (kept.answer) this.showAnswer(kept.answer, kept.leftOut, kept.isAnonymous);
      else if (kept.text && (kept.isChecked || this.options.below || this.options.without || this.options.quotations))
        await this.run(() => this.source.checkText(kept.text, kept.name), true);
    }
  }

  async function show(main, context) {
    const view = new CheckView(main, context, await context.source.index());
    try {
      await view.restore();
    } catch (error) {
      ibidem.showProblem(view.place, error);
    }
    const step = (by) => () => view.made && view.made.reading.step(by);
    return { close: () => view.close(), keys: { n: step(1), p: step(-1), ArrowRight: step(1), ArrowLeft: step(-1) } };
  }

  ibidem.viewer = Object.assign(ibidem.viewer || {}, { check: { title: "Check a text", show } });
  Object.assign(ibidem, { addingToIndex });
})(window.ibidem);
