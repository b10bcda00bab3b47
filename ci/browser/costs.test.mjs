// What a page of a trace costs that is four times as long: blocks of the page's scripts that run until its figures are
// drawn, which V8 counts, so that no load of the machine changes them, and elements of the page.
//
// PAGES is a directory with two reports of each kind of trace that ci/costs.py knows, of N and 4 N parts, named
// NUMBER-KIND-PARTS.html; KINDS is how many kinds there have to be, 15 unless it says so.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inBrowser } from "./page.mjs";

/** Of the cost of four times as many parts, as a share of four times the cost, as in ci/costs.py. */
const MOST = 1.6;
/** Less than this is the difference of two visits. */
const LEAST = 20_000;

/** How often blocks of the page's own functions run until every figure is drawn, and how many elements it then has. */
async function visited(file) {
  let [session, visit] = [null, null];
  const before = async (page) => {
    session = await page.context().newCDPSession(page);
    await session.send("Profiler.enable");
    await session.send("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
    await session.send("Performance.enable");
  };
  await inBrowser({ file, ready: "main", before }, async (page) => { visit = await count(page, session); });
  return visit;
}

async function count(page, session) {
  const figures = await page.locator("figure .plot").count();
  for (let i = 0; i < Math.min(figures, 3); i += 1) {
    await page.locator("figure .plot").nth(i).evaluate((element) => element.scrollIntoView({ block: "center" }));
    await page.waitForFunction((at) => {
      const { figure } = document.querySelectorAll("figure .plot")[at];
      return figure && (figure.drawn.length > 0 || figure.spec.panels.every(({ lines }) => !lines?.length));
    }, i, { timeout: 60_000 });
  }
  // What is read and drawn comes in pieces: until no script runs any more.
  for (let [quiet, before] = [0, 0]; quiet < 3; ) {
    const { metrics } = await session.send("Performance.getMetrics");
    const { value } = metrics.find(({ name }) => name === "ScriptDuration");
    [quiet, before] = [value === before ? quiet + 1 : 0, value];
    await page.waitForTimeout(100);
  }
  const { result } = await session.send("Profiler.takePreciseCoverage");
  const ranges = result.filter(({ url }) => url.startsWith("file:")).flatMap(({ functions }) => functions).flatMap((one) => one.ranges);
  const blocks = ranges.reduce((sum, { count }) => sum + count, 0);
  return { blocks, elements: await page.locator("*").count(), figures };
}

const pages = readdirSync(process.env.PAGES).filter((name) => name.endsWith(".html"));
const [few, many] = [...new Set(pages.map((name) => Number(name.match(/-(\d+)\.html$/)[1])))].sort((a, b) => a - b);
const page = (kind, parts) => visited(join(process.env.PAGES, `${kind}-${parts}.html`));

const kinds = [...new Set(pages.map((name) => name.replace(/-\d+\.html$/, "")))].sort();
test("most kinds of traces have pages", () => assert.ok(kinds.length >= Number(process.env.KINDS || 15) && pages.length === 2 * kinds.length, pages.join(" ")));
for (const kind of kinds) {
  test(`four times as much costs at most four times as much: ${kind}`, async () => {
    const [small, large] = [await page(kind, few), await page(kind, many)];
    const share = large.blocks / Math.max(4 * small.blocks, LEAST);
    console.log(`# ${share.toFixed(2)}: ${small.blocks} and ${large.blocks} blocks, ${small.elements} and ${large.elements} elements, ${large.figures} figures`);
    assert.ok(share <= MOST, `${share} of four times the blocks`);
    assert.ok(large.elements <= Math.max(4 * MOST * small.elements, 20_000), `${large.elements} elements`);
  });
}
