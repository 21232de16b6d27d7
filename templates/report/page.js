// What a browser adds to a page that is complete without it.
"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const source = document.getElementById("tools");
  const [tools, drawer, tip] = [...source.content.cloneNode(true).children];
  const words = source.dataset;
  const nav = document.getElementById("contents"), { lang } = document.documentElement;

  // Contents and tools are beside the page where there is room, else in a drawer.
  const wide = matchMedia("(min-width: 76rem)");
  const settle = () => (wide.matches && nav ? nav.prepend(tools) : drawer.firstElementChild.after(tools));
  settle();
  wide.addEventListener("change", settle);
  if (nav) drawer.append(nav.querySelector("ol").cloneNode(true));
  document.body.append(drawer, tip);
  for (const link of all(".bar [href='#contents']")) {
    link.addEventListener("click", (event) => { event.preventDefault(); drawer.showModal(); });
  }
  drawer.addEventListener("click", (event) => {
    if (event.target === drawer || event.target.closest("a, [name=close]")) drawer.close();
  });

  // A link to what is in something closed opens it.
  const unfold = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let e = target; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();
  for (const button of all("[data-open]", tools)) {
    button.addEventListener("click", () => all("main details").forEach((e) => { e.open = button.dataset.open === "yes"; }));
  }

  // Search: an entry is a row, a figure or a sentence, and is known by the headings above it too.
  const parts = "main > :is(section, details):not(#answer, #about)";
  const texts = new Map();
  const entries = all(`${parts} :is(tbody tr, figure, p, li)`).filter((e) => !e.parentElement.closest("figure, td, li, header"));
  const boxes = all(`${parts}, ${parts} :is(section, details, aside, ul, .scroll, .finding)`).filter((e) => !e.closest("figure"));
  const opened = new Set();
  const known = (entry) => {
    let text = entry.textContent;
    for (let e = entry; e.tagName !== "MAIN"; e = e.parentElement) {
      const head = e.querySelector(":scope > :is(h3, h4, caption, summary), :scope > header :is(h2, h3)");
      if (head) text += ` ${head.textContent}`;
    }
    return text.toLowerCase();
  };
  const field = tools.querySelector("input");
  field.addEventListener("input", () => {
    const asked = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const kept = new Set();
    let n = 0;
    for (const entry of entries) {
      if (!texts.has(entry)) texts.set(entry, known(entry));
      entry.hidden = !asked.every((word) => texts.get(entry).includes(word));
      if (entry.hidden) continue;
      n += 1;
      for (let e = entry; e && !kept.has(e); e = e.parentElement) kept.add(e);
    }
    for (const box of boxes) {
      box.hidden = asked.length > 0 && !kept.has(box);
      if (box.tagName !== "DETAILS") continue;
      if (asked.length ? !box.hidden && !box.open && opened.add(box) : opened.delete(box)) box.open = !box.open;
    }
    const found = words[n ? "found" : "nothing"].replace("%n", n).replace("%of", entries.length.toLocaleString(lang));
    tools.querySelector("output").textContent = asked.length ? found : "";
  });
  tools.addEventListener("submit", (event) => {
    event.preventDefault();
    if (drawer.open) drawer.close();
    const first = entries.find((e) => !e.hidden);
    if (first && field.value) first.scrollIntoView({ block: "center" });
  });

  // Sorting: up, down, and the third time as the report has it.
  const number = (text) => {
    const plain = text.replace(/\u2212/g, "-").replace(words.decimal === "," ? /[.\s]/g : /,/g, "").replace(",", ".");
    return Number((/-?(\d+(\.\d+)?|\u221e)/.exec(plain) || ["NaN"])[0].replace("\u221e", "Infinity"));
  };
  const sort = (head, heads, body, rows) => {
    const way = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")];
    for (const one of heads) one.setAttribute("aria-sort", one === head ? way : "none");
    for (const cell of all(".same", body)) { // a row that moves says what it had from the row above
      const above = cell.parentElement.previousElementSibling.cells[cell.cellIndex];
      cell.firstElementChild.textContent = above.firstElementChild.textContent;
      cell.className = "";
    }
    const numeric = head.classList.contains("number"), sign = way === "descending" ? -1 : 1;
    const key = (row) => row.cells[heads.indexOf(head)].textContent.trim();
    const compare = (a, b) => {
      if (!numeric) return sign * key(a).localeCompare(key(b), lang, { numeric: true });
      const [x, y] = [number(key(a)), number(key(b))];
      return Number.isNaN(x) - Number.isNaN(y) || sign * (x > y ? 1 : x < y ? -1 : 0);
    };
    body.append(...(way === "none" ? rows : [...rows].sort(compare)));
  };
  for (const table of all(".scroll > table")) {
    const body = table.tBodies[0], rows = [...body.rows], heads = table.tHead ? [...table.tHead.rows[0].cells] : [];
    if (rows.length < 3 || rows.some((row) => row.cells.length !== heads.length || row.cells[0].tagName !== "TH")) continue;
    for (const head of heads.filter((one) => one.textContent)) {
      const button = Object.assign(document.createElement("button"), { type: "button", title: words.sort });
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => sort(head, heads, body, rows));
    }
  }

  // Figures: a mark says its value to a pointer that comes near, and to the arrow keys.
  const REACH = 24;
  const show = (text, box, mark) => {
    all(".on").forEach((e) => e.classList.remove("on"));
    if (mark) mark.classList.add("on");
    tip.textContent = text;
    tip.hidden = !text;
    if (!text) return;
    const left = box.left + box.width / 2 - tip.offsetWidth / 2, top = box.top - tip.offsetHeight - 8;
    tip.style.left = `${Math.max(Math.min(left, innerWidth - tip.offsetWidth - 4), 4)}px`;
    tip.style.top = `${top > 0 ? top : box.bottom + 8}px`;
  };
  for (const drawing of all(".drawing")) {
    const svg = drawing.querySelector("svg"), marks = all("g > title", svg).map((title) => title.parentElement);
    if (!marks.length) continue;
    svg.setAttribute("aria-label", all(":scope > :is(title, desc)", svg).map((e) => e.textContent).join(". "));
    svg.removeAttribute("aria-labelledby");
    for (const title of all("title", svg)) { // or the browser shows it too
      title.parentElement.dataset.said = title.textContent;
      title.remove();
    }
    const tell = (mark) => show(mark.dataset.said, mark.getBoundingClientRect(), mark);
    const away = ({ clientX: x, clientY: y }) => (mark) => {
      const box = mark.getBoundingClientRect();
      return Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom));
    };
    drawing.addEventListener("pointermove", (event) => {
      const far = marks.map(away(event)), least = Math.min(...far), mark = marks[far.indexOf(least)];
      if (least > REACH) show("");
      else if (!mark.classList.contains("on")) tell(mark);
    });
    let at = -1;
    drawing.addEventListener("focus", () => {
      at = -1;
      if (drawing.matches(":focus-visible")) show(words.marks.replace("%n", marks.length), drawing.getBoundingClientRect());
    });
    for (const leave of ["pointerleave", "blur"]) drawing.addEventListener(leave, () => show(""));
    drawing.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === "Escape") show("");
      if (!step) return;
      event.preventDefault();
      at = at < 0 && step < 0 ? marks.length - 1 : (at + step + marks.length) % marks.length;
      marks[at].scrollIntoView({ block: "nearest", inline: "nearest" });
      tell(marks[at]);
    });
  }
})();
