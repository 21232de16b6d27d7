// What pages do beyond links and forms: files dropped on them, and how far an upload is. All works without, too.
"use strict";

(function () {
  // The words of the page's language are those of this script's element; values go in place of their names.
  const words = document.currentScript.dataset;
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (all, name) => (name in values ? values[name] : all));
  const language = document.documentElement.lang;
  const percentage = (n) => new Intl.NumberFormat(language, { style: "percent" }).format(n / 100);
  const decimal = (n, places) => new Intl.NumberFormat(language, { minimumFractionDigits: places, maximumFractionDigits: places }).format(n);
  const say = (form, text) => { form.querySelector("[data-says]").textContent = text; };

  function size(bytes) {
    return bytes < 1e6 ? decimal(Math.ceil(bytes / 1000), 0) + " kB" : decimal(bytes / 1e6, 1) + " MB";
  }

  function choose(drop) {
    const input = drop.querySelector("input[type=file]");
    const files = Array.from(input.files);
    const said = files.slice(0, 8).map((file) => file.name + " (" + size(file.size) + ")").join(", ");
    drop.querySelector("[data-chosen]").textContent = files.length > 8 ? fill(words.more, { files: said, more: files.length - 8 }) : said;
  }

  // The secret of a link is after the # of its address: it goes into the form, and out of the history.
  const code = document.querySelector("[data-from-address]");

  function take() {
    if (!code || window.location.hash.length < 20) { return; }
    code.value = window.location.hash.slice(1);
    window.history.replaceState(null, "", window.location.pathname);
    code.closest(".field").hidden = true;
    if (code.form.hasAttribute("data-at-once")) { code.form.requestSubmit(); }
  }

  take();
  window.addEventListener("hashchange", take);

  // A session that has ended leaves nothing on the screen, in every tab, also where the server is away.
  const idle = Number(document.body.dataset.idle || 0) * 60000;

  function watch() {
    const tabs = new BroadcastChannel("trustreport");
    const left = document.querySelector("template[data-ended]").content;
    let seen = Date.now();

    function end() {
      document.body.replaceChildren(left.cloneNode(true));
      document.title = document.querySelector("h1").textContent;
    }

    tabs.onmessage = (event) => { if (event.data === "ended") { end(); } else { seen = Date.now(); } };
    const active = () => { seen = Date.now(); tabs.postMessage("active"); };
    document.body.addEventListener("htmx:afterRequest", active);
    document.querySelector("form[action='/sign-out']").addEventListener("submit", () => tabs.postMessage("ended"));
    window.setInterval(() => { if (Date.now() - seen >= idle) { end(); } }, 10000);
    active();
  }

  if (idle) { watch(); }
  window.addEventListener("pageshow", (event) => { if (event.persisted) { window.location.reload(); } });

  // What is not filtered by does not appear in the address of a list.
  document.body.addEventListener("htmx:configRequest", (event) => {
    const sent = event.detail.parameters;
    Object.keys(sent).filter((name) => sent[name] === "").forEach((name) => { delete sent[name]; });
  });

  document.querySelectorAll("[data-drop]").forEach((drop) => {
    const input = drop.querySelector("input[type=file]");
    input.addEventListener("change", () => choose(drop));
    ["dragenter", "dragover"].forEach((name) => drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.add("over");
    }));
    ["dragleave", "drop"].forEach((name) => drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.classList.remove("over");
    }));
    drop.addEventListener("drop", (event) => {
      if (!event.dataTransfer.files.length) { return; }
      input.files = event.dataTransfer.files;
      choose(drop);
    });
  });

  // What went wrong, in place: the page that was answered says it, or a short answer in JSON does.
  function refuse(form, request) {
    let told = null;
    if ((request.getResponseHeader("Content-Type") || "").includes("json")) {
      try {
        const said = JSON.parse(request.responseText);
        told = box(said.title + ". " + (said.detail || ""));
      } catch (error) { told = null; }
    } else {
      told = new DOMParser().parseFromString(request.responseText, "text/html").querySelector(".fault");
    }
    show(form, told || box(words.noAnswer));
  }

  function box(text) {
    const told = document.createElement("div");
    told.className = "fault";
    told.setAttribute("role", "alert");
    told.textContent = text;
    return told;
  }

  function show(form, told) {
    document.querySelectorAll("main .fault").forEach((old) => old.remove());
    told.tabIndex = -1;
    form.before(told);
    told.focus();
  }

  // Page 1 beside the steps, made anew when what is typed has rested for a moment.
  const preview = document.querySelector("[data-preview='changes']");

  function show_along() {
    const old = document.getElementsByName("page-1")[0];
    if (!Array.from(preview.form.querySelectorAll("input[type=file]")).some((input) => input.files.length)) {
      old.replaceWith(old.cloneNode()); // a frame of its own each time: the way back is to the page before
      preview.form.requestSubmit(preview);
    }
  }

  if (preview) {
    let soon = window.setTimeout(show_along, 0);
    preview.form.addEventListener("input", () => {
      window.clearTimeout(soon);
      soon = window.setTimeout(show_along, 800);
    });
  }

  document.querySelectorAll("form[data-upload]").forEach((form) => {
    form.addEventListener("submit", (event) => {
      const chosen = Array.from(form.querySelectorAll("input[type=file]")).flatMap((input) => Array.from(input.files));
      if (!chosen.length || event.submitter === document.querySelector("[data-preview]")) { return; }
      event.preventDefault();
      const sending = form.querySelector("[data-sending]");
      const bar = sending.querySelector("progress");
      const share = sending.querySelector("[data-share]");
      const send = form.querySelector("button:not([type=button])");
      const request = new XMLHttpRequest();
      const total = chosen.reduce((sum, file) => sum + file.size, 0);
      let quarter = 0;
      if (total > Number(form.dataset.most)) {
        show(form, box(fill(words.tooLarge, { size: size(total), most: size(Number(form.dataset.most)) })));
        return;
      }
      const rest = () => { sending.hidden = true; send.disabled = false; };

      request.upload.addEventListener("progress", (moved) => {
        if (!moved.lengthComputable) { return; }
        const percent = Math.floor(100 * moved.loaded / moved.total);
        bar.value = percent;
        share.textContent = fill(words.share, { percent: percentage(percent), size: size(total) });
        if (percent >= quarter + 25) {
          quarter = percent - percent % 25;
          say(form, fill(words.sent, { percent: percentage(percent) }));
        }
      });
      request.addEventListener("load", () => {
        rest();
        if (request.status < 400 && request.responseURL) {
          window.location.assign(request.responseURL);
        } else {
          refuse(form, request);
        }
      });
      request.addEventListener("error", () => { rest(); refuse(form, request); });
      request.addEventListener("abort", () => { rest(); show(form, box(words.stopped)); });
      sending.querySelector("[data-stop]").onclick = () => request.abort();
      request.open("POST", form.action);
      request.setRequestHeader("Accept", "text/html");
      sending.hidden = false;
      send.disabled = true;
      say(form, fill(words.sending, { size: size(total) }));
      request.send(new FormData(form));
    });
  });

  const fault = document.getElementById("fault");
  if (fault) { fault.tabIndex = -1; fault.focus(); }
}());
