"use strict";
// Marks the spans of sentences as `dropchain tag --output jsonl --offsets utf16` writes them.

const { types: TYPES, tags: TAGS } = /* hues */ {};
const SURE = 0.9; // probabilities below this are shown

/** The name of a label in the palette: that of its type, whatever the scheme. */
function paletteName(label) {
  return label.replace(/^[BIESLU]-/, "").toUpperCase();
}

/** The hue of a label in degrees, always the same. */
function hue(label) {
  const name = paletteName(label);
  for (const hues of [TYPES, TAGS]) if (Object.hasOwn(hues, name)) return hues[name];
  let hash = 0x811c9dc5; // FNV-1a
  for (const byte of new TextEncoder().encode(label.replace(/^[BIESLU]-/, ""))) {
    hash = Math.imul(hash ^ byte, 0x01000193);
  }
  return (hash >>> 0) % 360;
}

/** A text without control characters of direction, which would change what is around them. */
function plain(text) {
  return text.replace(/[\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
}

/** A marked piece of text with its type and, if it is known and low, its probability. */
function marked(text, type, probability) {
  const mark = document.createElement("mark");
  mark.dir = "auto"; // an isolate
  mark.style.setProperty("--hue", hue(type));
  const name = document.createElement("b");
  name.textContent = `\u00a0${plain(type)}`; // the blank is for screen readers
  if (probability !== undefined) mark.title = `${type}: probability ${probability.toFixed(3)}`;
  if (Object.hasOwn(TAGS, paletteName(type))) mark.classList.add("tag");
  if (probability < SURE) {
    mark.classList.add("unsure");
    name.textContent += ` ${Math.floor(100 * probability)} %`;
  }
  mark.append(plain(text), name);
  return mark;
}

/** The spans of a sentence, or its tokens if its labels encode none. */
function spansOf({ spans, labels, offsets }) {
  return spans ?? labels.map((type, t) => (
    { start: offsets[t][0], end: offsets[t][1], token_start: t, token_end: t + 1, type }
  ));
}

/** The lowest probability of a label of the span, if the sentence has marginals. */
function probabilityOf({ marginals, labels }, { token_start: first, token_end: end }) {
  if (!marginals) return undefined;
  const tokens = marginals.slice(first, end);
  return Math.min(...tokens.map((token, i) => token[labels[first + i]] ?? 0));
}

/** The text of sentences with their spans marked, as nodes, which know sentence and tokens. */
function markedText(sentences, text) {
  const nodes = [];
  let at = 0;
  for (const [number, sentence] of sentences.entries()) {
    for (const span of spansOf(sentence)) {
      const { start, end, type } = span;
      const mark = marked(text.slice(start, end), type, probabilityOf(sentence, span));
      Object.assign(mark.dataset, { sentence: number, from: span.token_start, to: span.token_end });
      nodes.push(plain(text.slice(at, start)), mark);
      at = end;
    }
  }
  nodes.push(plain(text.slice(at)));
  return nodes;
}
