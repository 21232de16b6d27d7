// Search: an entry is a row, a heading, a caption or a sentence, and is known by the headings above it too.
const entries = all("main :is(tbody tr, figcaption, caption, h1, h2, h3, h4, summary, p, li)").filter(
  (e) => !e.closest(".contents") && !e.parentElement.closest("figcaption, td, th, li"));
const known = new Map();
/** The text of an entry, and that of the headings of what it stands in, in small letters. */
const texts = (entry) => {
  if (!known.has(entry)) {
    let above = "";
    for (let e = entry.parentElement; e && e.tagName !== "MAIN"; e = e.parentElement) {
      const head = e.querySelector(":scope > :is(h3, h4, caption, summary), :scope > header :is(h2, h3)");
      if (head && head !== entry) above += ` ${head.textContent}`;
    }
    const own = entry.textContent.toLowerCase();
    known.set(entry, { own, whole: own + above.toLowerCase() });
  }
  return known.get(entry);
};
/** Where the words stand in the texts of an entry, as ranges that the style can highlight. */
const ranges = (entry, asked) => {
  const found = [], walk = document.createTreeWalker(entry, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode.data.toLowerCase();
    for (const word of asked) {
      for (let i = text.indexOf(word); i >= 0; i = text.indexOf(word, i + word.length)) {
        const range = new Range();
        range.setStart(walk.currentNode, i);
        range.setEnd(walk.currentNode, i + word.length);
        found.push(range);
      }
    }
  }
  return found;
};
let matched = [], current = -1;
const field = tools.querySelector("input");
/** Highlight ranges under a name, where the browser can. */
const highlight = (name, found) => { if (CSS.highlights) CSS.highlights.set(name, new Highlight(...found)); };
/** Go to a hit, round the ends; the view follows. */
const go = (i) => {
  all(".hit").forEach((e) => e.classList.remove("hit"));
  current = matched.length ? (i + matched.length) % matched.length : -1;
  const said = !field.value.trim() ? "" : matched.length
    ? words.hit.replace("%i", (current + 1).toLocaleString(lang)).replace("%n", matched.length.toLocaleString(lang)) : words.nothing;
  for (const e of [tools, hits]) e.querySelector("output").textContent = said;
  hits.hidden = !said;
  if (current < 0) return;
  matched[current].classList.add("hit");
  view(matched[current]);
};
/** Look for entries that have every word, one of them in their own text. */
const search = () => {
  const asked = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  matched = asked.length ? entries.filter((e) => !e.closest("[hidden]") && asked.every((word) => texts(e).whole.includes(word))
    && asked.some((word) => texts(e).own.includes(word))) : [];
  highlight("hits", matched.flatMap((e) => ranges(e, asked)));
  go(0);
};
/** End the search: nothing is highlighted. */
const clear = () => { field.value = ""; search(); };
field.addEventListener("input", search);
tools.addEventListener("submit", (event) => {
  event.preventDefault();
  if (drawer.open) drawer.close();
  else go(current + 1);
});
for (const button of all("[data-go]", hits)) {
  button.addEventListener("click", () => (button.dataset.go ? go(current + Number(button.dataset.go)) : clear()));
}
for (const part of [field, hits]) {
  part.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !field.value) return;
    event.preventDefault(); // or the drawer closes with it
    clear();
  });
}
