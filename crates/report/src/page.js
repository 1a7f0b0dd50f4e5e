// The values of plots at the pointer, and the tab stops of tables. Without this script, browsers show
// the titles of points and lines, and every table that may scroll is a tab stop.
"use strict";
(() => {
  const NEAR = 24; // in units of the plot
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true");
  document.body.append(tip);

  // Returns the value at a place along an axis, with as many digits as the drawing has.
  function valueAt(axis, place) {
    const [start, end, low, high] = axis.split(" ").map(Number);
    const at = (place) => {
      const share = (place - start) / (end - start);
      return axis.endsWith("log") ? low * (high / low) ** share : low + share * (high - low);
    };
    const step = Math.abs(at(place + 0.1) - at(place));
    const digits = Math.min(6, Math.max(0, Math.floor(-Math.log10(step || 1))));
    const value = at(place);
    const whole = Math.round(value);
    if (high - low > 20 && Math.abs(value - whole) < step) return `${whole}`; // iterations
    if (value && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e7)) return value.toExponential(2);
    return value.toFixed(digits);
  }

  // Returns what is in a plot: places, and how each is described.
  function contentOf(svg) {
    const { x, y } = svg.dataset;
    const found = [];
    for (const element of svg.querySelectorAll(".line, .mark, .box, .best")) {
      const title = element.querySelector("title");
      if (title) title.remove(); // or the browser would show it, too
      const name = element.closest("g").dataset.name;
      const isMarked = element.parentNode.querySelector(".mark");
      if (element.matches(".line") && !isMarked) {
        for (const [, a, b] of element.getAttribute("d").matchAll(/[ML]([-\d.]+) ([-\d.]+)/g)) {
          const text = () => `${valueAt(x, a - 0)}: ${valueAt(y, b - 0)}`;
          found.push([a - 0, b - 0, () => (name ? `${name}, ${text()}` : text())]);
        }
      } else if (title) {
        const box = element.getBBox();
        const middle = element.matches(".box") ? 0 : box.height / 2;
        found.unshift([box.x + box.width / 2, box.y + middle, () => title.textContent]);
      }
    }
    return found;
  }

  function show(event, svg, content) {
    const matrix = svg.getScreenCTM();
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    let [nearest, least] = [null, NEAR];
    for (const one of content) {
      const distance = Math.hypot(one[0] - at.x, one[1] - at.y);
      if (distance < least) [nearest, least] = [one, distance];
    }
    tip.hidden = !nearest;
    if (!nearest) return;
    tip.textContent = nearest[2]();
    const place = new DOMPoint(nearest[0], nearest[1]).matrixTransform(matrix);
    const left = Math.min(place.x + 10, innerWidth - tip.offsetWidth - 4);
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, place.y - tip.offsetHeight - 8)}px`;
  }

  for (const svg of document.querySelectorAll("svg[data-x]")) {
    let content = null;
    svg.addEventListener("pointermove", (event) => {
      content ||= contentOf(svg);
      show(event, svg, content);
    });
    svg.addEventListener("pointerleave", () => { tip.hidden = true; });
  }
  addEventListener("scroll", () => { tip.hidden = true; }, { passive: true });

  function setTabStops() {
    for (const region of document.querySelectorAll(".scroll")) {
      const scrolls = region.scrollWidth > region.clientWidth;
      if (scrolls) region.setAttribute("tabindex", "0");
      else region.removeAttribute("tabindex");
    }
  }
  addEventListener("resize", setTabStops);
  document.addEventListener("toggle", setTabStops, true);
  setTabStops();
})();
