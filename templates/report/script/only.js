// Show only one data set, site, period, group or candidate: where rows or parts name one, those of the others are hidden.
const only = tools.querySelector("[name=only]");
/** The names of the kind of what is chosen: all options of its group. */
const kin = (option) => new Set(all("option", option.parentElement).map(({ value }) => value));
/** What a cell or heading names: its text up to what stands below it, columns as the options have them. */
const names = (element) => {
  const said = (element.firstElementChild?.matches("bdi, a") ? element.firstElementChild : element.firstChild)?.textContent.trim() ?? "";
  return said.replace(/\w+(?=: )/g, (column) => column.replaceAll("_", " "));
};
/** Hide what belongs to others of the kind; rows that name none of it stay. */
const showOnly = () => {
  all("main .elsewhere").forEach((e) => e.classList.remove("elsewhere"));
  const option = only.selectedOptions[0], { value } = option;
  let n = 0;
  if (value) {
    const others = kin(option);
    const foreign = (found) => found.some((name) => others.has(name)) && !found.includes(value);
    const groups = all("main .group-head").filter((row) => foreign([...row.cells].map(names))).map((row) => row.parentElement);
    const lines = all("main tbody tr:not(.group-head)").filter((row) => !row.closest(".explore") && !groups.includes(row.parentElement) && foreign([...row.cells].map(names)));
    const parts = all("main .part > h4").filter((heading) => foreign([names(heading)])).map((heading) => heading.parentElement);
    for (const e of [...groups, ...lines, ...parts]) e.classList.add("elsewhere");
    n = lines.length + parts.length + groups.reduce((total, { rows }) => total + rows.length - 1, 0);
  }
  only.closest("label").nextElementSibling.value = value ? words.only.replace("%n", n.toLocaleString(lang)).replace("%x", () => value) : "";
  remember("only", value);
};
if (only) {
  const named = new Set(all("main :is(tbody tr > *, .part > h4)").map(names)); // a choice that no row names would only hide
  for (const option of all("optgroup > option", only)) if (!named.has(option.value)) option.remove();
  only.addEventListener("change", showOnly);
  const kept = state().get("only");
  if (kept && all("option", only).some(({ value }) => value === kept)) {
    only.value = kept;
    showOnly();
  }
}
