// Shows the errors that match the form, and the sentences that have them. Without this script, the
// page shows all of them and no form.
"use strict";
(() => {
  const form = document.getElementById("filter");
  const sentences = [...document.querySelectorAll(".sentences > li")];
  const output = form.querySelector("output");
  const valueOf = (name) => (form.elements[name] ? form.elements[name].value : "");

  const textOf = (row) => row.textContent.toLowerCase().replace(/\s+/g, " ");

  function matches(error, { kind, type, system }) {
    const data = error.dataset;
    return (!kind || data.kind === kind)
      && (!type || data.gold === type || data.predicted === type)
      && (!system || data.system === system);
  }

  function update() {
    const choice = { kind: valueOf("kind"), type: valueOf("type"), system: valueOf("system") };
    const word = valueOf("word").toLowerCase().trim();
    let errors = 0;
    let shown = 0;
    for (const sentence of sentences) {
      const hasWord = [...sentence.querySelectorAll(".row > p")]
        .some((row) => textOf(row).includes(word));
      let found = 0;
      for (const error of sentence.querySelectorAll(".chips > li")) {
        error.hidden = !matches(error, choice);
        found += error.hidden ? 0 : 1;
      }
      sentence.hidden = !hasWord || found === 0;
      errors += sentence.hidden ? 0 : found;
      shown += sentence.hidden ? 0 : 1;
    }
    output.textContent = `${errors} errors in ${shown} sentences`;
  }

  form.hidden = false;
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  update();
})();
