// What a reader must be able to rely on in the pages of commands that run many cells, of documents and of sweeps: they show the numbers of the files beside
// them; and that figures of all pages draw what pages.json has digests of. In headless Chromium, and in Firefox as BROWSER says.
//
// PAGES is a directory with what ci/browser/run makes; SHOTS, if set, a directory for screenshots.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { assertDrawn, drawn } from "./drawn.mjs";
import { assertNamed, assertReadable, inBrowser, overflow, PHONE, SCHEMES, shot } from "./page.mjs";

const inPages = (name) => join(process.env.PAGES, name);
const opened = (name, body) => inBrowser({ file: inPages(name), ready: "main section" }, body);

const GRIDS = { harm: "harm/harm.html", regimes: "regimes/regimes.html", rfc9743: "rfc9743/rfc9743.html", "start-up": "start-up/start-up.html", papers: "paper/quick/sharma.html", sweep: "sweep/sweep.html" };

/** The rows of a CSV file, by the names of its columns. */
function rowsOf(name) {
  const [head, ...rows] = readFileSync(inPages(name), "utf8").trim().split("\n").map((line) =>
    [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain));
  assert.ok(rows.length > 0, name);
  return rows.map((row) => Object.fromEntries(head.map((column, i) => [column, row[i]])));
}

/** The text of each cell of a table, row by row. */
const cells = (table) => table.locator("tbody tr").evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll("th, td")].map((cell) => cell.textContent)));
const region = (page, caption) => page.locator(`[role=region][aria-label="${caption}"] table`);

/** That a cell shows `value`, or a dash for none, with the digits it has. */
function assertShown(text, value, where) {
  if (value === "" || value === undefined) return assert.equal(text, "–", where);
  const decimals = text.split(".")[1]?.length ?? 0;
  assert.ok(Math.abs(Number(text.replaceAll(",", "")) - value) <= 0.5000001 * 10 ** -decimals, `${where}: shows ${text} for ${value}`);
}

for (const [name, file] of Object.entries(GRIDS)) {
  test(`${name}: named, readable, no wider than the window`, () => opened(file, async (page) => {
    assert.equal(await page.locator("h1").count(), 1);
    await assertNamed(page);
    for (const details of await page.locator("main details > summary").all()) await details.click();
    for (const [device, size] of Object.entries({ desktop: { width: 1440, height: 1000 }, phone: PHONE })) {
      await page.setViewportSize(size);
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme });
        await assertReadable(page, colorScheme);
        await shot(page, `${name}-${device}-${colorScheme}`);
      }
      assert.ok(await overflow(page) <= 0, device);
    }
  }));
}

test("the matrix of harm has the numbers of harm.csv, at each place", () => opened(GRIDS.harm, async (page) => {
  const rows = rowsOf("harm/harm.csv");
  const names = Object.keys(rows[0]).slice(6);
  const [place, measure] = [page.getByRole("combobox", { name: "Place" }), page.getByRole("combobox", { name: "Harm to" })];
  const plain = (text) => text.toLowerCase().replace(/[- ]/g, "");
  const places = new Map(rows.map(({ rate_mbps, buffer_bdp, queue }) => [plain(`${rate_mbps} Mbit/s, ${buffer_bdp} BDP, ${queue}`), { rate_mbps, buffer_bdp, queue }]));
  const options = await place.locator("option").allTextContents();
  assert.equal(options.length, places.size);
  for (const option of options) {
    const at = places.get(plain(option));
    assert.ok(at, option);
    await place.selectOption(option);
    for (const of of await measure.locator("option").allTextContents()) {
      await measure.selectOption(of);
      const expected = rows.filter((row) => row.measure === of && Object.entries(at).every(([key, value]) => row[key] === value))
        .flatMap((row) => names.map((by) => `${by} to ${row.to}: ${Math.round(100 * row[by])} %`));
      assert.equal(expected.length, names.length ** 2);
      assert.deepEqual(await page.locator(".harm-map rect title").allTextContents(), expected, `${of} at ${option}`);
    }
  }
}));

test("the map of regimes shows the worst of those in regimes.csv", () => opened(GRIDS.regimes, async (page) => {
  const rows = rowsOf("regimes/regimes.csv");
  const order = ["not run", "inside", "known limit", "outside"];
  for (const controller of new Set(rows.map((row) => row.controller))) {
    const own = rows.filter((row) => row.controller === controller);
    const fields = new Map();
    for (const row of own) {
      const key = `${row.rate}bit/s, ${row.rtt}, buffer ${row.buffer}`;
      fields.set(key, [...(fields.get(key) ?? []), row.assessment]);
    }
    const expected = [...fields].map(([key, all]) => {
      const worst = all.toSorted((one, other) => order.indexOf(other) - order.indexOf(one))[0];
      return `${worst.replace(" ", "-")}: ${key}: ${all.filter((one) => one === worst).length} of ${all.length} ${worst}`;
    });
    const map = page.locator("figure").filter({ has: page.locator("figcaption > :is(a, strong)", { hasText: new RegExp(`^${controller}$`) }) }).locator("svg");
    const shown = await map.locator("rect").evaluateAll((all) => all.map((rect) => `${rect.getAttribute("class")}: ${rect.textContent}`));
    assert.deepEqual(shown.map((text) => text.replace(/( not run): .*/, "$1")).toSorted(), expected.toSorted(), controller);
    assert.equal(await map.getAttribute("aria-label"), `${controller}: ${["outside", "known limit", "inside", "not run"].toReversed().map((one) => `${own.filter(({ assessment }) => assessment === one).length} ${one}`).join(", ")}`);
  }
}));

test("the matrix of RFC 9743 has the answers of rfc9743.csv", () => opened(GRIDS.rfc9743, async (page) => {
  const rows = rowsOf("rfc9743/rfc9743.csv");
  for (const controller of new Set(rows.map((row) => row.controller))) {
    const own = rows.filter((row) => row.controller === controller);
    const shown = await region(page, `Matrix: ${controller}`).locator("td[title]").evaluateAll((all) => all.map((cell) => cell.title));
    assert.equal(shown.length, own.length);
    const table = await cells(region(page, `Answers: ${controller}`));
    for (const { criterion, path, assessment, value } of own) {
      assert.ok(shown.some((text) => text.startsWith(`${criterion} on ${path}: ${assessment}: `)), `${controller}, ${criterion}`);
      const [, , , text] = table.find(([is, of, on]) => is === assessment && of === criterion && on === path);
      if (value) assertShown(text.split(" ")[0], Number(value), `${controller}, ${criterion}`);
    }
  }
}));

test("tables of start-up have the numbers of start-up.csv", () => opened(GRIDS["start-up"], async (page) => {
  const rows = rowsOf("start-up/start-up.csv");
  for (const [rivals, caption] of Object.entries(["Alone", "Beside a flow that was there before"])) {
    const table = await cells(region(page, caption));
    const schemes = [...new Set(rows.map((row) => row.scheme))];
    assert.deepEqual(table.map(([scheme]) => scheme), schemes);
    for (const [scheme, filled, lost, queue, ...transfers] of table) {
      const own = rows.filter((row) => row.scheme === scheme && row.rivals === rivals);
      const of = own.find((row) => row.transfer_bytes === "");
      for (const [text, value] of [[filled, of.filled_s], [lost, of.lost], [queue, of.queue_peak]]) assertShown(text, value, `${caption}, ${scheme}`);
      const sizes = own.filter((row) => row.transfer_bytes !== "");
      assert.equal(transfers.length, sizes.length);
      transfers.forEach((text, i) => assertShown(text, sizes[i].completed_s && 1000 * sizes[i].completed_s, `${caption}, ${scheme}, ${sizes[i].transfer_bytes}`));
    }
  }
}));

test("a document's page has the means of its experiment", () => opened(GRIDS.papers, async (page) => {
  const experiment = JSON.parse(readFileSync(inPages("paper/quick/EV-0a.json"), "utf8"));
  const table = region(page, "Cells of EV-0a");
  const heads = await table.locator("thead th").allTextContents();
  const rows = await cells(table);
  assert.equal(rows.length, experiment.cells.length);
  for (const { cell, means } of experiment.cells) {
    const row = rows.find(([name]) => name === cell);
    assert.ok(means.length > 3);
    for (const { id, unit, mean } of means) assertShown(row[heads.indexOf(unit ? `${id} ${unit}` : id)].split(" ")[0], mean, `${cell}, ${id}`);
  }
}));

test("the heat map of a sweep has the means of runs.csv, and a field leads to its command", () => opened(GRIDS.sweep, async (page) => {
  const rows = rowsOf("sweep/runs.csv");
  const read = async () => Object.fromEntries((await cells(page.locator("table.sweep-map"))).map(([rtt, ...fields]) => [rtt, fields]));
  const heads = (await page.locator("table.sweep-map thead th").allTextContents()).slice(1);
  const [across] = await page.getByLabel("Across").evaluateAll(([select]) => [select.selectedOptions[0].textContent]);
  const [x, y] = across === "controller" ? ["controller", "dumbbell.rtt_ms"] : ["dumbbell.rtt_ms", "controller"];
  for (const measure of await page.getByLabel("Measure").locator("option").allTextContents()) {
    await page.getByLabel("Measure").selectOption(measure);
    for (const [row, fields] of Object.entries(await read())) {
      fields.forEach((text, i) => {
        const own = rows.filter((run) => run[y] === row && run[x] === heads[i] && run[measure] !== "").map((run) => Number(run[measure]));
        const mean = own.length ? own.reduce((sum, value) => sum + value) / own.length : "";
        assertShown(text.split(" ")[0], mean, `${measure}, ${row}, ${heads[i]}`);
      });
    }
  }
  await page.locator("table.sweep-map button").first().click();
  assert.match(await page.locator("#field").textContent(), /windlass sweep trace .*plan\.toml 1 --out cell-1/);
}));

test("figures of all pages draw what they drew", async () => {
  const all = [];
  for (const file of ["evaluation/report.html", "traces.html", "comparison.html", ...Object.values(GRIDS)]) {
    await opened(file, async (page) => {
      await page.evaluate(() => [...document.querySelectorAll(".plot")].forEach(({ figure }) => figure.draw()));
      await page.waitForFunction(() => [...document.querySelectorAll(".plot")].every(({ figure }) => !figure.spec.pending));
      const [of] = file.split(/[./]/);
      // Beside the figures, pictures that are none and tables that are read as maps.
      const others = await page.locator(".regime-map, .harm-map svg, .matrix, .sweep-map, #ranking table").evaluateAll((found) => found.map((element, i) => [`picture ${i + 1}`, element.outerHTML]));
      all.push(...[...await drawn(page, "main"), ...others].map(([name, markup]) => [`${of}: ${name}`, markup]));
    });
  }
  assertDrawn(new URL("pages.json", import.meta.url), all);
});
