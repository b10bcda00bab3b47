// What a reader must be able to rely on in a report, checked in headless Chromium.
//
// REPORT is the page of an evaluation, FEW that of one with few controllers, on two stacks, for what does not depend on how
// many there are, SINGLE that of a single run, each with its results.json beside it; SHOTS, if set, a directory for screenshots.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { assertNamed, assertReadable, FIREFOX, inBrowser, overflow, PHONE, SCHEMES, shot, undrawn, unpacked } from "./page.mjs";

const report = process.env.REPORT;
const read = (page) => JSON.parse(readFileSync(join(dirname(page), "results.json"), "utf8"));
const results = read(report);
const few = read(process.env.FEW);
const scene = few.scenarios[0];

/** Opens a report, the evaluation's unless another is asked for. */
const opened = (options, body) => inBrowser({ file: report, ...options }, body);
const fewOpened = (options, body) => inBrowser({ file: process.env.FEW, ...options }, body);

/** Scrolls a scenario's plot into view and waits until it is drawn. */
async function plotOf(page, name) {
  const plot = page.locator(`#${name} .plot`);
  await plot.evaluate((element) => element.scrollIntoView({ block: "center" }));
  await page.waitForSelector(`#${name} .plot .panel-picture path`);
  return plot;
}

const COLUMNS = { "Congestion window, packets": "cwnd_packets", "Round-trip time, ms": "rtt_ms", "Goodput, Mbit/s": "goodput_mbps", "Queue, packets": "packets" };

/** The lines a scenario's figure draws: name, panel, points. */
const drawnLines = (page, id) => page.evaluate((name) => document.querySelector(`#${name} .plot`).figure.drawn.map((line) =>
  ({ name: line.name, panel: line.panel, raw: line.raw, x: [...line.x], y: line.y.map((value) => (Number.isNaN(value) ? null : value)) })), id);

/** Where the pictures of a figure are. */
const boxOf = async (plot, i = 0) => {
  const picture = await plot.locator(".panel-picture").nth(i).boundingBox();
  const [left, columns] = await plot.evaluate((element) => [element.figure.left, element.figure.columns]);
  return { x: picture.x + left, y: picture.y, width: columns, height: picture.height };
};

/** A table's rows: the words, and of each metric the value and what is shown. */
const readTable = (page, caption) => page.locator(`[role=region][aria-label="${caption}"] tbody tr`).evaluateAll((rows) =>
  rows.map((row) => ({
    words: [...row.querySelectorAll(":scope > :is(th, td):not([data-metric], .pick, .reason)")].map((cell) => cell.textContent),
    note: row.querySelector(":scope > .reason")?.textContent ?? null,
    metrics: Object.fromEntries([...row.querySelectorAll("[data-metric]")].map((cell) =>
      [cell.dataset.metric, [cell.dataset.value === undefined ? null : Number(cell.dataset.value), cell.textContent]])),
  })));

/** That a cell shows `value`, to the digits it shows. */
function assertShown(cell, value, scale, where) {
  assert.ok(cell, `${where}: no such cell`);
  assert.equal(cell[0], value, where);
  if (value === null) return assert.equal(cell[1], "–", where);
  const decimals = cell[1].split(".")[1]?.length ?? 0;
  const shown = Number(cell[1].replaceAll(",", ""));
  assert.ok(Math.abs(shown - value * scale) <= 0.5000001 * 10 ** -decimals, `${where}: shows ${cell[1]} for ${value * scale}`);
}

const SCALES = { utilisation: 100, loss: 100 };

// What only reads the page shares a visit: of a page of so many tables, coming is most of the time.
test("loads without complaint, and holds and shows the numbers of results.json", () => opened({}, async (page) => {
  assert.deepEqual(JSON.parse(await unpacked(page, "results")), results);
  assert.equal(await page.title(), `${results.title} – windlass`);
  assert.equal(await page.locator("h1").count(), 1);
  assert.equal(await page.locator("main section").count(), results.scenarios.length + 1);
  await ranked(page);
  // What comes from the page alone, whichever browser shows it.
  if (FIREFOX) return;
  await tabled(page);
  await assertNamed(page);
}));

/** That the ranking shows the numbers of results.json. */
async function ranked(page) {
  const rows = await readTable(page, "Ranking");
  assert.equal(rows.length, results.ranking.length);
  for (const standing of results.ranking) {
    const row = rows.find(({ words }) => words[1] === standing.controller && words[2] === standing.stack);
    assert.ok(row, `${standing.controller} on ${standing.stack}`);
    if (standing.runs_done === 0) {
      assert.equal(row.note, standing.reasons.join("; "));
      continue;
    }
    assert.equal(row.words[0], String(standing.rank ?? "–"));
    for (const metric of ["score", "utilisation", "rtt_ratio", "rtt_p95_ratio", "loss", "fairness"]) {
      assertShown(row.metrics[metric], standing[metric], SCALES[metric] ?? 1, `${standing.controller} ${metric}`);
    }
  }
}

/** That every scenario's tables do. */
async function tabled(page) {
  for (const { name } of results.scenarios) {
    const runs = results.runs.filter((run) => run.scenario === name);
    const flows = await readTable(page, `Flows of ${name}`);
    assert.equal(flows.length, runs.reduce((n, run) => n + Math.max(1, run.flows.length), 0), name);
    const taken = new Set();
    for (const run of runs) {
      const own = (row, flow) => !taken.has(row) && row.words[0] === run.controller && row.words[1] === run.stack
        && (run.flows.length < 2 || row.words[2].startsWith(flow.name));
      if (run.status !== "done") {
        assert.ok(flows.some((row) => own(row, null) && row.note === run.reason), `${name}: ${run.reason}`);
        continue;
      }
      for (const flow of run.flows) {
        const where = `${name}, ${run.controller} on ${run.stack}, ${flow.name}`;
        const row = flows.find((candidate) => own(candidate, flow));
        assert.ok(row, where);
        taken.add(row);
        for (const metric of ["goodput_mbps", "rtt_mean_ms", "rtt_p95_ms", "cwnd_mean_packets", "congestion_events"]) {
          assertShown(row.metrics[metric], flow[metric], 1, `${where}, ${metric}`);
        }
        for (const metric of ["score", "utilisation"]) {
          assertShown(row.metrics[metric], run.metrics[metric], SCALES[metric] ?? 1, `${where}, ${metric}`);
        }
        const loss = flow.packets_sent ? flow.packets_lost / flow.packets_sent : null;
        assertShown(row.metrics.loss, loss, 100, `${where}, loss`);
      }
    }
    const queues = await readTable(page, `Queues of ${name}`);
    for (const run of runs) {
      for (const queue of run.queues) {
        const row = queues.find(({ words }) => words[0] === run.controller && words[1] === run.stack && words[2] === queue.name);
        assert.ok(row, `${name}: queue ${queue.name}`);
        for (const metric of Object.keys(row.metrics)) {
          assertShown(row.metrics[metric], queue[metric], SCALES[metric] ?? 1, `${name}, ${run.controller}, ${queue.name}, ${metric}`);
        }
      }
    }
  }
}

test("plots wait until they come into view, and draw the series of results.json", () => opened({}, async (page) => {
  await page.waitForSelector("#ranking .plot .panel-picture path");
  assert.ok(await page.locator(".plot").count() - await undrawn(page) < results.scenarios.length + 1 || results.scenarios.length < 3);
  for (const { name } of results.scenarios) {
    await plotOf(page, name);
    const drawn = await drawnLines(page, name);
    assert.ok(drawn.length >= 4, `${name}: ${drawn.length} lines`);
    for (const line of drawn) {
      const [controller, ...rest] = line.name.split(" · ");
      const stack = results.stacks.length > 1 ? rest.shift() : results.stacks[0];
      const run = results.runs.find((r) => r.scenario === name && r.controller === controller && r.stack === stack);
      const source = line.panel.startsWith("Queue") ? run.queues[0] : run.flows.find((flow) => rest.length === 0 || flow.name === rest[0]);
      assert.deepEqual(line.x, source.series.time_s, `${name}, ${line.name}: times`);
      assert.deepEqual(line.y, source.series[COLUMNS[line.panel]], `${name}, ${line.name}: ${line.panel}`);
    }
  }
}));

test("the values under the pointer stand above the lines and cover none", () => fewOpened({}, async (page) => {
  const plot = await plotOf(page, scene.name);
  const box = await boxOf(plot);
  const height = (await plot.boundingBox()).height;
  await page.mouse.move(box.x + box.width * 0.4, box.y + box.height / 2);
  await page.mouse.move(box.x + box.width * 0.5, box.y + box.height / 2, { steps: 4 });
  const values = plot.locator(".panel-head .value").filter({ hasText: /\d/ });
  await values.first().waitFor();
  const time = await plot.evaluate((element) => element.figure.cursor);
  assert.ok(Math.abs(time - scene.duration_s / 2) < scene.duration_s / 100, `${time}`);
  const [line] = await drawnLines(page, scene.name);
  const at = line.y[line.x.findLastIndex((x) => x <= time)];
  assert.equal(await values.first().textContent(), `${at.toFixed(1)} packets`);
  assert.equal((await plot.boundingBox()).height, height, "nothing moves");
  for (const head of await plot.locator(".panel-head").all()) {
    const { y, height: tall } = await head.boundingBox();
    const pictures = await plot.locator(".panel-picture").evaluateAll((all) => all.map((picture) => picture.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom]));
    assert.ok(pictures.every(([top, bottom]) => y + tall <= top + 1 || y >= bottom - 1), "legends lie beside the pictures");
  }
  await shot(page, "hover");
}));

test("each name of the map stands nearest to its own point", () => opened({}, async (page) => {
  await page.locator("#selection summary").click();
  await page.getByRole("button", { name: "Best eight" }).click();
  await page.locator("#selection summary").click();
  const map = page.locator("#ranking .map");
  await map.evaluate((element) => element.scrollIntoView({ block: "center" }));
  await page.waitForSelector("#ranking .map .point-label");
  const labels = await map.evaluate((element) => element.figure.labels.map(({ place, box, leader }) => ({ label: place.label, x: place.px, y: place.py, leader: Boolean(leader), box })));
  const points = await map.evaluate((element) => element.figure.places.map(({ px, py, label }) => ({ x: px, y: py, label })));
  assert.ok(labels.length >= Math.min(5, results.controllers.length));
  const gap = ({ x, y }, box) => Math.hypot(Math.max(box.left - x, 0, x - box.right), Math.max(box.top - y, 0, y - box.bottom));
  for (const { label, x, y, box, leader } of labels) {
    const standing = results.ranking.find((row) => row.controller === label && row.stack === results.stacks[0]);
    assert.ok(standing, label);
    const nearest = Math.min(...points.filter((point) => point.label && point.label !== label).map((point) => gap(point, box)), Infinity);
    assert.ok(leader || gap({ x, y }, box) <= nearest, `${label} stands nearer to another point`);
    for (const other of labels) {
      const over = other.label !== label && box.left < other.box.right && other.box.left < box.right && box.top < other.box.bottom && other.box.top < box.bottom;
      assert.ok(!over, `${label} lies on ${other.label}`);
    }
  }
  await shot(page, "map");
}));

test("zooming changes the time range of all panels, and back", () => fewOpened({}, async (page) => {
  const plot = await plotOf(page, scene.name);
  const range = () => plot.evaluate((element) => element.figure.view);
  const fields = () => page.locator(`#${scene.name} .range input`).evaluateAll((inputs) => inputs.map((input) => Number(input.value)));
  const whole = await range();
  assert.deepEqual(whole, [0, scene.duration_s]);
  const box = await boxOf(plot);
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.25, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, y, { steps: 8 });
  await page.mouse.up();
  await page.waitForFunction(([id, end]) => document.querySelector(`#${id} .plot`).figure.view[1] < end, [scene.name, scene.duration_s]);
  const [low, high] = await range();
  assert.ok(Math.abs(low / scene.duration_s - 0.25) < 0.03 && Math.abs(high / scene.duration_s - 0.5) < 0.03, `${low} to ${high}`);
  const [from, to] = await fields();
  assert.ok(Math.abs(from - low) < 0.002 && Math.abs(to - high) < 0.002);
  await page.getByRole("button", { name: "Whole run" }).first().click();
  await page.waitForFunction(([id, end]) => document.querySelector(`#${id} .plot`).figure.view[1] === end, [scene.name, scene.duration_s]);
  // The same with the keyboard alone.
  await page.locator(`#${scene.name} .range input`).first().focus();
  for (const key of ["Control+A", "1", "Enter"]) await page.keyboard.press(key);
  await page.waitForFunction((id) => document.querySelector(`#${id} .plot`).figure.view[0] === 1, scene.name);
}));

test("tables sort by mouse and by keyboard, and a filter leaves the rows that match", () => fewOpened({}, async (page) => {
  const values = () => page.locator("#ranking td[data-metric=loss]").evaluateAll((cells) =>
    cells.map((cell) => cell.dataset.value).filter((value) => value !== undefined).map(Number));
  const head = page.locator("#ranking th", { hasText: "Loss" });
  assert.equal(await page.locator("#ranking th[aria-sort]").count(), 1, "sorted by rank at first");
  await head.getByRole("button").click();
  assert.equal(await head.getAttribute("aria-sort"), "ascending", "low loss is better, so it comes first");
  const rising = await values();
  assert.deepEqual(rising, [...rising].sort((a, b) => a - b));
  await head.getByRole("button").focus();
  await page.keyboard.press("Enter");
  assert.equal(await head.getAttribute("aria-sort"), "descending");
  assert.deepEqual(await values(), [...rising].sort((a, b) => b - a));
  assert.match(await page.locator("#announce").textContent(), /sorted by Loss, descending/);
  assert.equal(await page.locator("#ranking th[aria-sort]").count(), 1);
  if (few.ranking.length < 13) return;
  const name = few.ranking.at(-1).controller;
  await page.locator("#ranking input[type=search]").fill(name);
  const left = await page.locator("#ranking tbody tr:visible").evaluateAll((rows) => rows.map((row) => row.textContent));
  assert.ok(left.length > 0 && left.every((text) => text.includes(name)));
}));

test("ticking a controller anywhere plots it everywhere", () => fewOpened({}, async (page) => {
  await plotOf(page, scene.name);
  const lines = () => page.evaluate((id) => document.querySelector(`#${id} .plot`).figure.drawn.length, scene.name);
  const first = await lines();
  const run = few.runs.find((r) => r.scenario === scene.name && r.status === "done" && r.stack === few.stacks[0]);
  const boxes = page.locator(`input[data-controller="${run.controller}"]`);
  const was = await boxes.first().isChecked();
  await page.locator(`#${scene.name} input[data-controller="${run.controller}"]`).first().setChecked(!was);
  await page.waitForFunction(([id, n]) => document.querySelector(`#${id} .plot`).figure.drawn.length !== n, [scene.name, first]);
  const states = await boxes.evaluateAll((all) => all.map((box) => box.checked));
  assert.ok(states.length > 2 && states.every((state) => state === !was));
  if (few.stacks.length > 1) {
    const before = await lines();
    await page.locator("#selection summary").click();
    await page.locator(`input[data-stack="${few.stacks[1]}"]`).check();
    await page.waitForFunction(([id, n]) => document.querySelector(`#${id} .plot`).figure.drawn.length > n, [scene.name, before]);
  }
}));

for (const [device, options, open, { scenarios }] of [["desktop", {}, fewOpened, few], ["phone", { viewport: PHONE, isMobile: true, hasTouch: true }, opened, results]]) {
  test(`${device}: readable in light and dark, no sideways scrolling`, () => open(options, async (page) => {
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      await assertReadable(page, colorScheme);
      await page.evaluate(() => scrollTo(0, 0));
      assert.ok(await overflow(page) <= 0, "top");
      await shot(page, `${device}-${colorScheme}-top`);
      await plotOf(page, scenarios[0].name);
      await page.waitForTimeout(300);
      await shot(page, `${device}-${colorScheme}-plots`);
    }
    for (const { name } of scenarios) {
      await plotOf(page, name);
      assert.ok(await overflow(page) <= 0, name);
    }
    await page.locator("#selection summary").click();
    assert.ok(await overflow(page) <= 0, "panel");
    await page.setViewportSize({ width: 360, height: 740 });
    await page.waitForTimeout(300);
    assert.ok(await overflow(page) <= 0, "360 pixels");
  }));
}

test("the theme can be chosen, and plots follow", () => fewOpened({}, async (page) => {
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await paper();
  await plotOf(page, scene.name);
  const grid = () => page.evaluate((id) => getComputedStyle(document.querySelector(`#${id} .plot .gridline`)).stroke, scene.name);
  const lightGrid = await grid();
  const button = page.locator("#theme");
  await button.click();
  await button.click();
  assert.match(await button.getAttribute("aria-label"), /dark/);
  assert.notEqual(await paper(), light);
  assert.notEqual(await grid(), lightGrid);
}));

test("printing draws every plot, on white", () => fewOpened({ colorScheme: "dark" }, async (page) => {
  const pdf = await page.pdf({ format: "A4" });
  assert.ok(pdf.length > 50_000);
  assert.equal(await undrawn(page), 0);
}));

test("the report of a single run shows every flow and queue", { skip: !process.env.SINGLE }, () =>
  opened({ file: process.env.SINGLE }, async (page) => {
    const { scenarios: [{ name }], runs: [run] } = JSON.parse(readFileSync(join(dirname(process.env.SINGLE), "results.json"), "utf8"));
    const rows = await readTable(page, `Flows of ${name}`);
    assert.deepEqual(rows.map((row) => row.metrics.goodput_mbps[0]), run.flows.map((flow) => flow.goodput_mbps));
    assert.equal((await readTable(page, `Queues of ${name}`)).length, run.queues.length);
    await plotOf(page, name);
    const drawn = await drawnLines(page, name);
    const panel = (title) => drawn.filter((line) => COLUMNS[line.panel] === title).map((line) => line.y);
    const controlled = run.flows.filter((flow) => flow.controller);
    assert.deepEqual(panel("cwnd_packets"), controlled.map((flow) => flow.series.cwnd_packets));
    assert.deepEqual(panel("goodput_mbps"), run.flows.map((flow) => flow.series.goodput_mbps));
    assert.deepEqual(panel("packets"), run.queues.map((queue) => queue.series.packets));
    assert.ok(await overflow(page) <= 0);
    await shot(page, "single-run");
  }));
