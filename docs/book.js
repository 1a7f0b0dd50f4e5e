// Blocks that are wider than the page can be scrolled by keyboard.
function addTabStops() {
  for (const block of document.querySelectorAll("pre > code, .table-wrapper, .formula")) {
    const isWide = block.scrollWidth > block.clientWidth;
    isWide ? block.setAttribute("tabindex", "0") : block.removeAttribute("tabindex");
  }
}

addEventListener("load", addTabStops);
addEventListener("resize", addTabStops);

// What mdBook leaves out for screen readers.
document.getElementById("mdbook-menu-bar")?.setAttribute("role", "banner");
for (const name of ["aria-label", "aria-expanded", "aria-controls"]) { // not of a <label>
  document.getElementById("mdbook-sidebar-toggle")?.removeAttribute(name);
}
for (const head of document.querySelectorAll("th:empty")) {
  head.replaceWith(document.createElement("td"));
}
