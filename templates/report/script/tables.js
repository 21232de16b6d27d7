// Tables: sorted by a column up, down, and the third time as the report has it; copied as CSV.
/** The number of a cell as printed, for sorting; NaN where there is none. */
const number = (text) => {
  const plain = text.replace(/\u2212/g, "-").replace(words.decimal === "," ? /[.\s]/g : /,/g, "").replace(",", ".");
  return Number((/-?(\d+(\.\d+)?|\u221e)/.exec(plain) || ["NaN"])[0].replace("\u221e", "Infinity"));
};
/** Rows that say "same" say what they had from the row above, before they move. */
const spell = (body) => {
  for (const cell of all(".same", body)) {
    cell.textContent = cell.parentElement.previousElementSibling.cells[cell.cellIndex].textContent;
    cell.className = "";
  }
};
/** Sort the rows of a table by one of its heads; heads of groups are hidden while their rows are mixed. */
const sort = (head, heads, bodies, rows) => {
  const way = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")];
  for (const other of heads) other.setAttribute("aria-sort", other === head ? way : "none");
  bodies.forEach(spell);
  const numeric = head.classList.contains("number"), sign = way === "descending" ? -1 : 1;
  const key = ({ row }) => row.cells[heads.indexOf(head)].textContent.trim();
  const compare = (a, b) => {
    if (!numeric) return sign * key(a).localeCompare(key(b), lang, { numeric: true });
    const [x, y] = [number(key(a)), number(key(b))];
    return Number.isNaN(x) - Number.isNaN(y) || sign * (x > y ? 1 : x < y ? -1 : 0);
  };
  for (const { row, body } of way === "none" ? rows : [...rows].sort(compare)) (way === "none" ? body : bodies[0]).append(row);
  for (const body of bodies) all(".group-head", body).forEach((row) => { row.hidden = way !== "none"; });
};
for (const table of all(".scroll > table")) {
  const bodies = [...table.tBodies], heads = table.tHead ? [...table.tHead.rows[0].cells] : [];
  const rows = bodies.flatMap((body) => [...body.rows].filter((row) => !row.matches(".group-head")).map((row) => ({ row, body })));
  if (rows.length < 3 || rows.some(({ row }) => row.cells.length !== heads.length || row.cells[0].tagName !== "TH")) continue;
  for (const head of heads.filter((one) => one.textContent && !one.matches(".drawn"))) {
    const button = make("button", { type: "button", title: words.sort }, ...head.childNodes);
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => sort(head, heads, bodies, rows));
  }
}

/** The full text of a cell as printed: what stands below comes after a semicolon, pictures and links do not count. */
const plain = (cell) => {
  const said = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data;
    if (node.nodeType !== Node.ELEMENT_NODE || node.matches("svg, .here")) return "";
    return (node.matches(".aside, .line") ? "; " : "") + [...node.childNodes].map(said).join("");
  };
  if (cell.matches(".same")) return plain(cell.parentElement.previousElementSibling.cells[cell.cellIndex]);
  return said(cell).replace(/[\s\u2007\u2008]+/g, " ").replace(/^[; ]+| $/g, "");
};
/** A table as CSV after RFC 4180, its heads in the first row; rows that are hidden are left out. */
const csv = (table) => [...table.rows].filter((row) => !row.hidden).map((row) => [...row.cells].map((cell) => {
  const text = plain(cell);
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}).join(",")).join("\r\n") + "\r\n";
for (const table of all("main table[id]")) {
  const button = make("button", { type: "button", className: "act" }, words.csv);
  button.addEventListener("click", () => {
    const text = csv(table);
    copy(text, () => save(`${table.id}.csv`, new Blob([text], { type: "text/csv;charset=utf-8" })));
  });
  (table.closest(".scroll") || table).after(button);
  if (table.caption) table.caption.append(" ", here(table.id));
}
