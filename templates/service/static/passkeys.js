// Passkeys: asks the browser for one, puts its answer into the form and sends that.
"use strict";

(function () {
  const words = document.currentScript.dataset;
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const text = (buffer) => btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  const named = (list) => (list || []).map((one) => ({ ...one, id: bytes(one.id) }));

  function say(form, words) {
    document.querySelectorAll("main .fault").forEach((old) => old.remove());
    const box = document.createElement("div");
    box.className = "fault";
    box.setAttribute("role", "alert");
    box.tabIndex = -1;
    box.textContent = words;
    form.before(box);
    box.focus();
  }

  async function asked(form, path, body) {
    const answer = await fetch("/api/v1" + path, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-CSRF-Token": form.elements.csrf.value },
      body: body ? JSON.stringify(body) : undefined,
    });
    const read = await answer.json();
    if (!answer.ok) { throw new Error(read.title + ". " + (read.detail || "")); }
    return read;
  }

  function plain(made) {
    const response = {};
    ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"].forEach((name) => {
      if (made.response[name]) { response[name] = text(made.response[name]); }
    });
    return JSON.stringify({
      id: made.id, rawId: text(made.rawId), type: made.type, response: response,
      clientExtensionResults: made.getClientExtensionResults(),
    });
  }

  async function register(form) {
    const options = await asked(form, "/account/passkeys/options", { password: form.elements.password.value });
    options.challenge = bytes(options.challenge);
    options.user.id = bytes(options.user.id);
    options.excludeCredentials = named(options.excludeCredentials);
    const made = await navigator.credentials.create({ publicKey: options });
    form.elements.password.value = "";
    form.elements.answer.value = plain(made);
  }

  async function prove(form) {
    const given = form.dataset.options;
    const options = given ? JSON.parse(given) : await asked(form, "/account/question");
    options.challenge = bytes(options.challenge);
    options.allowCredentials = named(options.allowCredentials);
    form.elements.answer.value = plain(await navigator.credentials.get({ publicKey: options }));
  }

  async function go(form, step) {
    try {
      await step(form);
      form.submit();
    } catch (error) {
      const refused = error.name === "NotAllowedError" || error.name === "InvalidStateError";
      say(form, refused ? words.refused : error.message);
    }
  }

  if (!window.PublicKeyCredential) { return; }
  document.querySelectorAll("form[data-register]").forEach((form) => {
    form.addEventListener("submit", (event) => { event.preventDefault(); go(form, register); });
  });
  document.querySelectorAll("[data-passkey]").forEach((button) => {
    button.hidden = false;
    button.addEventListener("click", () => { if (button.form.reportValidity()) { go(button.form, prove); } });
  });
}());
