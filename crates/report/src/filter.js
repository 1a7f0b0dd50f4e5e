// Shows the errors that match the form, and the sentences that have them. Without this script, the
// page shows all of them and no form.
(() => {
  const form = document.getElementById("filter");
  const sentences = [...document.querySelectorAll(".sentences > li")];
  const output = form.querySelector("output");
  const valueOf = (name) => (form.elements[name] ? form.elements[name].value : "");
  const lettersOf = (text) => (text || "").split(" ");

  const textOf = (row) => row.textContent.toLowerCase().replace(/\s+/g, " ");

  // A choice of systems is the letter of one that is wrong, and may be that of one that is right.
  function matches(error, { kind, gold, predicted, system }) {
    const data = error.dataset;
    const [wrong, right] = system.split(" ");
    return (!kind || data.kind === kind)
      && (!gold || data.gold === gold)
      && (!predicted || data.predicted === predicted)
      && (!wrong || lettersOf(data.systems).includes(wrong))
      && (!right || !lettersOf(data.wrong).includes(right));
  }

  function update() {
    const names = ["kind", "gold", "predicted", "system"];
    const choice = Object.fromEntries(names.map((name) => [name, valueOf(name)]));
    const word = valueOf("word").toLowerCase().trim();
    let errors = 0;
    let shown = 0;
    for (const sentence of sentences) {
      const hasWord = [...sentence.querySelectorAll(".row > p")]
        .some((row) => textOf(row).includes(word));
      let found = 0;
      for (const error of sentence.querySelectorAll(".chips > li")) {
        error.hidden = !matches(error, choice);
        const systems = choice.system ? 1 : lettersOf(error.dataset.systems).length;
        found += error.hidden ? 0 : systems;
      }
      sentence.hidden = !hasWord || found === 0;
      errors += sentence.hidden ? 0 : found;
      shown += sentence.hidden ? 0 : 1;
    }
    output.textContent = `${errors} errors in ${shown} sentences`;
  }

  // A cell of a confusion matrix chooses its errors.
  function choose(link) {
    const choice = { kind: "", word: "", ...link.dataset };
    for (const [name, value] of Object.entries(choice)) {
      if (form.elements[name]) form.elements[name].value = value;
    }
    update();
  }

  for (const link of document.querySelectorAll("a[data-gold]")) {
    link.addEventListener("click", () => choose(link));
  }
  form.hidden = false;
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  update();
})();
