// Links that can be copied: to each heading, table and figure, and to each line that has an id.
/** A link to an id, shown on hover and focus; following it copies the address too. */
const here = (id) => {
  const link = make("a", { className: "here", href: `#${id}`, "aria-label": words.link, title: words.link });
  link.addEventListener("click", () => copy(link.href, () => {}));
  return link;
};
/** Put a text on the clipboard; where that is refused, `otherwise` is done. */
const copy = async (text, otherwise) => {
  try {
    await navigator.clipboard.writeText(text);
    announce(words.copied);
  } catch { otherwise(); }
};
/** Save a file from the page itself; nothing is sent. */
const save = (name, blob) => {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};
for (const heading of all("main :is(h1, h2, h3, h4)[id]:not(nav *)")) heading.append(" ", here(heading.id));
for (const line of all("main tr[id]:not(.methods *) > th, main li[id]")) {
  const below = line.querySelector(":scope > .aside"), link = here(line.id || line.parentElement.id);
  below ? below.before(link) : line.append(link);
}
