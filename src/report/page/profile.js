"use strict";
/* profile.js: shows the data of a profile, which export_html.c describes. */
addEventListener("DOMContentLoaded", function () {
  const { element, number, percent, base, link, table, share, shortName, tip, start } = page;
  const data = JSON.parse(document.getElementById("data").textContent);
  const FILE = { path: 0, lines: 1, executed: 2, targets: 3, taken: 4, instructions: 5 };
  const FN = { name: 0, file: 1, line: 2, module: 3, calls: 4, executed: 5, size: 6, never: 7, symbol: 8, inlined: 9 };
  const callText = (count) => number(count) + (count === 1 ? " call" : " calls");

  /* ---- source and assembly, which may be in files beside the page ---- */

  const parts = new Set(data.parts), read = new Set();
  let refresh = () => {};
  const hasSource = (file) => file && (data.source[file] || parts.has(file));
  page.add = (file, part) => { Object.assign(data.source, part.source); Object.assign(data.assembly, part.assembly); assemblyOf.clear(); };

  /* Whether the part of FILE is there. Otherwise reads it, and then shows the view anew. */
  function need(file) {
    if (!parts.has(file) || read.has(file)) return true;
    const done = () => { read.add(file); refresh(); };
    document.head.append(element("script", { src: "file-" + file + ".js", onload: done, onerror: done }));
    return false;
  }
  const waiting = () => [element("p", { class: "note" }, "Reading\u2026")];

  /* ---- views ---- */

  const place = (file, line) => (file && data.files[file][FILE.path] ? base(data.files[file][FILE.path]) + (line ? ":" + line : "") : "");

  function placeLink(file, line) {
    const text = place(file, line);
    return text && hasSource(file) ? link("source/" + file + "/" + line, text, data.files[file][FILE.path]) : document.createTextNode(text);
  }

  const functions = data.functions.map((row, index) => ({ row, index }));

  function functionColumns() {
    return [
      { title: "Instructions", number: true, value: (f) => f.row[FN.executed] },
      { title: "Share", value: (f) => f.row[FN.executed], show: share((f) => f.row[FN.executed], data.instructions) },
      { title: "Calls", number: true, value: (f) => f.row[FN.calls], show: (f) => (f.row[FN.inlined] ? "inlined" : number(f.row[FN.calls])) },
      { title: "Function", class: "name", value: (f) => f.row[FN.name], search: (f) => f.row[FN.name] + " " + f.row[FN.symbol], show: (f) => link("function/" + f.index, shortName(f.row[FN.name]), f.row[FN.name]) },
      { title: "Size", number: true, value: (f) => f.row[FN.size] },
      { title: "Never", number: true, value: (f) => f.row[FN.never], show: (f, cell) => { if (f.row[FN.never]) cell.classList.add("never"); return number(f.row[FN.never]); } },
      { title: "Place", value: (f) => place(f.row[FN.file], f.row[FN.line]), search: (f) => (f.row[FN.file] ? data.files[f.row[FN.file]][FILE.path] : ""), show: (f) => placeLink(f.row[FN.file], f.row[FN.line]) },
    ];
  }

  const files = data.files.map((row, index) => ({ row, index })).filter((f) => f.row[FILE.lines]);

  function fileColumns() {
    return [
      { title: "File", class: "name", value: (f) => f.row[FILE.path], search: (f) => f.row[FILE.path], show: (f) => link("source/" + f.index, f.row[FILE.path]) },
      { title: "Lines", number: true, value: (f) => f.row[FILE.lines] },
      { title: "Executed", number: true, value: (f) => f.row[FILE.executed] },
      { title: "Coverage", value: (f) => percent(f.row[FILE.executed], f.row[FILE.lines]), show: (f, cell) => { const p = percent(f.row[FILE.executed], f.row[FILE.lines]); cell.classList.add("share"); cell.style.setProperty("--part", p.toFixed(2) + "%"); return p.toFixed(1) + "%"; } },
      { title: "Branches", number: true, value: (f) => f.row[FILE.targets] },
      { title: "Taken", number: true, value: (f) => f.row[FILE.taken] },
      { title: "Instructions", number: true, value: (f) => f.row[FILE.instructions] },
    ];
  }

  function showSummary() {
    const lines = files.reduce((s, f) => s + f.row[FILE.lines], 0), executed = files.reduce((s, f) => s + f.row[FILE.executed], 0);
    const targets = files.reduce((s, f) => s + f.row[FILE.targets], 0), taken = files.reduce((s, f) => s + f.row[FILE.taken], 0);
    const ran = data.functions.filter((f) => f[FN.executed]).length;
    const rows = [
      ["Instructions executed", number(data.instructions)],
      ["Processes, threads", number(data.processes) + ", " + number(data.threads)],
      ["Functions executed", number(ran) + " of " + number(data.functions.length) + " (" + percent(ran, data.functions.length).toFixed(1) + "%)"],
      ["Lines executed", number(executed) + " of " + number(lines) + " (" + percent(executed, lines).toFixed(1) + "%)"],
      ["Branch targets taken", number(taken) + " of " + number(targets) + " (" + percent(taken, targets).toFixed(1) + "%)"],
    ];
    const top = element("table", {}, element("tbody", {}, ...functions.slice(0, 15).filter((f) => f.row[FN.executed]).map((f) => {
      const bar = element("td", {});
      bar.append(share((g) => g.row[FN.executed], data.instructions)(f, bar));
      return element("tr", {}, element("td", { class: "number" }, number(f.row[FN.executed])), bar, element("td", { class: "name" }, link("function/" + f.index, shortName(f.row[FN.name]), f.row[FN.name])));
    })));
    return [
      element("table", { id: "totals", style: { width: "auto" } }, element("tbody", {}, ...rows.map(([name, value]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, value))))),
      element("h2", {}, "What ran"),
      element("table", { style: { width: "auto" } }, element("tbody", {}, ...data.programs.map(([path, count]) => element("tr", {}, element("td", { class: "number" }, number(count)), element("td", {}, path))))),
      element("h2", {}, "Most executed functions"), top,
    ];
  }

  function heat(count, most) {
    return count && most > 1 ? (0.05 + (0.4 * Math.log(count)) / Math.log(most)).toFixed(3) : "0";
  }

  function branchText(targets) {
    const cell = element("td", { class: "branches" });
    for (const count of targets) cell.append(element("span", { class: count ? "" : "no", title: count ? "taken" : "never taken" }, number(count)));
    return cell;
  }

  /* OPENER, a button with the line's number, stands in place of it. */
  function codeRow(entry, most, line, text, executions, targets, opener) {
    const ran = entry !== undefined, kind = !ran ? "" : executions ? "hot" : "none";
    return element("tr", { class: kind, id: line ? "L" + line : undefined, style: { "--heat": ran ? heat(executions, most) : "0" } },
      element("td", { class: "number" }, ran ? number(executions) : ""), branchText(targets || []),
      element("td", { class: "number note" }, opener || (line ? String(line) : "")), element("td", { class: "text" }, text));
  }

  /* The instructions of all functions that have some of this line. */
  const assemblyOf = new Map();
  function assemblyLines(file) {
    if (!assemblyOf.size)
      for (const [index, code] of Object.entries(data.assembly))
        for (const instruction of code) {
          const key = instruction[2] + ":" + instruction[3];
          if (!assemblyOf.has(key)) assemblyOf.set(key, []);
          assemblyOf.get(key).push([index, instruction]);
        }
    return (line) => assemblyOf.get(file + ":" + line) || [];
  }

  function toggleAssembly(row, opener, file, line) {
    let next = row.nextSibling;
    opener.setAttribute("aria-expanded", String(opener.getAttribute("aria-expanded") !== "true"));
    if (next && next.classList.contains("assembly")) {
      while (next && next.classList.contains("assembly")) { const gone = next; next = next.nextSibling; gone.remove(); }
      return;
    }
    for (const [index, code] of assemblyLines(file)(line).reverse())
      row.after(element("tr", { class: "assembly" }, element("td", { class: "number" }, number(code[1])), element("td"), element("td"),
        element("td", { class: "text" }, "    " + code[0].toString(16) + "  " + code[4], "    ", link("function/" + index, shortName(data.functions[index][FN.name]), data.functions[index][FN.name]))));
  }

  function showSource(argument) {
    const [file, line] = argument.split("/").map(Number);
    if (!need(file)) return waiting();
    const source = data.source[file];
    if (!source) return [element("p", { class: "note" }, "This file has no counts.")];
    const row = data.files[file], counts = new Map(source.lines.map((l) => [l[0], l]));
    const most = source.lines.reduce((m, l) => Math.max(m, l[1]), 0);
    const heading = [element("h2", {}, row[FILE.path]), element("p", { class: "note" },
      number(row[FILE.executed]) + " of " + number(row[FILE.lines]) + " lines executed, " + number(row[FILE.taken]) + " of " + number(row[FILE.targets]) + " branch targets taken. Click a line, or press Enter on its number, for its instructions.")];
    if (!source.text) heading.push(element("p", { class: "note" }, "Its text is not in this page: the file was not found, or the page would be too large."));
    const text = source.text || [], last = Math.max(text.length, ...source.lines.map((l) => l[0]));
    const body = element("tbody");
    for (let i = 1; i <= last; i++) {
      const entry = counts.get(i);
      if (!source.text && !entry) continue;
      const opener = entry ? element("button", { type: "button", "aria-expanded": "false", "aria-label": "Instructions of line " + i }, String(i)) : null;
      const made = codeRow(entry, most, i, text[i - 1] || "", entry ? entry[1] : 0, entry ? entry.slice(3) : [], opener);
      if (entry) made.addEventListener("click", () => toggleAssembly(made, opener, file, i)); /* also the button's */
      if (i === line) made.classList.add("marked");
      body.append(made);
    }
    setTimeout(() => { const marked = body.querySelector(".marked"); if (marked) marked.scrollIntoView({ block: "center" }); });
    return [...heading, element("table", { class: "code" }, body)];
  }

  function showFunction(argument) {
    const row = data.functions[Number(argument)];
    if (!row) return [element("p", {}, "There is no such function.")];
    if (!need(row[FN.file])) return waiting();
    const code = data.assembly[argument];
    const about = [element("h2", { title: row[FN.name] }, shortName(row[FN.name])), ...(shortName(row[FN.name]) === row[FN.name] ? [] : [element("p", { class: "note full" }, row[FN.name])]), element("p", { class: "note" },
      callText(row[FN.calls]) + ", " + number(row[FN.executed]) + " instructions executed, " + number(row[FN.never]) + " of " + number(row[FN.size]) + " never; " + (data.modules[row[FN.module]] || "") + "  ", placeLink(row[FN.file], row[FN.line]))];
    if (!code) return [...about, element("p", { class: "note" }, row[FN.executed] ? "Its instructions are not in this page: it would be too large." : row[FN.inlined] ? "It was never called: its callers contain copies of it, which ran." : "It was never executed.")];
    const most = code.reduce((m, c) => Math.max(m, c[1]), 0), body = element("tbody");
    let before = "";
    for (const [address, count, file, line, text] of code) {
      const here = file + ":" + line;
      if (here !== before && line) {
        const source = data.source[file], words = source && source.text ? (source.text[line - 1] || "").trim() : "";
        body.append(element("tr", { class: "assembly" }, element("td"), element("td"), element("td"), element("td", { class: "text" }, placeLink(file, line), "  " + words)));
      }
      before = here;
      body.append(codeRow([], most, 0, (address ? address.toString(16) : "") + "\t" + text, count));
    }
    return [...about, element("table", { class: "code" }, body)];
  }

  /* ---- calls ---- */

  const WIDTH = 5; /* numbers of a path */
  let children = null;
  function childrenOf(path) {
    if (!children) {
      children = new Map();
      const paths = data.calls.paths;
      for (let i = 1; i < paths.length / WIDTH; i++) {
        const parent = paths[i * WIDTH];
        if (!children.has(parent)) children.set(parent, []);
        children.get(parent).push(i);
      }
      for (const list of children.values()) list.sort((a, b) => inclusive(b) - inclusive(a));
    }
    return children.get(path) || [];
  }
  const inclusive = (path) => data.calls.paths[path * WIDTH + 3];
  const exclusive = (path) => data.calls.paths[path * WIDTH + 4];
  const parentOf = (path) => data.calls.paths[path * WIDTH];
  const pathFigures = (path) => ": " + number(inclusive(path)) + " (" + percent(inclusive(path), inclusive(0)).toFixed(2) + "%), own " + number(exclusive(path)) + ", calls " + number(callsOf(path));
  const callsOf = (path) => data.calls.paths[path * WIDTH + 2];
  let rootNames = null;
  function pathName(path) {
    rootNames = rootNames || new Map(data.calls.roots.map(([name, root]) => [root, name]));
    return path === 0 ? "all" : rootNames.get(path) || data.calls.functions[data.calls.paths[path * WIDTH + 1]][0];
  }

  function pathLink(path) {
    const full = pathName(path), name = shortName(full);
    if (!path || rootNames.has(path)) return full;
    const [, file, line] = data.calls.functions[data.calls.paths[path * WIDTH + 1]];
    return hasSource(file) ? element("a", { href: "#source/" + file + "/" + line, title: full + "  " + place(file, line), tabindex: "-1" }, name) : element("span", { title: full }, name);
  }

  /* An item of the tree. It has the keys, so the button and the link in it are for the mouse. */
  function treeItem(path, total, level) {
    const list = childrenOf(path), below = element("ul", { role: "group", hidden: "" });
    const twist = element("button", { type: "button", class: "twist", tabindex: "-1", "aria-hidden": "true" }, list.length ? "▸" : "");
    const name = shortName(pathName(path)), isRoot = !path || rootNames.has(path);
    const part = percent(inclusive(path), total).toFixed(1) + "%";
    const item = element("li", { role: "treeitem", tabindex: level === 1 ? "0" : "-1", "aria-level": String(level), "aria-label": name + ", " + part + (isRoot ? "" : ", " + callText(callsOf(path))), "aria-expanded": list.length ? "false" : undefined },
      element("div", { class: "row" }, twist, element("span", { class: "figures" }, part + "  " + number(inclusive(path))), element("span", {}, pathLink(path)),
        element("span", { class: "figures" }, (isRoot ? "" : callText(callsOf(path)) + ", ") + number(exclusive(path)) + " own")), below);
    function open(yes) {
      if (yes && !below.children.length) for (const child of list) below.append(treeItem(child, total, level + 1));
      below.hidden = !yes;
      twist.textContent = yes ? "▾" : "▸";
      item.setAttribute("aria-expanded", String(yes));
      if (!yes && below.contains(document.activeElement)) item.focus();
    }
    if (list.length) twist.addEventListener("click", () => open(below.hidden));
    if (list.length) item.openPath = open;
    return item;
  }

  /* Keys of the tree (WAI-ARIA, tree view). Enter follows the item's link. */
  function treeKey(event) {
    const item = event.target.closest("[role=treeitem]"), state = item && item.getAttribute("aria-expanded");
    if (!item || event.altKey || event.ctrlKey || event.metaKey) return;
    const seen = [...event.currentTarget.querySelectorAll("[role=treeitem]")].filter((i) => !i.parentNode.closest("[hidden]")), at = seen.indexOf(item);
    const toggle = () => item.openPath && item.openPath(state !== "true");
    const actions = {
      ArrowUp: () => seen[at - 1], ArrowDown: () => seen[at + 1], Home: () => seen[0], End: () => seen[seen.length - 1],
      ArrowRight: () => (state === "true" ? seen[at + 1] : toggle()),
      ArrowLeft: () => (state === "true" ? toggle() : item.parentNode.closest("[role=treeitem]")),
      Enter: () => { const target = item.querySelector(":scope > .row a"); if (target) target.click(); else toggle(); },
      " ": toggle,
    };
    if (!actions[event.key]) return;
    const next = actions[event.key]();
    if (next) next.focus();
    event.preventDefault();
  }

  /* Only the item that had the focus last is reached by the Tab key. */
  function treeFocus(event) {
    for (const item of event.currentTarget.querySelectorAll("[role=treeitem][tabindex='0']")) item.tabIndex = -1;
    event.target.closest("[role=treeitem]").tabIndex = 0;
  }

  function showCalls() {
    const item = treeItem(0, inclusive(0) || data.calls.roots.reduce((s, r) => s + inclusive(r[1]), 0), 1);
    let next = item;
    for (let depth = 0; next && next.openPath && depth < 4; depth++) { next.openPath(true); next = next.querySelector("ul > li"); }
    return [element("p", { class: "note" }, "Inclusive instructions; calls and own instructions behind the name."), element("div", { class: "tree" }, element("ul", { role: "tree", "aria-label": "Calls", onkeydown: treeKey, onfocusin: treeFocus }, item))];
  }

  let flameFocus = -1; /* the path that the keys select in the view that comes */

  function showFlame(argument) {
    const canvas = element("canvas", { role: "application", tabindex: "0", "aria-label": "Flame graph; arrow keys select, Enter enlarges, Escape goes back; the tab Calls has the same as text" }), help = tip();
    const where = element("p", { class: "note" }), told = element("p", { class: "note", role: "status" });
    let top = Number(argument) || 0, boxes = [], selected = -1;
    const HEIGHT = 20;
    function colour(text) { /* the colours of flames */
      let hash = 0;
      for (const c of text) hash = (hash * 31 + c.charCodeAt(0)) >>> 0;
      return "hsl(" + (10 + (hash % 50)) + ", " + (60 + ((hash >> 8) % 30)) + "%, " + (58 + ((hash >> 16) % 14)) + "%)";
    }
    function lay(path, left, width, depth) {
      if (width < 0.7) return;
      boxes.push({ path, left, width, depth });
      const whole = inclusive(path);
      for (const child of childrenOf(path)) {
        const part = whole ? (width * inclusive(child)) / whole : 0;
        lay(child, left, part, depth + 1);
        left += part;
      }
    }
    function draw() {
      const width = canvas.clientWidth || 1000, scale = devicePixelRatio || 1;
      boxes = [];
      lay(top, 0, width, 0);
      const rows = boxes.reduce((m, b) => Math.max(m, b.depth), 0) + 1;
      canvas.style.height = rows * HEIGHT + "px";
      canvas.width = width * scale;
      canvas.height = rows * HEIGHT * scale;
      const pen = canvas.getContext("2d");
      pen.scale(scale, scale);
      pen.font = "12px system-ui, sans-serif";
      for (const box of boxes) {
        const name = pathName(box.path), y = box.depth * HEIGHT;
        pen.fillStyle = colour(name);
        pen.fillRect(box.left, y, Math.max(box.width - 0.5, 0.5), HEIGHT - 1);
        if (box.width > 30) {
          pen.fillStyle = "#1c1e21";
          pen.save();
          pen.beginPath();
          pen.rect(box.left, y, box.width - 4, HEIGHT);
          pen.clip();
          pen.fillText(shortName(name), box.left + 4, y + 14);
          pen.restore();
        }
        if (box.path === selected) {
          pen.strokeStyle = "#1c1e21";
          pen.lineWidth = 2;
          pen.strokeRect(box.left + 1, y + 1, Math.max(box.width - 2, 1), HEIGHT - 3);
        }
      }
      where.title = pathName(top);
      where.textContent = shortName(pathName(top)) + ": " + number(inclusive(top)) + " instructions. Click a box to enlarge it, the top one to go back. Keys: arrows, Enter, Escape.";
    }
    const at = (event) => boxes.find((b) => b.depth === Math.floor(event.offsetY / HEIGHT) && event.offsetX >= b.left && event.offsetX < b.left + b.width);
    canvas.addEventListener("mousemove", (event) => {
      const box = at(event);
      help.show(event, box && pathName(box.path) + pathFigures(box.path));
    });
    canvas.addEventListener("mouseleave", () => help.show(null, ""));
    canvas.addEventListener("click", (event) => {
      const box = at(event);
      if (box) location.hash = "flame/" + (box.path === top ? parentOf(top) : box.path);
    });
    function select(path) {
      selected = path;
      told.textContent = shortName(pathName(path)) + pathFigures(path);
      told.title = pathName(path);
      draw();
    }
    function enlarge(path) {
      if (path === top) return;
      flameFocus = selected;
      location.hash = "flame/" + path;
    }
    canvas.addEventListener("keydown", (event) => {
      const path = boxes.some((b) => b.path === selected) ? selected : top, beside = path === top ? [] : childrenOf(parentOf(path)), at = beside.indexOf(path);
      const actions = {
        ArrowUp: () => (path === top ? top : parentOf(path)), ArrowDown: () => childrenOf(path)[0], ArrowLeft: () => beside[at - 1], ArrowRight: () => beside[at + 1],
        Home: () => top, Enter: () => enlarge(path), Escape: () => enlarge(parentOf(top)),
      };
      if (!actions[event.key] || event.altKey || event.ctrlKey || event.metaKey) return;
      const next = actions[event.key]();
      if (boxes.some((b) => b.path === next)) select(next);
      event.preventDefault();
    });
    canvas.addEventListener("focus", () => { if (selected < 0) select(top); });
    addEventListener("resize", draw);
    const asked = flameFocus;
    flameFocus = -1;
    setTimeout(() => {
      draw();
      if (asked < 0) return;
      select(boxes.some((b) => b.path === asked) ? asked : top);
      canvas.focus();
    });
    return [where, canvas, told, help.element];
  }

  /* ---- the whole ---- */

  const views = {
    summary: showSummary, functions: () => [table(functionColumns(), functions, 0)], files: () => [table(fileColumns(), files, 6)],
    source: showSource, function: showFunction, ...(data.calls ? { calls: showCalls, flame: showFlame } : {}),
  };
  refresh = start({
    title: base(data.title.split(" ")[0]) || "quipu", heading: data.title, views,
    summary: number(data.processes) + (data.processes === 1 ? " process, " : " processes, ") + number(data.threads) + (data.threads === 1 ? " thread, " : " threads, ") + number(data.instructions) + " instructions executed; quipu " + data.version,
    tabs: [["summary", "Summary"], ["functions", "Functions"], ["files", "Files"], ...(data.calls ? [["calls", "Calls"], ["flame", "Flame graph"]] : [])],
    parent: { source: "files", function: "functions" },
  });
});
