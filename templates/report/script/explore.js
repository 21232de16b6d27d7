// What if: the decisions of a test set at another threshold, in patients with another prevalence. No verdict changes.
/** A positive or negative predictive value at a prevalence, from that at a prevalence of one half. */
const posterior = (even, share) => (even === null ? NaN : (share * even) / (share * even + (1 - share) * (1 - even)));
/** An estimate with both limits; `n` is the number of cases that decides its decimals. */
const estimate = (value, low, high, n) => ({ value, low: low ?? NaN, high: high ?? NaN, n });
/** A weighted sum of independent estimates, its limits combined from theirs (MOVER). */
const sum = (terms, n) => {
  const value = terms.reduce((total, [weight, e]) => total + weight * e.value, 0);
  const far = (side, other) => Math.hypot(...terms.map(([weight, e]) => weight * (e.value - (weight > 0 ? e[side] : e[other]))));
  return estimate(value, value - far("low", "high"), value + far("high", "low"), n);
};
/** What the readers of the study would gain in accuracy at a prevalence; limits as the half-widths go together. */
const gain = ({ sensitivity: [s, sl, sh], specificity: [c, cl, ch], shared }, q) => {
  const value = q * s + (1 - q) * c, a = (q * (sh - sl)) / 2, b = ((1 - q) * (ch - cl)) / 2;
  const half = Math.sqrt(Math.max(a * a + b * b + 2 * q * (1 - q) * shared, 0));
  return estimate(value, value - half, value + half, 100);
};
/** Every row of the table, at a point of a set and a prevalence; `own` where that is the prevalence of the set. */
const rowsAt = ({ risk, cells: [tp, fp, fn, tn], limits }, q, own, readers) => {
  const positives = tp + fn, negatives = fp + tn, n = positives + negatives;
  const sensitivity = estimate(tp / positives, ...limits[0], positives), specificity = estimate(tn / negatives, ...limits[1], negatives);
  const { value: s } = sensitivity, { value: c } = specificity;
  const at = (limit, share) => limit.map((even) => posterior(even, share));
  const ppv = own ? estimate(tp / (tp + fp), ...limits[2], tp + fp) : estimate((q * s) / (q * s + (1 - q) * (1 - c)), ...at(limits[4], q), n);
  const npv = own ? estimate(tn / (tn + fn), ...limits[3], tn + fn) : estimate(((1 - q) * c) / ((1 - q) * c + q * (1 - s)), ...at(limits[5], 1 - q), n);
  const alarmed = sum([[1000 * q, sensitivity], [1000 * (q - 1), specificity]], n);
  const alarms = estimate(alarmed.value + 1000 * (1 - q), alarmed.low + 1000 * (1 - q), alarmed.high + 1000 * (1 - q), n);
  const missed = estimate(1000 * q * (1 - s), 1000 * q * (1 - sensitivity.high), 1000 * q * (1 - sensitivity.low), n);
  const found = { sensitivity, specificity, ppv, npv, alarms, missed };
  if (risk !== null && risk < 1) {
    const odds = risk / (1 - risk), worth = sum([[q, sensitivity], [odds * (1 - q), specificity]], n);
    const less = odds * (1 - q); // a false alarm costs the odds of the threshold
    found.net_benefit = own ? estimate(worth.value - less, ...limits[6], n) : estimate(worth.value - less, worth.low - less, worth.high - less, n);
  }
  if (readers) {
    const change = (found.change = gain(readers, q));
    const limited = change.low > 0 ? [1 / change.high, 1 / change.low] : [NaN, NaN];
    if (change.value > 0) found.nnd = estimate(1 / change.value, ...limited, n);
  }
  return found;
};
/** A number with so many decimals, as the language of the report writes it. */
const fixed = (value, places) => new Intl.NumberFormat(lang, { minimumFractionDigits: places, maximumFractionDigits: places })
  .format(value).replace("-", "\u2212");
/** A share as per cent. */
const percent = (value, places = 1) => fixed(100 * value, places) + explorer.dataset.percent;
/** An estimate as the report prints one: value, and limits where there are any. */
const printed = (e, name) => {
  if (!e || Number.isNaN(e.value)) return "\u2013";
  const places = e.n >= 100 ? 1 : 0;
  const write = { alarms: (x) => fixed(x, 0), missed: (x) => fixed(x, 0), net_benefit: (x) => fixed(x, 3), change: (x) => fixed(100 * x, 1),
    nnd: (x) => fixed(x, 0) }[name] || ((x) => percent(x, places));
  if (Number.isNaN(e.low) || Number.isNaN(e.high)) return write(e.value);
  return explorer.dataset.point.replace("%v", write(e.value)).replace("%l", write(e.low)).replace("%h", write(e.high));
};
/** Put the tables of the sets into the page, with what the address says of them. */
const explore = () => {
  const held = JSON.parse(explorer.dataset.explored), { readers } = held, form = explorer.querySelector("form");
  const sets = held.sets.map((one) => ({ ...one, points: one.points.map(([threshold, risk, cells, limits]) => ({ threshold, risk, cells, limits })) }));
  const { set: chosen, threshold, prevalence } = form.elements;
  const [thresholdSaid, prevalenceSaid] = all("output", form), status = explorer.querySelector(".explored-state");
  chosen.append(...sets.map(({ name }, i) => make("option", { value: `${i}` }, name)));
  let asked = null; // a prevalence other than that of the set
  const plainNumber = (value) => value.toLocaleString(lang, { maximumFractionDigits: 6 }).replace("-", "\u2212");
  const refresh = () => {
    const { points, locked } = sets[chosen.value], point = points[threshold.value], [tp, fp, fn, tn] = points[locked].cells;
    const own = (tp + fn) / (tp + fp + fn + tn), q = asked ?? own, moved = point !== points[locked];
    const columns = [rowsAt(points[locked], own, true, readers), rowsAt(point, q, asked === null, readers)];
    for (const row of all("[data-row]", explorer)) {
      const { row: name } = row.dataset;
      row.hidden = columns.every((column) => !column[name]);
      columns.forEach((column, i) => { row.cells[i + 1].textContent = printed(column[name], name); });
    }
    thresholdSaid.value = point.threshold === null ? "" : plainNumber(point.threshold);
    threshold.setAttribute("aria-valuetext", thresholdSaid.value); // its own value is a place among the thresholds
    prevalenceSaid.value = percent(q);
    if (asked === null) prevalence.value = 100 * own;
    const said = { "%t": thresholdSaid.value || "\u2013", "%p": percent(q) };
    status.textContent = moved || asked !== null ? explorer.dataset.changed.replace(/%[tp]/g, (key) => said[key]) : explorer.dataset.same;
    explorer.classList.toggle("changed", moved || asked !== null);
    remember("set", chosen.value === "0" ? "" : sets[chosen.value].name);
    remember("threshold", moved ? point.threshold : "");
    remember("prevalence", asked ?? "");
  };
  const choose = (i) => {
    const { points, locked } = sets[i];
    chosen.value = i;
    threshold.max = points.length - 1;
    threshold.value = locked;
    threshold.closest("label").hidden = points.length < 2;
  };
  /** Take the state from the address. */
  const restore = () => {
    const kept = state(), i = Math.max(sets.findIndex(({ name }) => name === kept.get("set")), 0);
    choose(i);
    const at = sets[i].points.findIndex((point) => `${point.threshold}` === kept.get("threshold"));
    if (at >= 0) threshold.value = at;
    const q = Number(kept.get("prevalence"));
    asked = q > 0 && q < 1 ? q : null;
    if (asked !== null) prevalence.value = 100 * asked;
    refresh();
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => { event.preventDefault(); asked = null; choose(chosen.value); refresh(); });
  form.addEventListener("input", ({ target }) => {
    if (target === chosen) choose(chosen.value);
    if (target === prevalence) asked = Number((prevalence.value / 100).toFixed(4));
    refresh();
  });
  form.querySelector("button[value]")?.addEventListener("click", ({ target }) => {
    asked = Number(target.value);
    prevalence.value = 100 * asked;
    refresh();
  });
  addEventListener("hashchange", () => (location.hash.includes("?") ? restore() : refresh()));
  const annex = document.getElementById("annex");
  annex ? annex.before(explorer) : document.querySelector("main").append(explorer);
  restore();
  for (const list of all("nav.contents > ol, .drawer > ol")) {
    const entry = make("li", {}, make("span", { className: "index" }), make("a", { href: "#explore" }, explorer.querySelector("h2").textContent));
    const annexed = list.querySelector("[href='#annex']");
    annexed ? annexed.parentElement.before(entry) : list.append(entry);
  }
};
if (explorer) explore();
