// The page is complete without its script. What this file names, the files after it use; `html.page_script` joins them.
/** Every element of a selector, as an array. */
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
/** A new element with properties; `data` and `aria` attributes among them are set as attributes. */
const make = (tag, given = {}, ...content) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) name in made ? (made[name] = value) : made.setAttribute(name, value);
  made.append(...content);
  return made;
};
const source = document.getElementById("tools");
const [tools, drawer, tip, hits, explorer] = [...source.content.cloneNode(true).children];
const words = source.dataset; // all texts that the script shows, in the language of the report
const nav = document.getElementById("contents"), { lang } = document.documentElement;

/** Open whatever an element is folded into. */
const unfold = (element) => {
  for (let e = element; e; e = e.parentElement) if (e.tagName === "DETAILS") e.open = true;
};
/** Bring an element into view at once: nothing on the page moves by itself. */
const view = (element, block = "center") => {
  unfold(element);
  element.scrollIntoView({ block });
};
/** Say something for a moment, to eyes and to screen readers. */
const announce = (text) => {
  tip.textContent = text;
  tip.hidden = false;
  tip.style.left = tip.style.top = "1rem";
  setTimeout(() => { if (tip.textContent === text) tip.hidden = true; }, 2500);
};

/** Contents and tools are beside the page where there is room, else in a drawer. */
const wide = matchMedia("(min-width: 76rem)");
const settle = () => (wide.matches && nav ? nav.prepend(tools) : drawer.firstElementChild.after(tools));
settle();
wide.addEventListener("change", settle);
if (nav) drawer.append(nav.querySelector("ol").cloneNode(true));
document.body.append(drawer, tip, hits);
for (const link of all(".bar [href='#contents']")) {
  link.addEventListener("click", (event) => { event.preventDefault(); drawer.showModal(); });
}
drawer.addEventListener("click", (event) => {
  if (event.target === drawer || event.target.closest("a, [name=close]")) drawer.close();
});

let kept = new URLSearchParams();
/** The state that the address keeps behind the place: `#table-1-1?prevalence=27`. */
const state = () => new URLSearchParams(location.hash.split("?")[1]);
/** Keep a value in the address, or drop it where it is empty, so that the page can be bookmarked as it is. */
const remember = (name, value) => {
  const now = state();
  value ? now.set(name, value) : now.delete(name);
  const place = location.hash.split("?")[0], said = `${now}`, hash = said ? `${place || "#"}?${said}` : place;
  if (hash !== location.hash) history.replaceState(null, "", hash || "#");
  kept = now;
};
/** A link to what is in something closed opens it. */
const arrive = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1).split("?")[0]));
  if (target) view(target, "start");
};
kept = state();
addEventListener("hashchange", () => { // a link to a place has no state of its own: it keeps that of the page
  if (!location.hash.includes("?")) for (const [name, value] of kept) remember(name, value);
  arrive();
});
arrive();
for (const button of all("[data-open]", tools)) {
  button.addEventListener("click", () => all("main details").forEach((e) => { e.open = button.dataset.open === "yes"; }));
}
// Print shows the annex, open or not.
let closed = [];
addEventListener("beforeprint", () => { closed = all("details.annex:not([open])"); closed.forEach(unfold); });
addEventListener("afterprint", () => closed.forEach((e) => { e.open = false; }));
