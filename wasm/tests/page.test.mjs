// The page in headless Chromium: opened as a file, it marks names with the model inside, or another.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const PAGE = fileURLToPath(new URL("../../target/wasm/demo.html", import.meta.url));
const BROWSER = ["chromium", "chromium-browser", "google-chrome"].find(
  (name) => spawnSync(name, ["--version"]).status === 0,
);

/** Starts Chromium and returns a function that calls its DevTools protocol on the first page. */
async function browse(url, folder) {
  const options = ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
    `--user-data-dir=${folder}`, "--window-size=390,800", url];
  const browser = spawn(BROWSER, options, {
    detached: true, // a group of its own, to be killed with all of its processes
    stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
  });
  const pending = new Map();
  const events = [];
  let unread = "";
  browser.stdio[4].setEncoding("utf8").on("data", (data) => {
    const messages = (unread + data).split("\0");
    unread = messages.pop();
    for (const message of messages.map((text) => JSON.parse(text))) {
      if (message.id) pending.get(message.id)(message);
      else events.push(message);
    }
  });
  let last = 0;
  const send = (method, params = {}, sessionId = undefined) =>
    new Promise((resolve, reject) => {
      pending.set(++last, (m) => (m.error ? reject(new Error(m.error.message)) : resolve(m.result)));
      browser.stdio[3].write(JSON.stringify({ id: last, method, params, sessionId }) + "\0");
    });
  let page;
  while (!page) {
    const { targetInfos } = await send("Target.getTargets");
    page = targetInfos.find((target) => target.type === "page" && target.url === url);
  }
  const { sessionId } = await send("Target.attachToTarget", {
    targetId: page.targetId, flatten: true,
  });
  return { events, browser, call: (method, params) => send(method, params, sessionId) };
}

test("the page marks names with its model and with one from a file", { skip: !BROWSER && "no Chromium" },
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "dropchain-"));
    const { browser, call, events } = await browse(`file://${PAGE}`, folder);
    try {
      const value = async (expression) => {
        const options = { expression, awaitPromise: true, returnByValue: true };
        const { result, exceptionDetails } = await call("Runtime.evaluate", options);
        assert.equal(exceptionDetails, undefined, JSON.stringify(exceptionDetails));
        return result.value;
      };
      const until = async (expression) => {
        while (!(await value(expression))) await new Promise((done) => setTimeout(done, 20));
      };
      await call("Runtime.enable");
      await call("Log.enable");
      await call("Network.enable");
      await call("DOM.enable");
      await until("document.readyState === 'complete'");
      await until("document.querySelectorAll('#result mark').length > 0");
      assert.match(await value("document.getElementById('result').textContent"), /London\u00a0LOC/);
      const { root } = await call("DOM.getDocument");
      const choose = async (file) => {
        const { nodeId } = await call("DOM.querySelector", {
          nodeId: root.nodeId, selector: "#model",
        });
        await call("DOM.setFileInputFiles", { nodeId, files: [file] });
      };
      await choose(fileURLToPath(import.meta.url));
      await until("document.getElementById('error').textContent.includes('model')");

      await choose(`${process.env.FOLDER}/ner.model`);
      await until("/tokens/.test(document.getElementById('status').textContent)");
      await value(`{
        const text = document.getElementById("text");
        text.value = "She lives in London.\\n<b>no</b> <script>alert(1)</script> 😀 in London.";
        text.dispatchEvent(new Event("input"));
      }`);
      const marked = await value(
        "[...document.querySelectorAll('#result mark')].map((m) => m.textContent)",
      );
      assert.ok(marked.filter((text) => text.startsWith("London\u00a0LOC")).length === 2, String(marked));
      assert.match(await value("document.getElementById('result').textContent"), /<b>no<\/b>/);
      assert.match(await value("document.querySelector('#result mark').title"), /^LOC: probability [01]\./);
      const overflow = "document.documentElement.scrollWidth > innerWidth";
      assert.equal(await value(overflow), false);

      const bad = events.filter(({ method, params }) =>
        method === "Runtime.exceptionThrown" || method === "Runtime.consoleAPICalled" ||
        (method === "Log.entryAdded" && params.entry.level === "error") ||
        (method === "Network.requestWillBeSent" && /^https?:/.test(params.request.url)));
      assert.deepEqual(bad, []);
      if (process.env.SCREENSHOTS) {
        const { data } = await call("Page.captureScreenshot", { captureBeyondViewport: true });
        writeFileSync(process.env.SCREENSHOTS, data, "base64");
      }
    } finally {
      process.kill(-browser.pid, "SIGKILL");
      await new Promise((done) => browser.on("exit", done));
      rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    }
  });
