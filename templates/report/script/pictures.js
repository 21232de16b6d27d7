// Figures as PNG: the drawing on white with its fonts within, twice as large as on the page.
/** The rules of the page that a drawing needs when it stands alone: its fonts and the light colours. */
const rules = () => {
  const found = [...document.styleSheets[0].cssRules];
  const fonts = found.filter((rule) => rule instanceof CSSFontFaceRule), light = found.find((rule) => rule.selectorText === ":root");
  return `${[...fonts, light].map((rule) => rule.cssText).join("")} text { font-family: "Report Text", sans-serif; text-rendering: geometricPrecision; }`;
};
/** The drawing of a figure as a PNG file. */
const png = async (svg) => {
  const drawn = svg.cloneNode(true), { width, height } = svg.viewBox.baseVal;
  drawn.setAttribute("width", 2 * width);
  drawn.setAttribute("height", 2 * height);
  all(".on", drawn).forEach((e) => e.classList.remove("on"));
  drawn.prepend(make("style", {}, rules()));
  const picture = make("img", { src: `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(drawn))}` });
  await picture.decode();
  const canvas = make("canvas", { width: 2 * width, height: 2 * height }), pen = canvas.getContext("2d");
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((made) => canvas.toBlob(made, "image/png"));
};
for (const figure of all("main figure[id]")) {
  const svg = figure.querySelector(".drawing > svg"), caption = figure.querySelector("figcaption");
  if (!svg) continue;
  const button = make("button", { type: "button", className: "act" }, words.png);
  button.addEventListener("click", async () => save(`${figure.id}.png`, await png(svg)));
  caption.append(" ", here(figure.id));
  caption.after(button);
}
