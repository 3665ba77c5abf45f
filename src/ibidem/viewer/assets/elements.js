// Elements of the page: everything enters it through here. Text from documents is only ever set as text, after characters that
// could control the page or change the writing direction are replaced.
(function (ibidem) {
  "use strict";

  const UNSHOWN = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/gu;
  // Links may only lead to parts of this page and to tables on its own server.
  const OWN_ADDRESS = /^(#|api\/v1\/[a-z])/;

  function harmless(character) {
    const code = character.codePointAt(0);
    if (code === 0x0b || code === 0x0c || code === 0x85) return " ";
    if (code === 0x2028 || code === 0x2029 || code === 0x1d || code === 0x1e) return "\n"; // also a page and a region of a scan
    if (code < 0x20) return String.fromCharCode(0x2400 + code);
    return code === 0x7f ? "\u2421" : "\ufffd";
  }

  // Returns a text that is safe to show: the same number of characters, none of which has an effect.
  function shown(text) {
    return String(text).replace(UNSHOWN, harmless);
  }

  function setAttribute(element, name, value) {
    if (/^on/i.test(name) || name === "style" || name === "srcdoc") throw new Error(`attribute refused: ${name}`);
    if (name === "href" || name === "src" || name === "action") {
      if (!OWN_ADDRESS.test(value)) throw new Error("address refused");
      element.setAttribute(name, value);
    } else {
      element.setAttribute(name, shown(value));
    }
  }

  function append(element, child) {
    if (child === null || child === undefined || child === false) return;
    if (Array.isArray(child)) child.forEach((each) => append(element, each));
    else element.append(child instanceof Node ? child : document.createTextNode(shown(child)));
  }

  // Children come first: in an element with dir="auto", a browser scans the text again for each node added.
  function fill(element, attributes, children) {
    children.forEach((child) => append(element, child));
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name === "on") Object.entries(value).forEach(([event, act]) => element.addEventListener(event, act));
      else if (name === "styles") Object.entries(value).forEach(([key, set]) => element.style.setProperty(key, set));
      else setAttribute(element, name, value === true ? "" : value);
    }
    return element;
  }

  // Returns a new element. `on` maps events to handlers; `styles` are set one by one, as the content policy requires.
  function h(tag, attributes, ...children) {
    return fill(document.createElement(tag), attributes, children);
  }

  function svg(tag, attributes, ...children) {
    return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
  }

  // Replaces the content of an element by children.
  function put(element, ...children) {
    const parts = document.createDocumentFragment();
    children.forEach((child) => append(parts, child));
    element.replaceChildren(parts);
    return element;
  }

  const hidden = (text) => h("span", { class: "unseen" }, text);
  const link = (href, ...children) => h("a", { href }, ...children);
  const button = (label, act, attributes) => h("button", { type: "button", on: { click: act }, ...attributes }, label);

  // A visible sign of how a column is sorted; screen readers use aria-sort.
  const sortSign = (way) =>
    h("span", { class: "sign", "aria-hidden": "true" }, way === "asc" ? "▲" : way === "desc" ? "▼" : "");

  // Returns a function that runs `act` once it has not been called for a while.
  function later(act, milliseconds) {
    let timer = 0;
    return (...values) => {
      clearTimeout(timer);
      timer = setTimeout(() => act(...values), milliseconds);
    };
  }

  // Announces a text to screen readers.
  function announce(text) {
    const place = document.getElementById("announcements");
    if (place) place.textContent = shown(text);
  }

  Object.assign(ibidem, { shown, h, svg, put, hidden, link, button, later, announce, sortSign });
})((window.ibidem = window.ibidem || {}));
