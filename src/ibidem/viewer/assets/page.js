// The page around the views: navigation, addresses, keys, help, light and dark. It starts once all other scripts are loaded.
(function (ibidem) {
  "use strict";

  const { h, put, button, link } = ibidem;
  const ORDER = ["overview", "pairs", "flow", "families", "documents", "left-out", "check", "arrivals"];
  const NEEDS = { check: "has_index", arrivals: "has_arrivals" };
  const KEYS = [
    ["?", "this help"],
    ["/", "go to the search box, or to that of the pairs if the view has none"],
    ["↓", "in the search box: go to the first row below"],
    ["↑ ↓ Enter", "in the table of pairs: move, open a pair; ↑ on the first row goes back to the search box"],
    ["n p → ←", "in a comparison: next and previous passage"],
    ["j k", "in a comparison: next and previous pair in the list"],
    ["s", "in a comparison: swap sides"],
  ];
  const APP_KEYS = [["c r u", "in a comparison: confirmed, rejected, unsure; press again to undo"]];

  function remembered() {
    try {
      return localStorage.getItem("ibidem-theme");
    } catch {
      return null;
    }
  }

  function themeButton() {
    const root = document.documentElement;
    const isDark = () =>
      root.dataset.theme ? root.dataset.theme === "dark" : window.matchMedia("(prefers-color-scheme: dark)").matches;
    const stored = remembered();
    if (stored === "dark" || stored === "light") root.dataset.theme = stored;
    const label = () => (isDark() ? "Light" : "Dark");
    const toggle = button(
      "",
      () => {
        root.dataset.theme = isDark() ? "light" : "dark";
        toggle.textContent = label();
        try {
          localStorage.setItem("ibidem-theme", root.dataset.theme);
        } catch {
          // A page opened from disk may have no storage; then the choice lasts until it is closed.
        }
      },
      { class: "quiet", title: "light or dark page", "data-action": "theme" },
    );
    toggle.textContent = label();
    return toggle;
  }

  function helpDialog(source, summary) {
    const keys = source.isApp && summary.may_write ? [...KEYS, ...APP_KEYS] : KEYS;
    const dialog = h(
      "dialog",
      { class: "help", "aria-labelledby": "help-title" },
      h("h2", { id: "help-title" }, "Help"),
      h(
        "dl",
        { class: "keys" },
        keys.map(([key, says]) => [
          h(
            "dt",
            null,
            key.split(" ").map((each, at) => [at ? " " : "", h("kbd", null, each)]),
          ),
          h("dd", null, says),
        ]),
      ),
      h(
        "p",
        null,
        "A passage is text that appears in two documents. A family is one text that appears in several. ",
        "Coverage is the share of a document in shared passages. Every view has its own address, which you can share.",
      ),
      button("Close", () => dialog.close(), { class: "main" }),
    );
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
    return dialog;
  }

  // Whether it makes sense to try again: not if the request was invalid or what it asked for does not exist.
  const mayPass = ({ status }) => ibidem.isMissing(status) || status >= 500 || [408, 409, 423, 425, 429].includes(status);

  // Shows what went wrong and what to do next; `again` repeats the request.
  function showProblem(place, error, again) {
    put(
      place,
      h(
        "div",
        { class: "problem", role: "alert" },
        h("p", null, h("strong", null, ibidem.sentence(error.message || "Something went wrong"))),
        error.nextStep && h("p", null, ibidem.sentence(error.nextStep)),
        mayPass(error) && button("Try again", again || (() => window.dispatchEvent(new Event("hashchange")))),
      ),
    );
  }

  // Says that an address leads nowhere; long addresses are shortened.
  function strayNotice(hash, home) {
    let address = hash;
    try {
      address = decodeURIComponent(hash);
    } catch {
      // It is shown as it is.
    }
    const cut = address.length > 80 ? `${address.slice(0, 80)}…` : address;
    const says = `does not exist here. Showing “${home}” instead.`;
    return h("p", { class: "notice", role: "status" }, h("code", null, cut), ` ${says}`);
  }

  const titleOf = (view, summary) =>
    (ibidem.isCluster(summary) && ibidem.viewer[view].titleOfDuplicates) ||
    (summary.verb === "index" && view === "overview" && "The index") ||
    ibidem.viewer[view].title;

  // What an index is for is checking a text; results begin with what was found.
  const homeOf = (source, summary) => (source.isApp && summary.verb === "index" ? "check" : "overview");

  function offered(source, summary) {
    const views = ORDER.filter((key) => {
      if (NEEDS[key]) return source.isApp && summary[NEEDS[key]];
      return summary.verb !== "index" || key === "overview";
    });
    const home = homeOf(source, summary);
    return [home, ...views.filter((key) => key !== home)];
  }

  class Page {
    constructor(source, summary) {
      Object.assign(this, { source, summary, close: null, keys: {}, round: 0 });
      this.home = homeOf(source, summary);
      this.main = h("main", { id: "main", tabindex: "-1" });
      this.links = new Map(offered(source, summary).map((key) => [key, link(`#${key}`, titleOf(key, summary))]));
      this.help = helpDialog(source, summary);
      this.build();
      window.addEventListener("hashchange", () => this.route(false));
      document.addEventListener("keydown", (event) => this.pressed(event));
      ibidem.state.listeners.add(() => this.showFilters());
    }

    build() {
      const skip = h(
        "a",
        {
          href: "#main",
          class: "skip",
          on: {
            click: (event) => {
              event.preventDefault();
              this.main.focus();
            },
          },
        },
        "Skip to the content",
      );
      const top = h(
        "header",
        { class: "top" },
        h("p", { class: "brand" }, link(`#${this.home}`, "ibidem"), h("bdi", { title: this.summary.title }, this.summary.title)),
        h(
          "nav",
          { "aria-label": "Views" },
          h(
            "ul",
            null,
            [...this.links.values()].map((each) => h("li", null, each)),
          ),
        ),
        h(
          "div",
          { class: "tools" },
          themeButton(),
          button("Help", () => this.help.showModal(), { class: "quiet", "data-action": "help" }),
        ),
      );
      const foot = h(
        "footer",
        { class: "foot" },
        `Made by ibidem ${this.summary.version}. Similarity is not proof of copying.`,
      );
      const heard = h("div", { id: "announcements", class: "unseen", "aria-live": "polite" });
      document.querySelectorAll(".starting").forEach((old) => old.remove());
      document.body.append(skip, top, this.main, foot, heard, this.help);
    }

    showFilters() {
      for (const [key, element] of this.links) {
        if (ibidem.address.FILTERED.has(key))
          element.setAttribute("href", ibidem.address.write(key, null, ibidem.state.filters));
      }
    }

    async route(isFirst) {
      let { view, number, options } = ibidem.address.read(location.hash);
      if (location.hash.length <= 1) view = this.home;
      const known = ibidem.viewer[view];
      const top = known && (known.parent || view);
      let stray = null;
      if (!known || !this.links.has(top) || (known.parent && number === null)) {
        // An address that names nothing leads home.
        if (location.hash.length > 1) stray = strayNotice(location.hash, titleOf(this.home, this.summary));
        [view, number, options] = [this.home, null, {}];
        history.replaceState(null, "", `#${this.home}`);
      }
      if (ibidem.address.FILTERED.has(view)) ibidem.state.filters = ibidem.address.filtersOf(options);
      this.showFilters();
      if (this.close) this.close();
      this.close = null;
      this.keys = {};
      this.round += 1;
      const { round } = this;
      const place = h("div", { class: `view view-${view}` });
      this.main.replaceChildren(...[stray, place].filter(Boolean));
      this.main.setAttribute("aria-busy", "true");
      const shownView = ibidem.viewer[view];
      const current = shownView.parent || view;
      this.links.forEach((element, key) => {
        if (key === current) element.setAttribute("aria-current", "page");
        else element.removeAttribute("aria-current");
      });
      document.title = ibidem.shown(
        `${titleOf(view, this.summary)}${number === null ? "" : ` ${number}`} · ${this.summary.title}`,
      );
      try {
        const made = await shownView.show(place, { source: this.source, summary: this.summary, number, options });
        const close = typeof made === "function" ? made : made && made.close;
        if (round !== this.round) {
          if (close) close();
          return;
        }
        this.close = close || null;
        this.keys = (made && made.keys) || {};
      } catch (error) {
        if (round === this.round) showProblem(place, error);
      }
      if (round !== this.round) return;
      this.main.removeAttribute("aria-busy");
      if (!isFirst || this.isSearching) this.arrive(view);
      this.last = view === "pair" ? number : this.last;
    }

    // A new view starts at the top; the list of pairs, at the pair last opened.
    arrive(view) {
      const box = this.isSearching && document.getElementById("search");
      this.isSearching = false;
      if (box) {
        window.scrollTo(0, 0);
        box.focus();
        return;
      }
      const row = view === "pairs" && this.last !== undefined && this.main.querySelector(`tr[data-pair="${this.last}"]`);
      if (row) {
        this.main.querySelectorAll("tbody tr[tabindex='0']").forEach((each) => {
          each.tabIndex = -1;
        });
        row.tabIndex = 0;
        row.focus();
        row.scrollIntoView({ block: "center" });
      } else {
        window.scrollTo(0, 0);
        this.main.focus({ preventScroll: true });
      }
    }

    // Goes to the search box of this view or of the pairs; an index has none, but a text can be checked.
    search() {
      const box = document.getElementById("search");
      if (box) {
        box.focus();
      } else if (this.links.has("pairs")) {
        this.isSearching = true;
        location.hash = ibidem.address.write("pairs", null, ibidem.state.filters);
      } else if (document.getElementById("checked")) {
        document.getElementById("checked").focus();
      } else if (this.links.has("check")) {
        location.hash = "#check";
      }
    }

    // Goes from the search box into the table below.
    leaveSearch(event) {
      const first = this.main.querySelector("table.list tbody tr[tabindex], table.list tbody a");
      if (!first) return;
      event.preventDefault();
      const rows = this.main.querySelectorAll("table.list tbody tr[tabindex='0']");
      rows.forEach((each) => {
        each.tabIndex = -1;
      });
      if (first.matches("tr")) first.tabIndex = 0;
      first.focus();
    }

    pressed(event) {
      if (event.ctrlKey || event.metaKey || event.altKey || this.help.open || document.body.classList.contains("has-paper")) return;
      if (event.target.closest && event.target.closest("input, textarea, select, [contenteditable]")) {
        if (event.key === "Escape") event.target.blur();
        if (event.key === "ArrowDown" && event.target.id === "search") this.leaveSearch(event);
        return;
      }
      if (event.key === "?") {
        event.preventDefault();
        this.help.showModal();
      } else if (event.key === "/") {
        event.preventDefault();
        this.search();
      } else if (Object.hasOwn(this.keys, event.key)) {
        event.preventDefault();
        this.keys[event.key]();
      }
    }
  }

  async function start() {
    const isApp = document.documentElement.dataset.mode === "app";
    try {
      const source = isApp ? new ibidem.Api() : await ibidem.Embedded.open(document.getElementById("ibidem-data"));
      const summary = await source.summary();
      ibidem.state.summary = summary;
      await new Page(source, summary).route(true);
      document.documentElement.dataset.ready = "true";
    } catch (error) {
      document.querySelectorAll(".starting").forEach((old) => old.remove());
      const place = h("main", { id: "main" });
      document.body.append(place);
      put(
        place,
        h(
          "div",
          { class: "problem", role: "alert" },
          h("h1", null, "This page cannot be shown"),
          h("p", null, ibidem.sentence(error.message)),
          error.nextStep && h("p", null, ibidem.sentence(error.nextStep)),
        ),
      );
    }
  }

  Object.assign(ibidem, { showProblem });
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})(window.ibidem);
