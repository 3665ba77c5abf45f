// Files made in the browser: tables as CSV, pictures, pages. Nothing is sent anywhere.
(function (ibidem) {
  "use strict";

  const { h, button } = ibidem;
  // As on the server: a spreadsheet may take a cell that begins like this for a formula.
  const FORMULA = /^[\t\r]|^[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]/u;

  // Offers content to be saved under a name.
  function save(name, type, content) {
    const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
    const way = document.createElement("a");
    way.href = address;
    way.download = name;
    document.body.append(way);
    way.click();
    way.remove();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  }

  function cell(value) {
    if (ibidem.isMissing(value)) return "";
    if (typeof value === "number" || typeof value === "boolean") return String(value);
    const text = (typeof value === "object" ? JSON.stringify(value) : String(value)).replaceAll("\0", "\ufffd");
    const safe = FORMULA.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  }

  // Rows as CSV (RFC 4180), with a first line of names.
  const csv = (columns, rows) =>
    [columns, ...rows.map((row) => columns.map((name) => row[name]))].map((row) => `${row.map(cell).join(",")}\r\n`).join("");

  const SIDE = ["id", "time", "group", "title", "n_chars"];
  const flatPair = ({ a, b, snippet, ...pair }) => ({
    ...pair,
    ...Object.fromEntries(SIDE.flatMap((name) => [[`a_${name}`, a[name]], [`b_${name}`, b[name]]])),
  });
  const pairColumns = [
    "pair",
    ...["a", "b"].flatMap((side) => SIDE.map((name) => `${side}_${name}`)),
    ..."n_passages shared longest similarity coverage_a coverage_b kind direction days year verdict note".split(" "),
  ];
  const columnsOf = (rows) => [...new Set(rows.flatMap((row) => Object.keys(row)))];

  // All rows of an embedded table that match the filters, whatever page is shown.
  async function rowsOf(source, name, filters) {
    const { cursor, limit, ...asked } = filters || {};
    return (await source[name]({ ...asked, limit: Number.MAX_SAFE_INTEGER })).items;
  }

  async function saveTable(source, name, filters) {
    const rows = await rowsOf(source, name, filters);
    const flat = name === "pairs" ? rows.map(flatPair) : rows;
    save(`ibidem-${name}.csv`, "text/csv;charset=utf-8", csv(name === "pairs" ? pairColumns : columnsOf(flat), flat));
  }

  // The line that offers a table: the whole one from the server, or what the report contains. `filters()` are those that apply.
  function tableDownloads(source, name, filters) {
    const place = h("span", { class: "downloads" });
    const show = () => {
      if (!source.isApp) {
        ibidem.put(place, button("Save as CSV", () => saveTable(source, name, filters()), { class: "quiet" }));
        return;
      }
      ibidem.put(
        place,
        "Download as ",
        ["csv", "json"].flatMap((kind, at) => [
          at ? " or " : "",
          h("a", { href: source.download(name, kind, filters()), download: `${name}.${kind}` }, kind.toUpperCase()),
        ]),
      );
    };
    show();
    return { place, show };
  }

  Object.assign(ibidem, { save, csv, tableDownloads });
})(window.ibidem);
