"use strict";
/* hits.js: shows who wrote to watched memory, what, and in which order. The data is a line that
   describes the page, and then those of 'quipu watch --format=json'. */
addEventListener("DOMContentLoaded", function () {
  const { element, number, base, table, start, shortName, colour, tip } = page;
  const lines = document.getElementById("data").textContent.split("\n").filter((line) => line);
  const about = JSON.parse(lines[0]), hits = [];
  let broken = 0;
  for (const line of lines.slice(1)) {
    try { hits.push(JSON.parse(line)); } catch (error) { broken++; }
  }

  /* ---- what the views have in common ---- */

  const place = (hit) => (hit.file ? base(hit.file) + (hit.line ? ":" + hit.line : "") : "");
  const change = (hit) => hit.old + " \u2192 " + hit.new;
  const text = (name, full) => element("span", { title: full }, name);
  const groups = new Map(); /* by expression and function, in the order of their first hits */
  for (const hit of hits) {
    const key = hit.expression + "\n" + hit.function + "\n" + hit.file + "\n" + hit.line;
    if (!groups.has(key)) groups.set(key, { first: hit, last: hit, count: 0, threads: new Set(), violations: 0 });
    const group = groups.get(key);
    group.last = hit;
    group.count++;
    group.threads.add(hit.thread);
    group.violations += hit.violation ? 1 : 0;
  }
  const violations = hits.filter((hit) => hit.violation).length;

  function showSummary() {
    const columns = [
      { title: "Writes", number: true, value: (g) => g.count },
      { title: "Object", value: (g) => g.first.expression, search: (g) => g.first.expression },
      { title: "Written by", class: "name", value: (g) => g.first.function, search: (g) => g.first.function + " " + g.first.file, show: (g) => text(shortName(g.first.function), g.first.function) },
      { title: "Place", value: (g) => place(g.first), show: (g) => text(place(g.first), g.first.file) },
      { title: "Threads", number: true, value: (g) => g.threads.size },
      { title: "First", number: true, value: (g) => g.first.hit },
      { title: "Last", number: true, value: (g) => g.last.hit },
      { title: "Last value", value: (g) => g.last.new },
      ...(violations ? [{ title: "Not allowed", number: true, value: (g) => g.violations, show: (g, cell) => { if (g.violations) cell.classList.add("never"); return number(g.violations); } }] : []),
    ];
    const note = broken ? [element("p", { class: "note" }, "The end of the data is missing: quipu was ended while it wrote.")] : [];
    return [...note, table(columns, [...groups.values()], 0)];
  }

  /* ---- all hits ---- */

  const columns = [
    { title: "Hit", number: true, value: (h) => h.hit },
    ...(hits.some((h) => h.moment) ? [{ title: "Moment", value: (h) => h.moment || "", search: (h) => h.moment || "" }] : []),
    { title: "Thread", value: (h) => h.thread, show: (h) => String(h.thread), search: (h) => String(h.thread) },
    { title: "What", value: (h) => h.name, search: (h) => h.name },
    { title: "Change", class: "name", value: (h) => h.new, search: (h) => h.old + " " + h.new, show: (h) => text(change(h), change(h)) },
    { title: "Function", value: (h) => h.function, search: (h) => h.function + " " + h.file, show: (h, cell) => { if (h.violation) cell.classList.add("never"); return element("a", { href: "#hit/" + h.hit, title: h.function }, shortName(h.function) || "?"); } },
    { title: "Place", value: place, show: (h) => text(place(h), h.file) },
    { title: "Instruction", value: (h) => h.instruction, search: (h) => h.instruction },
  ];

  const names = { hit: "hit", old: "old value", new: "new value", old_bytes: "old bytes", new_bytes: "new bytes", pc: "address of the instruction", exact: "old and new are this write's own", found_later: "found by a comparison later", undecided: "others may have written it", violation: "must not be" };

  function valueText(key, value) {
    if (key === "address" || key === "pc" || key === "block_address") return "0x" + value.toString(16);
    if (key === "others") return value.map((other) => other.function + " " + place(other)).join(", ");
    return typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
  }

  function showHit(argument) {
    const hit = hits.find((h) => String(h.hit) === argument);
    if (!hit) return [element("p", {}, "There is no such hit.")];
    const rows = Object.entries(hit).filter(([key]) => key !== "backtrace").map(([key, value]) =>
      element("tr", {}, element("th", { scope: "row" }, names[key] || key.replace(/_/g, " ")), element("td", { class: "wraps" }, valueText(key, value))));
    const calls = hit.backtrace ? [element("h2", {}, "Calls"), element("pre", {}, hit.backtrace.join("\n"))] : [];
    return [element("h2", {}, "Hit " + hit.hit + ": " + hit.name + "  " + change(hit)), element("table", { style: { width: "auto" } }, element("tbody", {}, ...rows)), ...calls];
  }

  /* ---- the time line: a row for each object, a mark for each write, in the order of the run ---- */

  function showTime() {
    const ROW = 26, LEFT = 190;
    const objects = [...new Set(hits.map((hit) => hit.expression))], writers = [...new Set(hits.map((hit) => hit.function))];
    const canvas = element("canvas", { role: "img", "aria-label": "Time line; the tab Hits has the same as text", tabindex: "0" }), help = tip();
    const colourOf = new Map(writers.map((name, index) => [name, colour(index)]));
    let from = 0, to = Math.max(hits.length, 1);
    const row = new Map(objects.map((name, index) => [name, index]));
    const rowOf = hits.map((hit) => row.get(hit.expression));
    const scale = () => Math.max(canvas.clientWidth - LEFT - 10, 50) / (to - from);
    function draw() {
      const width = canvas.clientWidth || 1000, height = objects.length * ROW + 24, ratio = devicePixelRatio || 1;
      canvas.style.height = height + "px";
      canvas.width = width * ratio;
      canvas.height = height * ratio;
      const pen = canvas.getContext("2d"), look = getComputedStyle(document.documentElement);
      pen.scale(ratio, ratio);
      pen.font = "12px system-ui, sans-serif";
      objects.forEach((name, index) => {
        pen.fillStyle = look.getPropertyValue("--text");
        pen.fillText(name.length > 28 ? name.slice(0, 13) + "\u2026" + name.slice(-14) : name, 6, index * ROW + 17);
        pen.fillStyle = look.getPropertyValue("--line");
        pen.fillRect(LEFT, index * ROW + ROW - 1, width - LEFT, 1);
      });
      const step = scale(), mark = Math.max(1.5, Math.min(step - 1, 14));
      for (let i = Math.floor(from); i < Math.min(Math.ceil(to), hits.length); i++) {
        const bad = hits[i].violation;
        pen.fillStyle = bad ? look.getPropertyValue("--never") : colourOf.get(hits[i].function);
        pen.fillRect(LEFT + (i - from) * step, rowOf[i] * ROW + (bad ? 2 : 5), mark, ROW - (bad ? 4 : 10));
      }
      pen.fillStyle = look.getPropertyValue("--dim");
      pen.fillText("hit " + number(Math.floor(from) + 1), LEFT, height - 7);
      const last = number(Math.min(Math.ceil(to), hits.length));
      pen.fillText(last, width - 10 - pen.measureText(last).width, height - 7);
    }
    function at(event) {
      const line = Math.floor(event.offsetY / ROW), middle = from + (event.offsetX - LEFT) / scale(), reach = 4 / scale() + 1;
      let best = -1;
      for (let i = Math.max(0, Math.floor(middle - reach)); i <= Math.min(hits.length - 1, Math.ceil(middle + reach)); i++)
        if (rowOf[i] === line && (best < 0 || Math.abs(i + 0.5 - middle) < Math.abs(best + 0.5 - middle))) best = i;
      return best < 0 ? null : hits[best];
    }
    function zoom(factor, middle) {
      const span = Math.min(hits.length, Math.max(8, (to - from) * factor)), part = (middle - from) / (to - from);
      from = Math.min(Math.max(0, middle - part * span), Math.max(0, hits.length - span));
      to = from + span;
      draw();
    }
    function move(part) {
      const span = to - from;
      from = Math.min(Math.max(0, from + part * span), Math.max(0, hits.length - span));
      to = from + span;
      draw();
    }
    canvas.addEventListener("mousemove", (event) => {
      const hit = at(event);
      help.show(event, hit && "Hit " + hit.hit + ": " + hit.name + "  " + change(hit) + "  by " + hit.function + "  " + place(hit) + (hit.moment ? "  " + hit.moment : "") + "  thread " + hit.thread);
    });
    canvas.addEventListener("mouseleave", () => help.show(null, ""));
    canvas.addEventListener("click", (event) => { const hit = at(event); if (hit) location.hash = "hit/" + hit.hit; });
    canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoom(event.deltaY > 0 ? 1.25 : 0.8, from + Math.max(0, event.offsetX - LEFT) / scale()); }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const actions = { ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), "+": () => zoom(0.8, (from + to) / 2), "-": () => zoom(1.25, (from + to) / 2) };
      if (actions[event.key]) { actions[event.key](); event.preventDefault(); }
    });
    addEventListener("resize", draw);
    setTimeout(draw);
    const legend = element("p", { class: "legend" }, ...writers.slice(0, 24).map((name) => element("span", { title: name }, element("i", { style: { background: colourOf.get(name) } }), shortName(name) || "?")));
    return [element("p", { class: "note" }, "From left to right: the writes in their order. Wheel or + and \u2212: enlarge; arrow keys: move; click: the write."), canvas, legend, help.element];
  }

  start({
    title: base(about.command.split(" ")[0]) || "watch", heading: about.command,
    summary: number(hits.length) + (hits.length === 1 ? " write" : " writes") + " to " + about.expressions.join(", ") + (violations ? "; " + number(violations) + " must not be" : "") + "; quipu " + about.version,
    tabs: [["summary", "Who wrote"], ["time", "Time line"], ["hits", "Hits"]],
    views: { summary: showSummary, time: showTime, hits: () => [table(columns, hits, 0, true)], hit: showHit },
    parent: { hit: "hits" },
  });
});
