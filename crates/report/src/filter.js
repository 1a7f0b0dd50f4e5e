// Shows the errors that match the form. Without this script, the page shows all of them and no
// form.
(() => {
  const form = document.getElementById("filter");
  const groups = [...document.querySelectorAll("details.errors")];
  const { system, word } = form.elements;
  const numbersOf = (text) => (text || "").split(" ");
  const textOf = (row) => row.textContent.toLowerCase().replace(/\s+/g, " ");

  // A choice of systems is the number of one that is wrong, and may be that of one that is right.
  function matches({ dataset }, choice) {
    const [wrong, right] = choice.split(" ");
    return (!wrong || numbersOf(dataset.systems).includes(wrong))
      && (!right || !numbersOf(dataset.wrong).includes(right));
  }

  function update() {
    const words = word.value.toLowerCase().trim();
    let all = 0;
    for (const group of groups) {
      let shown = 0;
      for (const error of group.querySelectorAll("li")) {
        const rows = [...error.querySelectorAll(".row > p")];
        const isFound = !words || rows.some((row) => textOf(row).includes(words));
        error.hidden = !isFound || (system && !matches(error, system.value));
        shown += error.hidden ? 0 : 1;
      }
      group.hidden = shown === 0;
      if (words) group.open = true;
      all += shown;
    }
    form.querySelector("output").textContent = `${all} ${all === 1 ? "error" : "errors"} listed`;
  }

  // A cell of a confusion matrix opens its errors.
  for (const link of document.querySelectorAll("a[data-system]")) {
    link.addEventListener("click", () => {
      const group = document.querySelector(link.hash).closest("details");
      if (system) system.value = link.dataset.system;
      word.value = "";
      update();
      group.open = true;
    });
  }
  form.hidden = false;
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  update();
})();
