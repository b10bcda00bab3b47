// What a reader must be able to rely on in the page of `windlass qlog watch`, checked in headless Chromium.
//
// WINDLASS is the command, TRACE a trace of which first a part is there and then all; SHOTS, if set, a directory for
// screenshots.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { assertNamed, inBrowser, overflow, PHONE, shot } from "./page.mjs";

/** Runs `windlass qlog watch` on `directory`, hands `body` the address of its page, and ends it. */
async function watching(directory, body) {
  const command = spawn(process.env.WINDLASS, ["qlog", "watch", directory], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const address = await new Promise((resolve, reject) => {
      command.once("exit", (code) => reject(new Error(`ended with ${code} and no address`)));
      createInterface({ input: command.stdout }).on("line", (line) => {
        const found = line.match(/http:\/\/127\.0\.0\.1:\d+\//);
        if (found) resolve(found[0]);
      });
    });
    await body(address);
  } finally {
    command.removeAllListeners("exit");
    command.kill();
  }
}

/** When the last point of any line of the first figure is, s. */
const until = (page) => page.evaluate(() => Math.max(...document.querySelector("#content .plot").figure.drawn
  .filter(({ points }) => points > 0).map(({ x, points }) => x[points - 1])));

test("the page of a trace that is written follows it to its end", async () => {
  const directory = mkdtempSync(join(tmpdir(), "watch-"));
  const whole = readFileSync(process.env.TRACE);
  const half = whole.indexOf("\x1e", whole.length / 2);
  const file = join(directory, "flow.sqlog");
  writeFileSync(file, whole.subarray(0, half));
  try {
    await watching(directory, (address) => inBrowser({ address, ready: "#content .plot .panel-picture path" }, async (page) => {
      const before = await until(page);
      assert.ok(before > 1, `${before} s`);
      assert.match(await page.locator("#facts").textContent(), /1 connection · followed as they are written/);
      await shot(page, "watch-half");
      await assertNamed(page);
      // Events are asked for when they are looked at.
      const metricsIn = (bytes) => bytes.toString().split("\n").filter((line) => line.includes("recovery_metrics_updated") && line.includes("congestion_window"));
      const listed = (bytes) => page.waitForFunction((count) => document.querySelector(".events .hint").textContent.startsWith(`${count} events`), new Intl.NumberFormat("en").format(metricsIn(bytes).length), { timeout: 60_000 });
      await page.locator(".events summary").click();
      await page.locator(".events input[type=search]").fill("metrics congestion_window");
      await listed(whole.subarray(0, half));
      const { version } = await page.evaluate(() => document.documentElement.dataset);
      appendFileSync(file, whole.subarray(half));
      await page.waitForFunction((seen) => document.documentElement.dataset.version !== seen, version, { timeout: 60_000 });
      await page.waitForFunction((seen) => Math.max(...document.querySelector("#content .plot").figure.drawn
        .filter(({ points }) => points > 0).map(({ x, points }) => x[points - 1])) > 1.5 * seen, before, { timeout: 60_000 });
      assert.equal(await page.locator("#content > section").count(), 1, "the same trace, not a second one");
      await shot(page, "watch-whole");
      // The list of events that is open has what was added.
      await listed(whole);
      assert.equal(await page.locator(".events tbody tr").count(), Math.min(300, metricsIn(whole).length));
      await page.setViewportSize(PHONE);
      assert.equal(await overflow(page), 0);
    }));
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("a run in progress is shown by the name it will have, and what is deleted goes", async () => {
  const directory = mkdtempSync(join(tmpdir(), "watch-"));
  const out = join(directory, "out");
  writeFileSync(join(directory, "earlier.sqlog"), readFileSync(process.env.TRACE));
  try {
    await watching(directory, (address) => inBrowser({ address, ready: "#content .plot .panel-picture path" }, async (page) => {
      const names = () => page.locator("#contents a").evaluateAll((links) => links.map(({ textContent }) => textContent).filter((text) => text !== "Skip to the traces"));
      assert.deepEqual(await names(), ["earlier"]);
      const run = spawn(process.env.WINDLASS, ["run", "random-loss", "-c", "reno", "--out", out], { stdio: "ignore" });
      await new Promise((resolve) => { run.once("exit", resolve); });
      rmSync(join(directory, "earlier.sqlog"));
      await page.waitForFunction(() => {
        const shown = [...document.querySelectorAll("#contents a")].map(({ textContent }) => textContent);
        return shown.length > 0 && !shown.includes("earlier");
      }, null, { timeout: 60_000 });
      const facts = await page.locator("#content .facts").allTextContents();
      assert.ok(facts.length && facts.every((text) => text.includes(join(out, "qlog")) && !text.includes(".windlass-")), facts.join("\n"));
      await page.waitForTimeout(3000);
      assert.equal(await page.locator("#content > section").count(), facts.length, "each flow once");
    }));
  } finally {
    rmSync(directory, { recursive: true });
  }
});
