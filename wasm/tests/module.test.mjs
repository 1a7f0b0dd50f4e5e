// The module in Node against the program: the same bytes.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Tagger } from "../../target/wasm/nodejs/dropchain.js";

const { DROPCHAIN, FOLDER } = process.env;
const TEXT = readFileSync(new URL("../../corpora/sample/dev.conll", import.meta.url), "utf8")
  .split("\n\n")
  .map((sentence) => sentence.split("\n").map((line) => line.split("\t")[0]).join(" "))
  .join("\n") + "\r\nNaïve café 😀 in Zürich. \t Two  blanks.\n\n\u00a0\nno newline at the end";

const file = (name) => `${FOLDER}/${name}.model`;
const open = (name) => new Tagger(readFileSync(file(name)));
const tag = (name, ...options) =>
  execFileSync(DROPCHAIN, ["tag", file(name), "--format", "text", "--output", "jsonl",
    "--offsets", "utf16", ...options],
    { input: TEXT, maxBuffer: 1 << 28, encoding: "utf8" });

for (const name of ["ner", "two-passes", "pos"]) {
  test(`${name}: JSON lines are those of the program`, () => {
    const [ours, programs] = [open(name).jsonLines(TEXT), tag(name)].map((s) => s.split("\n"));
    assert.equal(ours.length, programs.length);
    programs.forEach((line, i) => assert.equal(ours[i], line, `line ${i + 1}`));
  });

  test(`${name}: probabilities are those of the program`, () => {
    const lines = tag(name, "--marginals").trimEnd().split("\n");
    open(name).tagText(TEXT, true).forEach((sentence, i) => {
      const expected = JSON.parse(lines[i]);
      assert.deepEqual(sentence.labels, expected.labels);
      // The functions exp and ln of the two platforms differ in the last bit.
      assert.ok(Math.abs(sentence.probability - expected.probability) < 1e-12);
      expected.marginals.forEach((row, t) => {
        assert.equal(Object.keys(sentence.marginals[t]).length, Object.keys(row).length);
        for (const [label, p] of Object.entries(row)) {
          assert.ok(Math.abs(sentence.marginals[t][label] - p) < 1e-12, `${label} of ${t}`);
        }
      });
    });
  });
}

test("sentences are objects", () => {
  const [sentence] = open("ner").tagText("Grace Hopper lived in London.", true);
  assert.deepEqual(sentence.tokens, ["Grace", "Hopper", "lived", "in", "London", "."]);
  assert.equal(sentence.labels.length, 6);
  assert.equal(sentence.spans.at(-1).text, "London");
  assert.ok(sentence.marginals[4]["B-LOC"] > 0.5);
  for (const { text, spans } of open("ner").tagText(TEXT)) {
    assert.ok(TEXT.includes(text));
    for (const span of spans) assert.equal(TEXT.slice(span.start, span.end), span.text);
  }
  assert.equal(open("ner").tagText("Grace")[0].marginals, undefined);
  assert.deepEqual(open("ner").tagText(""), []);
});

test("words have a label each", () => {
  const tagger = open("ner");
  assert.equal(tagger.tagWords(["She", "lives", "in", "London"]).at(-1), "B-LOC");
  assert.deepEqual(tagger.tagWords([]), []);
  assert.ok(tagger.labels.includes("B-LOC"));
});

test("damaged models are errors, and later calls work", () => {
  const model = readFileSync(file("ner"));
  for (const bytes of [model.subarray(0, 100), model.subarray(0, -1), Buffer.from("no model")]) {
    assert.throws(() => new Tagger(bytes), /model/);
  }
  for (let at = 0; at < model.length; at += Math.ceil(model.length / 97)) {
    const damaged = Buffer.from(model);
    damaged[at] ^= 1;
    assert.throws(() => new Tagger(damaged), Error, `byte ${at}`);
  }
  assert.equal(open("ner").tagWords(["London"]).length, 1);
});
