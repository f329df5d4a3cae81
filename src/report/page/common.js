"use strict";
/* common.js: what all pages share: elements, tables, and the choice of a view.

   Text of programs is put into the page by textContent only. The address behind '#' names the view,
   so that links, the browser's history and reload work. */
const page = (function () {
  const view = document.getElementById("view");

  /* ---- elements ---- */

  function element(name, properties, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(properties || {}))
      if (key === "class") made.className = value;
      else if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (key === "style") for (const [n, v] of Object.entries(value)) made.style.setProperty(n, v);
      else if (value !== undefined) made.setAttribute(key, value);
    for (const child of children)
      if (child !== null && child !== undefined) made.append(child instanceof Node ? child : document.createTextNode(child));
    return made;
  }

  const grouped = new Intl.NumberFormat("en-US");
  const number = (n) => grouped.format(n);
  const percent = (part, whole) => (whole ? (100 * part) / whole : 0);
  const base = (path) => path.slice(path.lastIndexOf("/") + 1);
  const link = (target, text, title) => element("a", { href: "#" + target, title }, text);

  /* ---- tables: only the rows that can be seen are in the page ---- */

  const ROW = 26;

  /* ROWS sorted by column number SORT, from high to low, unless UP. */
  function table(columns, rows, sort, up) {
    let shown = rows, down = !up, by = sort;
    const head = element("tr"), body = element("tbody"), box = element("div", { class: "rows", tabindex: "0" });
    const filter = element("input", { type: "search", placeholder: "Search (press /)", "aria-label": "Search" });
    const count = element("span", { class: "note", role: "status" });
    columns.forEach((column, index) => {
      const button = element("button", { type: "button", onclick: () => { down = by === index ? !down : column.number; by = index; order(); } }, column.title);
      head.append(element("th", { class: column.number ? "number" : "", scope: "col" }, button));
    });
    function draw() {
      const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 20);
      const last = printing ? shown.length : Math.min(shown.length, first + Math.ceil((box.clientHeight || 800) / ROW) + 40);
      body.replaceChildren();
      if (first) body.append(element("tr", { style: { height: first * ROW + "px" } }));
      for (let i = first; i < last; i++)
        body.append(element("tr", {}, ...columns.map((column) => {
          const cell = element("td", { class: (column.number ? "number " : "") + (column.class || "") });
          const content = column.show ? column.show(shown[i], cell) : column.value(shown[i]);
          cell.append(content instanceof Node ? content : document.createTextNode(column.number && !column.show ? number(content) : content));
          return cell;
        })));
      if (last < shown.length) body.append(element("tr", { style: { height: (shown.length - last) * ROW + "px" } }));
    }
    function order() {
      const value = columns[by].value, sign = down ? -1 : 1;
      shown.sort((a, b) => { const x = value(a), y = value(b); return x < y ? -sign : x > y ? sign : 0; });
      [...head.children].forEach((cell, index) => cell.setAttribute("aria-sort", index !== by ? "none" : down ? "descending" : "ascending"));
      box.scrollTop = 0;
      draw();
    }
    function search() {
      const wanted = filter.value.toLowerCase();
      shown = rows.filter((row) => !wanted || columns.some((column) => column.search && column.search(row).toLowerCase().includes(wanted)));
      count.textContent = number(shown.length) + " of " + number(rows.length);
      order();
    }
    let printing = false;
    redraw = (all) => { printing = all; draw(); };
    filter.addEventListener("input", search);
    box.addEventListener("scroll", draw);
    box.append(element("table", {}, element("thead", {}, head), body));
    const whole = element("div", {}, element("div", { class: "tools" }, filter, count), box);
    setTimeout(search);
    return whole;
  }

  let redraw = () => {};
  addEventListener("beforeprint", () => redraw(true));
  addEventListener("afterprint", () => redraw(false));

  function share(part, whole) {
    return (row, cell) => {
      const value = percent(part(row), whole);
      cell.classList.add("share");
      cell.style.setProperty("--part", value.toFixed(2) + "%");
      return value.toFixed(1) + "%";
    };
  }

  /* The end of the brackets that open at AT, or AT. */
  function bracketEnd(name, at) {
    for (let end = at, depth = 0; end < name.length; end++) {
      if (name[end] === "<" || name[end] === "(") depth++;
      if (name[end] === ")" || (name[end] === ">" && (end === at || name[end - 1] !== "-"))) depth--;
      if (!depth) return end + 1;
    }
    return at;
  }

  /* Long names without the return type and the long arguments of templates and functions. This is
     short_name of src/symbols/demangle.c, so that all tables of quipu have the same names. */
  function shortName(name) {
    const size = (text) => new TextEncoder().encode(text).length;
    const operator = /operator(\(\)|"" |<<=|>>=|<=>|->\*|<<|>>|->|<=|>=|<|>| )?/y;
    if (size(name) <= 48) return name;
    let text = "", at = 0, converts = false; /* within the type of 'operator TYPE()' */
    while (at < name.length) {
      operator.lastIndex = at;
      const found = name[at] === "[" ? name.slice(at).split("]", 1) : operator.exec(name);
      converts = found ? found[0].endsWith(" ") : converts && name[at] !== "(";
      const opens = name[at] === "<" || name[at] === "(", end = opens ? bracketEnd(name, at) : at, inner = name.slice(at, end);
      if (size(inner) > 16 && inner !== "(anonymous namespace)") { text += name[at] === "<" ? "<...>" : "(...)"; at = end; continue; }
      if (name[at] === " " && !converts && !name.startsWith(" const", at) && name[at + 1] && !"<[".includes(name[at + 1])) { text = ""; at++; continue; } /* the return type ends here */
      const kept = (found && found[0]) || inner || name[at];
      text += kept;
      at += kept.length;
    }
    return text;
  }

  /* Colours that differ for small numbers. */
  const colour = (index) => "hsl(" + ((index * 137.5) % 360).toFixed(0) + ", 60%, " + (48 + 8 * (index % 3)) + "%)";

  /* A box of text beside the mouse. */
  function tip() {
    const box = element("div", { id: "tip", hidden: "" });
    function show(event, text) {
      box.hidden = !text;
      if (!text) return;
      box.textContent = text;
      box.style.left = Math.min(event.clientX + 14, innerWidth - 320) + "px";
      box.style.top = event.clientY + 18 + "px";
    }
    return { element: box, show };
  }

  /* ---- views ---- */

  /* Keys of the tabs: the arrows, Home and End move the focus, Enter and Space show a view. Only one
     tab is reached by the Tab key (WAI-ARIA, tabs with manual activation). */
  function tabKey(event) {
    const all = [...event.currentTarget.children], at = all.indexOf(event.target);
    const to = { ArrowLeft: at - 1, ArrowRight: (at + 1) % all.length, Home: 0, End: -1, " ": at }[event.key];
    if (to === undefined || at < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
    for (const tab of all) tab.tabIndex = tab === all.at(to) ? 0 : -1;
    all.at(to).focus();
    if (event.key === " ") event.target.click();
    event.preventDefault();
  }

  /* Shows a page. TABS are [name, text]; VIEWS has a function for each name, which returns nodes;
     PARENT, the tab of a view that has none. The first tab is shown where nothing is named. Returns
     what shows the view anew. */
  function start({ title, heading, summary, tabs, views, parent }) {
    const bar = document.getElementById("tabs");
    function show() {
      const [name, ...rest] = decodeURIComponent(location.hash.slice(1)).split("/"), chosen = views[name] ? name : tabs[0][0];
      const tab = (parent && parent[chosen]) || chosen;
      redraw = () => {};
      const hadFocus = bar.contains(document.activeElement);
      bar.replaceChildren(...tabs.map(([key, text]) => element("a", { href: "#" + key, role: "tab", "aria-controls": "view", "aria-selected": String(key === tab), tabindex: key === tab ? "0" : "-1" }, text)));
      if (hadFocus) bar.querySelector("[aria-selected=true]").focus();
      view.replaceChildren(...views[chosen](rest.join("/")));
    }
    document.title = title + " - quipu";
    document.getElementById("title").textContent = heading;
    document.getElementById("summary").textContent = summary;
    document.getElementById("theme").addEventListener("click", () => {
      const root = document.documentElement, dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
      root.dataset.theme = dark ? "light" : "dark";
    });
    bar.addEventListener("keydown", tabKey);
    addEventListener("hashchange", show);
    addEventListener("keydown", (event) => {
      if (event.key !== "/" || /INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName)) return;
      const box = view.querySelector("input[type=search]");
      if (box) { box.focus(); event.preventDefault(); }
    });
    show();
    return show;
  }

  return { element, number, percent, base, link, table, share, shortName, colour, tip, start };
})();
