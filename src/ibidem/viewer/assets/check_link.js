// A checked text outlives its view: in memory and for this tab while it is open, and in a link, packed into the part of the address
// that is never sent to a server.
(function (ibidem) {
  "use strict";

  const MAX_LINK_CHARS = 60000;
  const STORED = "ibidem-checked";
  // What the view shows: the text, the name of its file, the server's answer, and what is left out of it.
  const kept = { text: "", name: null, answer: null, leftOut: null, isAnonymous: false, isChecked: false };

  try {
    Object.assign(kept, JSON.parse(sessionStorage.getItem(STORED) || "{}"));
  } catch {
    // No storage, or nothing usable in it.
  }

  function keep(changes) {
    Object.assign(kept, changes);
    try {
      // The answer is not stored but asked for again: sources may have been added, and it can be large.
      kept.isChecked = Boolean(kept.answer);
      sessionStorage.setItem(STORED, JSON.stringify({ text: kept.text, name: kept.name, isChecked: kept.isChecked }));
    } catch {
      // Too long to store: it still lasts until the page is closed. An earlier text must not come back in its place.
      try {
        sessionStorage.removeItem(STORED);
      } catch {
        // There is no storage at all.
      }
    }
  }

  async function through(stream, bytes) {
    return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
  }

  async function pack(text) {
    const packed = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text));
    let letters = "";
    for (let at = 0; at < packed.length; at += 8192) letters += String.fromCharCode(...packed.subarray(at, at + 8192));
    return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  }

  async function unpack(packed) {
    try {
      const letters = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
      const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
      return new TextDecoder("utf-8", { fatal: true }).decode(await through(new DecompressionStream("deflate-raw"), bytes));
    } catch {
      throw ibidem.problem("This link is incomplete: its text cannot be read.", "Ask for the link again, or paste the text.", 400);
    }
  }

  // A short number for an id, so that a link names no source.
  function digest(id) {
    let value = 0x811c9dc5;
    for (const byte of new TextEncoder().encode(id)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
    return value.toString(36);
  }

  // What is left out, as options of an address and back.
  function written(leftOut, sources, isAnonymous) {
    return {
      below: leftOut.below > 0 ? leftOut.below : null,
      quotations: leftOut.quotations ? "0" : null,
      without: [...leftOut.sources].map((at) => digest(sources[at].id)).join(".") || null,
      anonymous: isAnonymous ? "1" : null,
    };
  }

  function read(options, sources) {
    const digests = new Set((options.without || "").split(".").filter(Boolean));
    const found = sources.map((source, at) => (digests.has(digest(source.id)) ? at : -1)).filter((at) => at >= 0);
    const below = Math.floor(Number(options.below));
    return { below: below > 0 && below < 100000 ? below : 0, quotations: options.quotations === "0", sources: new Set(found) };
  }

  async function linkOf(text, name, options) {
    const packed = await pack(text);
    if (packed.length > MAX_LINK_CHARS)
      throw ibidem.problem("This text is too long for a link.", "Save the case report and send that.", 400);
    return ibidem.address.write("check", null, { ...options, name, text: packed });
  }

  Object.assign(ibidem, { checked: { kept, keep, unpack, written, read, linkOf } });
})(window.ibidem);
