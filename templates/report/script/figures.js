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
