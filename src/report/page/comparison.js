"use strict";
/* comparison.js: shows what grew and what shrank between two runs. The data is that of
   'quipu diff --format=json', with the names of both sides and quipu's version. */
addEventListener("DOMContentLoaded", function () {
  const { element, number, base, table, shortName, start } = page;
  const data = JSON.parse(document.getElementById("data").textContent);
  const ofCalls = data.by === "callsite", kind = ofCalls ? "Call sites" : "Functions";
  const rows = data.functions || data.callsites;
  const most = rows.reduce((m, r) => Math.max(m, Math.abs(r.instructions.delta)), 1);

  const signed = (n) => (n < 0 ? "\u2212" : "+") + number(Math.abs(n));
  const name = (row) => (ofCalls ? (row.callee_demangled || "?") + " from " + (row.caller_demangled || "?") : row.demangled);
  const brief = (row) => (ofCalls ? shortName(row.callee_demangled || "?") + " from " + shortName(row.caller_demangled || "?") : shortName(row.demangled));
  const symbols = (row) => (ofCalls ? row.callee + " " + row.caller : row.name);
  const place = (row) => (row.file ? base(row.file) + ":" + row.line : "");
  const side = (row, missing, count) => (row.status === missing ? "" : number(count));

  function growth(row) {
    if (row.status === "new" || row.status === "removed") return row.status;
    if (row.instructions.percent === null) return "from 0";
    return (row.instructions.percent < 0 ? "\u2212" : "+") + Math.abs(row.instructions.percent).toFixed(2) + "%";
  }

  /* A bar from the middle: to the right where it grew, to the left where it shrank. */
  function deltaCell(row, cell) {
    const delta = row.instructions.delta, half = (50 * Math.abs(delta)) / most;
    cell.classList.add("delta", delta > 0 ? "grew" : "shrank");
    cell.style.setProperty("--from", (delta > 0 ? 50 : 50 - half).toFixed(2) + "%");
    cell.style.setProperty("--to", (delta > 0 ? 50 + half : 50).toFixed(2) + "%");
    return signed(delta);
  }

  const columns = [
    { title: "Before", number: true, value: (r) => r.instructions.before, show: (r) => side(r, "new", r.instructions.before) },
    { title: "After", number: true, value: (r) => r.instructions.after, show: (r) => side(r, "removed", r.instructions.after) },
    { title: "Difference", number: true, value: (r) => r.instructions.delta, show: deltaCell },
    { title: "Percent", number: true, value: (r) => (r.instructions.percent === null ? Infinity : r.instructions.percent), show: growth },
    { title: "Calls before", number: true, value: (r) => r.calls.before, show: (r) => side(r, "new", r.calls.before) },
    { title: "Calls after", number: true, value: (r) => r.calls.after, show: (r) => side(r, "removed", r.calls.after) },
    { title: ofCalls ? "Call" : "Function", class: "name", value: name, search: (r) => name(r) + " " + symbols(r) + " " + r.status, show: (r) => element("span", { title: name(r) }, brief(r)) },
    { title: "Place", value: place, search: (r) => r.file, show: (r) => element("span", { title: r.file }, place(r)) },
  ];

  const changed = rows.filter((r) => r.status !== "unchanged");
  const grew = changed.filter((r) => r.instructions.delta > 0).sort((a, b) => b.instructions.delta - a.instructions.delta);
  const shrank = changed.filter((r) => r.instructions.delta < 0).sort((a, b) => a.instructions.delta - b.instructions.delta);

  function top(title, list) {
    const body = element("tbody", {}, ...list.slice(0, 15).map((row) => {
      const cell = element("td", { class: "number" });
      cell.append(deltaCell(row, cell));
      return element("tr", {}, cell, element("td", { class: "number" }, growth(row)), element("td", { class: "name", title: name(row) }, brief(row)));
    }));
    return element("section", {}, element("h2", {}, title + " (" + number(list.length) + ")"), list.length ? element("table", {}, body) : element("p", { class: "note" }, "Nothing."));
  }

  function totalRow(title, pair) {
    return element("tr", {}, element("th", { scope: "row" }, title), ...[number(pair.before), number(pair.after), signed(pair.delta), pair.percent === null ? "from 0" : (pair.percent < 0 ? "\u2212" : "+") + Math.abs(pair.percent).toFixed(4) + "%"]
      .map((text) => element("td", { class: "number" }, text)));
  }

  function showSummary() {
    const count = (status) => number(rows.filter((r) => r.status === status).length);
    return [
      element("table", { id: "totals", style: { width: "auto" } },
        element("thead", {}, element("tr", {}, ...["", "Before", "After", "Difference", "Percent"].map((text) => element("th", { scope: "col", class: "number" }, text)))),
        element("tbody", {}, totalRow("Instructions executed", data.totals.instructions), totalRow("Calls", data.totals.calls))),
      element("p", { class: "note" }, kind + ": " + count("changed") + " changed, " + count("new") + " new, " + count("removed") + " removed, " + count("unchanged") + " unchanged."),
      element("div", { class: "sides" }, top("Grew", grew), top("Shrank", shrank)),
    ];
  }

  function absolute() { /* the largest difference first, whatever its sign */
    return { ...columns[2], value: (r) => Math.abs(r.instructions.delta) };
  }
  const changedColumns = columns.map((column, index) => (index === 2 ? absolute() : column));

  start({
    title: base(data.before) + " and " + base(data.after), heading: data.before + "  \u2192  " + data.after,
    summary: number(data.totals.instructions.before) + " and " + number(data.totals.instructions.after) + " instructions executed; quipu " + data.version,
    tabs: [["summary", "Summary"], ["changed", "What changed"], ["all", "All"]],
    views: { summary: showSummary, changed: () => [table(changedColumns, changed, 2)], all: () => [table(columns, rows, 1)] },
  });
});
