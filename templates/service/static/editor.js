// The form of a manifest: checked as one types, rows added in place. All works without, too.
"use strict";

(function () {
  const words = document.currentScript.dataset;
  const form = document.querySelector("[data-editor]");
  if (!form) { return; }
  const PAUSE = 600;
  let timer = null;
  let at_work = null;
  let changed = false;

  function fill(selector, key, texts) {
    form.querySelectorAll(selector).forEach((slot) => {
      const text = texts(slot.dataset[key]);
      if (slot.textContent !== text) { slot.textContent = text; }
    });
  }

  function list(selector, items) {
    form.querySelector(selector).replaceChildren(...items.map((item) => {
      const line = document.createElement("li");
      const slot = item.at && Array.from(form.querySelectorAll("[data-beside]")).find((one) => one.dataset.beside === item.at);
      if (slot) {
        const link = document.createElement("a");
        link.href = "#" + slot.id;
        link.textContent = item.text;
        line.append(link);
      } else {
        line.textContent = item.text;
      }
      return line;
    }));
  }

  function show(found) {
    fill("[data-summary]", "summary", () => found.summary);
    fill("[data-beside]", "beside", (name) => (found.beside[name] || []).join(" "));
    fill("[data-bound]", "bound", (name) => found.bounds[name] || "");
    list("[data-problems]", found.problems);
    list("[data-missing]", found.missing.rows);
    form.querySelector("[data-missing-list]").hidden = !found.missing.rows.length;
    list("[data-warnings]", found.warnings.map((text) => ({ text: text })));
    form.querySelector("[data-yaml]").textContent = found.yaml;
  }

  function say(text) { fill("[data-summary]", "summary", () => text); }

  async function check() {
    if (at_work) { at_work.abort(); }
    const own = new AbortController();
    at_work = own;
    const sent = new FormData(form);
    sent.delete("files");
    sent.set("act", "check");
    try {
      const answer = await fetch(form.action, { method: "POST", body: sent, headers: { Accept: "application/json" }, signal: own.signal });
      const found = await answer.json();
      if (own !== at_work) { return; }
      if (answer.ok) { show(found); } else if (answer.status === 503) { later(); } else { say(found.title + ". " + (found.detail || "")); }
    } catch (error) {
      if (own === at_work) { say(words.noAnswer); }
    }
  }

  function later() {
    clearTimeout(timer);
    timer = setTimeout(check, PAUSE);
  }

  function add(name) {
    const blank = form.querySelector('template[data-blank="' + name + '"]');
    const rows = form.querySelector('[data-entries="' + name + '"]');
    const sign = name + "/+";
    const taken = Array.from(rows.querySelectorAll("[name]")).map((one) => one.name)
      .filter((one) => one.startsWith(sign)).map((one) => parseInt(one.slice(sign.length), 10));
    const number = Math.max(-1, ...taken.filter((one) => !Number.isNaN(one))) + 1;
    rows.insertAdjacentHTML("beforeend", blank.innerHTML.split(sign + "new").join(sign + number));
    changed = true;
    rows.lastElementChild.querySelector("input:not([type=checkbox]), select, textarea").focus();
  }

  form.addEventListener("input", (event) => {
    changed = true;
    if (event.target.type === "file") { return; }
    if (event.target.hasAttribute("data-again")) {
      form.requestSubmit(form.querySelector('[value="preview"]')); // other columns are to be shown
    } else {
      later();
    }
  });

  form.addEventListener("click", (event) => {
    const button = event.target.closest("button[name=act]");
    if (!button) { return; }
    if (button.value.startsWith("add:")) {
      event.preventDefault();
      add(button.value.slice(4));
    }
  });

  // A problem leads into the group that it is in, which may be closed.
  form.addEventListener("click", (event) => {
    const link = event.target.closest("[data-problems] a, [data-missing] a");
    const slot = link && document.getElementById(decodeURIComponent(link.hash.slice(1)));
    const place = slot || (link && document.getElementById(link.hash.slice(1)));
    if (!place) { return; }
    event.preventDefault();
    for (let group = place.closest("details"); group; group = group.parentElement.closest("details")) { group.open = true; }
    const field = place.parentElement.querySelector("input, select, textarea");
    (field || place).focus();
    place.scrollIntoView({ block: "center" });
  });

  // An entry of the contents opens its group.
  form.addEventListener("click", (event) => {
    const link = event.target.closest(".toc a");
    const group = link && document.getElementById(decodeURIComponent(link.hash.slice(1)));
    if (group && group.querySelector("details")) { group.querySelector("details").open = true; }
  });

  // What was typed is not lost by a click beside it.
  form.addEventListener("submit", () => { changed = false; });
  window.addEventListener("beforeunload", (event) => { if (changed) { event.preventDefault(); } });
}());
