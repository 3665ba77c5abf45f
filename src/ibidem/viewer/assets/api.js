// The source of the web app: everything comes from the server that sent the page.
(function (ibidem) {
  "use strict";

  const ROOT = "api/v1/";

  // An error with what to do next, as the page shows it.
  function problem(message, nextStep, status) {
    return Object.assign(new Error(message), { nextStep: nextStep || null, status: status || null });
  }

  function query(parameters) {
    const kept = Object.entries(parameters || {}).filter(([, value]) => value !== null && value !== undefined && value !== "");
    return kept.length ? `?${new URLSearchParams(kept.map(([key, value]) => [key, String(value)]))}` : "";
  }

  async function asked(path, options) {
    let answer;
    try {
      answer = await fetch(ROOT + path, { credentials: "same-origin", ...options });
    } catch {
      throw problem("The server does not respond.", "Check that “ibidem serve” is still running, then try again.");
    }
    const body = await answer.json().catch(() => null);
    if (answer.ok) return body;
    const error = (body && body.error) || {};
    throw problem(error.message || `The server answered with status ${answer.status}.`, error.next_step, answer.status);
  }

  const sent = (method, body) => ({ method, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

  class Api {
    constructor() {
      this.isApp = true;
    }

    holds() {
      return true;
    }
    summary() {
      return asked("summary");
    }
    front() {
      return asked("front");
    }
    stories(paging) {
      return asked(`stories${query(paging)}`);
    }
    distributions(filters) {
      const { sort, order, ...rest } = filters || {};
      return asked(`distributions${query(rest)}`);
    }
    pairs(filters) {
      return asked(`pairs${query(filters)}`);
    }
    flow(filters, limit) {
      return asked(`flow${query({ ...filters, limit })}`);
    }
    pair(number) {
      return asked(`pairs/${number}`);
    }
    documents(filters) {
      return asked(`documents${query(filters)}`);
    }
    document(number) {
      return asked(`documents/${number}`);
    }
    families(filters) {
      return asked(`families${query(filters)}`);
    }
    family(number) {
      return asked(`families/${number}`);
    }
    skipped(paging) {
      return asked(`skipped${query(paging)}`);
    }
    index() {
      return asked("index");
    }

    async facets() {
      const { facets } = await this.summary();
      const listed = (items, key) => (items || []).map((each) => ({ value: each[key], n_pairs: each.n_pairs }));
      return {
        group: listed(facets.groups, "group"),
        kind: listed(facets.kinds, "kind"),
        year: listed(facets.years, "year"),
        verdict: listed(facets.verdicts, "verdict").map((each) => ({ ...each, value: each.value || "none" })),
      };
    }

    // The address of the whole table, with the active filters.
    download(name, kind, filters) {
      const { sort, order, ...rest } = filters || {};
      return `${ROOT}${name}.${kind}${query({ ...rest, sort, order })}`;
    }

    judge(pair, verdict, note) {
      return asked(`pairs/${pair}/verdict`, sent("PUT", { verdict, note: note || "" }));
    }

    checkText(text, name) {
      return asked(`check${query({ name, align: true })}`, sent("POST", { text }));
    }

    // What is not text is read by the server, by its name.
    checkFile(file) {
      const type = /\.html?$/i.test(file.name) ? "text/html" : /\.(txt|md)$/i.test(file.name) ? "text/plain" : "application/octet-stream";
      return asked(`check${query({ name: file.name, align: true })}`, { method: "POST", headers: { "Content-Type": type }, body: file });
    }

    add(id, text) {
      return asked("arrivals", sent("POST", { id, text }));
    }
    arrivals(after, limit) {
      return asked(`arrivals${query({ after, limit })}`);
    }

    // Calls `arrived` for every arrival from now on, and polls if the stream breaks. Returns a function that stops it.
    watch(after, arrived, changed) {
      let latest = after;
      let timer = 0;
      let stream = null;
      let isStopped = false;
      const took = (arrival) => {
        if (arrival.arrival <= latest) return;
        latest = arrival.arrival;
        arrived(arrival);
      };
      const poll = async () => {
        try {
          (await this.arrivals(latest, 100)).items.sort((a, b) => a.arrival - b.arrival).forEach(took);
          changed("checking every few seconds");
        } catch (error) {
          changed(error.message);
        }
        if (!isStopped) timer = setTimeout(poll, 4000);
      };
      const listen = () => {
        if (!window.EventSource) return poll();
        stream = new EventSource(`${ROOT}arrivals/stream${query({ after })}`);
        stream.onopen = () => changed("live");
        stream.onmessage = (event) => took(JSON.parse(event.data));
        stream.addEventListener("arrival", (event) => took(JSON.parse(event.data)));
        stream.onerror = () => {
          stream.close();
          stream = null;
          if (!isStopped) poll();
        };
        return null;
      };
      listen();
      return () => {
        isStopped = true;
        clearTimeout(timer);
        if (stream) stream.close();
      };
    }
  }

  Object.assign(ibidem, { Api, problem });
})(window.ibidem);
