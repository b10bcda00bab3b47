// What a reader must be able to rely on in a report of qlog traces and in a comparison,
// checked in headless Chromium, and in Firefox as BROWSER says.
//
// TRACES is a report of several traces, MILLION that of one with a million events,
// COMPARISON a comparison; EVENTS says how many events the million are; SHOTS, if set, a
// directory for screenshots.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { assertNamed, assertReadable, FIREFOX, inBrowser, overflow, PHONE, SCHEMES, shot, undrawn, unpacked } from "./page.mjs";

const opened = (options, body) => inBrowser({ file: process.env.TRACES, ...options }, body);
const million = (options, body) => inBrowser({ file: process.env.MILLION, ...options }, body);
const comparison = (options, body) => inBrowser({ file: process.env.COMPARISON, ...options }, body);

/** Waits until the figure of a section is drawn. */
async function figureOf(page, section = "#trace-0") {
  const plot = page.locator(`${section} figure .plot`);
  await plot.evaluate((element) => element.scrollIntoView({ block: "center" }));
  await page.waitForFunction((id) => document.querySelector(`${id} figure .plot`).figure?.drawn.length > 0, section);
  return plot;
}

/** Does something and waits until the figure is drawn anew. */
async function redrawn(plot, act) {
  await plot.evaluate((element) => {
    element.redrawn = new Promise((resolve, reject) => {
      element.addEventListener("drawn", () => resolve(), { once: true });
      setTimeout(() => reject(new Error("not drawn anew")), 60_000);
    });
    // Whoever waits for it learns of it, the page's complaints do not.
    element.redrawn.catch(() => {});
  });
  await act();
  await plot.evaluate((element) => element.redrawn);
}

const range = (plot) => plot.evaluate((element) => element.figure.view);

/** The lines and samples of a figure: quantity, kind, whether they hold every point, how many points. */
const linesOf = (plot) => plot.evaluate((element) => element.figure.drawn.filter(({ kind }) => kind === "steps" || kind === "samples").map(({ key, kind, name, raw, points, x, y }) =>
  ({ quantity: element.figure.spec.panels.flatMap((panel) => panel.lines ?? []).find((line) => line.key === key).quantity ?? key, kind, name, raw, points, x: [...x], y: [...y] })));

/** Where panel `i` of a figure is drawn. */
const boxOf = async (plot, i) => {
  const picture = await plot.locator(".panel-picture").nth(i).boundingBox();
  const [left, columns] = await plot.evaluate((element) => [element.figure.left, element.figure.columns]);
  return { x: picture.x + left, y: picture.y, width: columns, height: picture.height };
};

/** The points of a trace's line between two times, as the page decoded them from its data, worked out again here. */
const pointsOf = (page, id, name, from, to) => page.evaluate(async ([index, line, low, high]) => {
  const { traces } = JSON.parse(document.getElementById("traces").textContent);
  const text = atob(document.getElementById(`lines-${index}`).textContent);
  const stream = new Blob([Uint8Array.from(text, (c) => c.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let at = 0;
  const numbers = (count) => {
    let sum = 0n;
    return Array.from({ length: count }, () => {
      let [value, shift, byte] = [0n, 0n, 0];
      do { byte = bytes[at++]; value |= BigInt(byte & 127) << shift; shift += 7n; } while (byte & 128);
      sum += value & 1n ? -((value + 1n) >> 1n) : value >> 1n;
      return Number(sum);
    });
  };
  for (const { name: each, points } of traces[index].lines) {
    const [times, values] = [numbers(points), numbers(points)];
    if (each === line) return times.map((time, i) => [time / 1e9, values[i]]).filter(([time]) => time >= low && time <= high);
  }
  return null;
}, [id, name, from, to]);

test("a report of traces shows a summary and a figure of each", () => opened({}, async (page) => {
  const { traces } = await page.evaluate(() => JSON.parse(document.getElementById("traces").textContent));
  assert.ok(traces.length >= 2);
  assert.equal(await page.locator("#summary tbody tr").count(), traces.length);
  for (const [i, trace] of traces.entries()) {
    const plot = await figureOf(page, `#trace-${i}`);
    assert.deepEqual(await range(plot), [0, trace.duration_s]);
    const shownLines = new Set((await linesOf(plot)).map(({ quantity }) => quantity));
    for (const { name } of trace.lines) {
      if (!["lost", "marked", "state", "app_limited", "limited_by", "blocked"].includes(name)) assert.ok(shownLines.has(name), `${trace.name}: ${name}`);
    }
    const caption = await page.locator(`#trace-${i} figcaption`).textContent();
    assert.match(caption, /seconds;.*window.*RTT/);
    assert.equal(await plot.getAttribute("aria-describedby"), await page.locator(`#trace-${i} figcaption`).getAttribute("id"));
  }
  assert.equal(await overflow(page), 0);
}));

test("lines hold the extremes of the trace's values", () => opened({}, async (page) => {
  const plot = await figureOf(page);
  const [from, to] = await range(plot);
  for (const { quantity, y, points } of await linesOf(plot)) {
    const values = (await pointsOf(page, 0, quantity, from, to)).map(([, value]) => value);
    const scale = /rtt|rate|sent|delivered|received/.test(quantity) ? 1e-6 : 1e-3;
    assert.ok(Math.abs(Math.max(...y) - Math.max(...values) * scale) < 1e-9 && Math.abs(Math.min(...y) - Math.min(...values) * scale) < 1e-9, quantity);
    assert.ok(points <= 3 * 1200 + 10, `${quantity}: ${points} points`);
  }
}));

test("what holds in a lane is drawn for as long as it is measured", () => opened({}, async (page) => {
  const { traces } = await page.evaluate(() => JSON.parse(document.getElementById("traces").textContent));
  let lanes = 0;
  for (const [i, trace] of traces.entries()) {
    const plot = await figureOf(page, `#trace-${i}`);
    const drawn = await plot.evaluate((element) => {
      const { figure } = element;
      const all = figure.spec.panels.flatMap((panel) => panel.lanes ?? []).filter(({ kind, data }) => kind === "spans" && data);
      const columns = Math.round(figure.columns / 2);
      return { column: (figure.view[1] - figure.view[0]) / columns, lanes: all.map(({ key, data }) => [key, data.spans(...figure.view, columns)]) };
    });
    for (const [key, spans] of drawn.lanes) {
      const time = (value) => spans.filter((span) => span[0] === value).reduce((sum, [, from, to]) => sum + to - from, 0);
      const all = spans.filter(([value]) => value >= 0).reduce((sum, [, from, to]) => sum + to - from, 0);
      const near = (seconds, measured, what) => assert.ok(Math.abs(seconds - measured) <= 3.1 * drawn.column, `${trace.name}: ${what}: ${seconds} s drawn, ${measured} s measured`);
      if (key === "state") trace.time_in_states_s.forEach(([name, measured]) => near(time(trace.states.indexOf(name)), measured, name));
      if (key === "app_limited") near(time(1), trace.measures.app_limited_percent / 100 * all, "app-limited");
      if (key === "limited_by") trace.limits.forEach((name, by) => near(time(by), trace.measures[`limited_by_${name.replace(" ", "_")}_percent`] / 100 * all, `limited by ${name}`));
      lanes += 1;
    }
  }
  assert.ok(lanes >= 2 * traces.length, `${lanes} lanes`);
}));

test("a million events: soon there, few points drawn, and every event on zooming in", () => million({}, async (page) => {
  const begun = await page.evaluate(() => performance.timeOrigin);
  const plot = await figureOf(page);
  const ready = await page.evaluate((origin) => Date.now() - origin, begun);
  const events = Number(process.env.EVENTS);
  assert.ok(events >= 1_000_000, `${events} events`);
  // The aim is 5 s on an idle machine of two cores; a busy one must stay below this.
  assert.ok(ready < 30_000, `ready after ${ready} ms`);
  const whole = await range(plot);
  const drawn = await linesOf(plot);
  const all = await page.evaluate(() => JSON.parse(document.getElementById("traces").textContent).traces[0].lines);
  assert.ok(all.every(({ points, values }) => points === values), "nothing left out");
  assert.ok(Math.max(...all.map(({ points }) => points)) > 300_000);
  assert.ok(drawn.every(({ points }) => points < 4000), "few points of each line");
  assert.ok(drawn.some(({ raw }) => !raw), "thinned at first");
  await shot(page, "million-whole");
  let slowest = 0;
  const [low, high] = [10, 10.02];
  for (const [from, to] of [[5, 20], [9, 12], [low, high]]) {
    const began = Date.now();
    await redrawn(plot, () => plot.evaluate((element, wanted) => { element.figure.show(...wanted); }, [from, to]));
    slowest = Math.max(slowest, Date.now() - began);
  }
  for (const { quantity, raw, x, y, points } of await linesOf(plot)) {
    assert.ok(raw, `${quantity} is drawn point by point`);
    const scale = /rtt|rate|sent|delivered|received/.test(quantity) ? 1e-6 : 1e-3;
    const within = x.map((time, i) => [time, y[i]]).slice(0, points).filter(([time]) => time >= low && time <= high);
    const expected = await pointsOf(page, 0, quantity, low, high);
    assert.equal(within.length, expected.length, quantity);
    within.forEach(([time, value], i) => assert.ok(Math.abs(time - expected[i][0]) < 1e-9 && Math.abs(value - expected[i][1] * scale) < 1e-6, `${quantity}, point ${i}`));
  }
  assert.ok((await linesOf(plot)).some(({ points }) => points > 100), "single packets");
  await shot(page, "million-zoomed");
  await redrawn(plot, () => page.getByRole("button", { name: "Whole run" }).click());
  assert.deepEqual(await range(plot), whole);
  console.log(`# ${events} events: ready after ${ready} ms, slowest zoom ${slowest} ms, page of ${(await page.content()).length} letters`);
}));

test("events without packets stand in the page, in the times shown, and words find them", () => opened({}, async (page) => {
  const plot = await figureOf(page);
  const held = JSON.parse(await unpacked(page, "events-0"));
  assert.ok(held.length > 100 && held.every(([, name]) => !/packet_(sent|received)$/.test(name)));
  await page.locator("#trace-0 .events summary").click();
  const says = (text) => page.waitForFunction((start) => document.querySelector("#trace-0 .events .hint").textContent.startsWith(start), text);
  const events = (count) => `${new Intl.NumberFormat("en").format(count)} event`;
  await says(events(held.length));
  const [from, to] = [held[40][0], held[60][0]];
  await plot.evaluate(({ figure: shown }, times) => shown.show(...times), [from, to]);
  const within = held.filter(([time]) => time >= from && time <= to);
  await says(events(within.length));
  const rows = await page.locator("#trace-0 .events tbody tr").evaluateAll((all) => all.map((row) => row.querySelectorAll("td")[0].textContent));
  assert.deepEqual(rows, within.slice(0, 300).map(([, name]) => name));
  await plot.evaluate(({ figure: shown }) => shown.showAll());
  await page.locator("#trace-0 .events input[type=search]").fill("lost");
  await says(events(held.filter((row) => row.slice(1).join(" ").toLowerCase().includes("lost")).length));
  assert.equal(await page.locator("#trace-0 .events input[type=checkbox]").count(), 0, "those of packets are in the list of packets");
  await page.setViewportSize(PHONE);
  assert.ok(await overflow(page) <= 0);
}));

test("dragging zooms all panels, double-clicking shows all again", () => opened({}, async (page) => {
  const plot = await figureOf(page);
  const whole = await range(plot);
  const box = await boxOf(plot, 1);
  const y = box.y + box.height / 2;
  await redrawn(plot, async () => {
    await page.mouse.move(box.x + box.width * 0.25, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, y, { steps: 8 });
    await page.mouse.up();
  });
  const [low, high] = await range(plot);
  assert.ok(Math.abs(low / whole[1] - 0.25) < 0.03 && Math.abs(high / whole[1] - 0.5) < 0.03, `${low} to ${high}`);
  // On a busy machine two clicks may come too far apart to be a double one.
  for (let tries = 0; tries < 10 && (await range(plot))[0] !== 0; tries += 1) {
    await page.waitForTimeout(500);
    // Firefox’s driver makes two clicks of it.
    if (FIREFOX) await plot.locator(".panel-picture").nth(1).dispatchEvent("dblclick"); else await page.mouse.dblclick(box.x + box.width * 0.6, y);
    await page.waitForTimeout(500);
  }
  assert.deepEqual(await range(plot), whole);
}));

test("the values under the pointer stand in the legends of all panels", () => opened({}, async (page) => {
  const plot = await figureOf(page);
  const box = await boxOf(plot, 1);
  const { height } = await plot.boundingBox();
  await page.mouse.move(box.x + box.width * 0.4, box.y + box.height / 2);
  await page.mouse.move(box.x + box.width * 0.5, box.y + box.height / 2, { steps: 4 });
  await plot.locator(".value", { hasText: /\d/ }).first().waitFor();
  const time = await plot.evaluate((element) => element.figure.cursor);
  const entries = await plot.locator(".panel-head li").evaluateAll((all) => all.map((entry) => entry.textContent));
  const cwnd = (await pointsOf(page, 0, "congestion_window", 0, time)).at(-1)[1];
  assert.ok(entries.includes(`congestion window${(cwnd / 1000).toFixed(1)} kB`), entries.join("\n"));
  assert.ok(entries.some((text) => /^smoothed[\d.]+ ms$/.test(text)), entries.join("\n"));
  assert.ok(entries.some((text) => /^goodput[\d.]+ Mbit\/s$/.test(text)), entries.join("\n"));
  assert.equal((await plot.boundingBox()).height, height, "nothing moves");
  await shot(page, "traces-hover");
}));

test("a wild value does not flatten its panel, and is stated and shown on demand", () => opened({}, async (page) => {
  const plot = await figureOf(page);
  const rtt = (element) => {
    const { figure } = element;
    const panel = figure.panels.find(({ panel: { title } }) => title.startsWith("Round-trip"));
    return { texts: [...panel.picture.querySelectorAll("text")].map(({ textContent }) => textContent), beyond: figure.beyond };
  };
  const button = page.getByRole("button", { name: "Wild values" }).first();
  assert.ok(!(await plot.evaluate(rtt)).beyond && await button.isHidden(), "none is");
  await redrawn(plot, () => plot.evaluate((element) => {
    const line = element.figure.spec.panels.flatMap(({ lines }) => lines ?? []).find(({ key }) => key === "latest_rtt");
    line.data.values[Math.floor(line.data.length / 2)] = 9e10;
    line.data.blocks = null;
    element.figure.draw();
  }));
  const tamed = await plot.evaluate(rtt);
  assert.ok(tamed.beyond && tamed.texts.some((text) => /^values beyond, up to 90,000 ms$/.test(text)), tamed.texts.join(" "));
  await redrawn(plot, () => button.click());
  const whole = await plot.evaluate(rtt);
  assert.ok(!whole.beyond && whole.texts.some((text) => Number(text.replaceAll(",", "")) >= 80_000), whole.texts.join(" "));
}));

test("losses stand on the window, and are counted in the head", () => opened({}, async (page) => {
  const plot = await figureOf(page);
  const lost = await pointsOf(page, 0, "lost", 0, 1e9);
  assert.ok(lost.length > 3);
  const marks = await plot.evaluate((element) => element.figure.drawn.find(({ key, kind }) => key === "lost" && kind === "mark"));
  assert.equal(marks.by.reduce((sum, by) => sum + by, 0), lost.at(-1)[1]);
  assert.match(await page.locator("#trace-0 .facts").textContent(), new RegExp(`${lost.at(-1)[1]} of [\\d,]+ packets lost \\(`));
}));

test("samples of the round-trip time are dots, and its axis does not begin at 0 where that flattens it", () => opened({}, async (page) => {
  const plot = await figureOf(page);
  const { kind } = (await linesOf(plot)).find(({ quantity }) => quantity === "latest_rtt");
  assert.equal(kind, "samples");
  const texts = await plot.locator(".panel-picture").nth(1).locator("text").allTextContents();
  assert.ok(texts.map(Number).every((value) => value > 10), texts.join(" "));
}));

test("the keyboard reaches the figure, moves and zooms it, and hides lines", () => opened({}, async (page) => {
  const plot = await figureOf(page);
  const whole = await range(plot);
  await page.locator("#trace-0 .range input").first().focus();
  for (let stops = 0; stops < 40 && !(await plot.evaluate((element) => element === document.activeElement)); stops += 1) await page.keyboard.press("Tab");
  assert.ok(await plot.evaluate((element) => element === document.activeElement), "Tab comes to the figure");
  await redrawn(plot, () => page.keyboard.press("+"));
  const [low, high] = await range(plot);
  assert.ok(Math.abs((high - low) / whole[1] - 0.5) < 1e-6);
  await redrawn(plot, () => page.keyboard.press("ArrowRight"));
  assert.ok((await range(plot))[0] > low);
  assert.match(await page.locator("#announce").textContent(), /Shown: [\d.]+ to [\d.]+ seconds/);
  await redrawn(plot, () => page.keyboard.press("0"));
  assert.deepEqual(await range(plot), whole);
  await redrawn(plot, async () => {
    // Firefox’s driver adds to what a field of numbers holds.
    await page.locator("#trace-0 .range input").first().evaluate((field) => { field.focus(); field.select(); });
    await page.keyboard.type("1");
    await page.keyboard.press("Enter");
  });
  assert.equal((await range(plot))[0], 1);
  const toggle = page.locator("#trace-0 .toggle", { hasText: "congestion window" });
  await toggle.focus();
  await redrawn(plot, () => page.keyboard.press("Enter"));
  assert.equal(await toggle.getAttribute("aria-pressed"), "false");
  assert.ok(!(await linesOf(plot)).some(({ quantity }) => quantity === "congestion_window"));
}));

test("the times shown can be read as a table", () => opened({}, async (page) => {
  const plot = await figureOf(page);
  await page.locator("#trace-0 summary", { hasText: "as a table" }).click();
  const rows = page.locator("#trace-0 [aria-label^='Values of'] tbody tr");
  await rows.first().waitFor();
  assert.equal(await rows.count(), 20);
  const cwnd = await pointsOf(page, 0, "congestion_window", 0, (await range(plot))[1]);
  const last = Number(await rows.last().locator("td").first().textContent());
  assert.ok(Math.abs(last - cwnd.at(-1)[1] / 1000) < 0.06, `${last}`);
}));

test("packets in the times shown are listed with their acknowledgement or loss, and filtered; streams have lanes", () => opened({}, async (page) => {
  const plot = await figureOf(page);
  assert.match(await plot.locator(".panel-head strong").last().textContent(), /^Streams: data sent/);
  await page.locator("#trace-0 .packets summary").click();
  const rows = page.locator("#trace-0 .packets tbody tr");
  await rows.first().waitFor();
  const lost = await pointsOf(page, 0, "lost", 0, 1e9);
  await page.locator("#trace-0 .packets input").fill("sent lost");
  await page.waitForFunction((count) => document.querySelectorAll("#trace-0 .packets tbody tr").length === count, Math.min(300, lost.at(-1)[1]));
  assert.match(await rows.first().textContent(), /1RTT.*STREAM \d+: \d+ to \d+.*lost at [\d.]+ s/);
  await page.locator("#trace-0 .packets input").fill("");
  await redrawn(plot, () => plot.evaluate((element) => { element.figure.show(2, 2.1); }));
  const times = (await rows.locator("th").allTextContents()).map(Number);
  assert.ok(times.length > 10 && times.every((time) => time >= 2 && time <= 2.1), times.join(" "));
  const texts = await rows.allTextContents();
  assert.ok(texts.some((text) => /acknowledged at [\d.]+ s by packet \d+/.test(text)), texts[0]);
  assert.ok(texts.some((text) => /received.*ACK/.test(text)), texts[0]);
  await shot(page, "packets");
}));

for (const [device, options] of Object.entries({ desktop: {}, phone: { viewport: PHONE, isMobile: true, hasTouch: true } })) {
  test(`traces, ${device}: readable in light and dark, no sideways scrolling`, () => opened(options, async (page) => {
    const plot = await figureOf(page);
    const ink = () => plot.evaluate((element) => [["text", "fill"], [".gridline", "stroke"], [".line", "stroke"]].map(([part, property]) => getComputedStyle(element.querySelector(part === "text" ? "svg.panel-picture text" : part))[property]));
    let before = null;
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      await page.waitForTimeout(400);
      await assertReadable(page, colorScheme);
      const now = await ink();
      before?.forEach((colour, i) => assert.notEqual(now[i], colour, "the figure follows the scheme"));
      before = now;
      assert.ok(await overflow(page) <= 0);
      await shot(page, `traces-${device}-${colorScheme}`);
    }
  }));
}

test("traces: every control has a name", () => opened({}, assertNamed));
test("a comparison: every control has a name", () => comparison({}, assertNamed));

for (const [what, open] of [["traces", opened], ["comparison", comparison]]) {
  test(`${what}: printed with every figure, on white`, () => open({ colorScheme: "dark" }, async (page) => {
    // Nothing is scrolled to: what is not in view has to be ready, too.
    await page.waitForSelector("html[data-loaded=all]", { state: "attached" });
    await page.pdf({ format: "A4", ...(process.env.SHOTS ? { path: `${process.env.SHOTS}/${what}.pdf` } : {}) });
    assert.equal(await undrawn(page), 0);
    // Firefox’s driver cannot show what is printed.
    if (FIREFOX) return;
    // The width of A4, landscape, between a browser's margins.
    await page.setViewportSize({ width: 1040, height: 700 });
    await page.emulateMedia({ media: "print" });
    for (const table of await page.locator(":is(#summary, #each) .table").all()) {
      assert.ok(await table.evaluate((box) => box.querySelector("table").offsetWidth <= document.documentElement.clientWidth), "a table wider than the paper");
      const broken = await table.locator("tbody td").evaluateAll((cells) => cells.filter((cell) => getComputedStyle(cell).whiteSpace !== "nowrap").length);
      assert.equal(broken, 0, "numbers are not broken");
    }
  }));
}

test("a comparison shows differences, intervals, and all traces over each other", () => comparison({}, async (page) => {
  const { comparison: compared, group_of: groups } = await page.evaluate(() => JSON.parse(document.getElementById("comparison").textContent));
  const rows = await page.locator("#differences tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  for (const row of compared.rows.filter(({ metric }) => metric === "goodput_mbps")) {
    const shownRow = rows.find(([measure, group]) => measure.startsWith("Goodput") && group === row.group);
    assert.equal(shownRow[2], String(row.repetitions));
    assert.equal(shownRow[3], row.mean.toFixed(3));
    if (row.group === compared.baseline) assert.equal(shownRow[5], "baseline");
    else if (row.repetitions > 1) assert.match(shownRow[7], /^[+-]?[\d.]+ … [+-]?[\d.]+$/);
  }
  const plot = await figureOf(page, "#overlay");
  const names = new Set((await plot.evaluate((element) => element.figure.drawn.map(({ name }) => name))));
  assert.equal(names.size, groups.length, "a name for each trace");
  const toggle = page.locator("#overlay .toggle").first();
  await redrawn(plot, () => toggle.click());
  const left = new Set((await plot.evaluate((element) => element.figure.drawn.map(({ name }) => name))));
  assert.equal(left.size, groups.filter((group) => group !== compared.groups[0]).length);
  await redrawn(plot, () => toggle.click());
  await shot(page, "comparison-overlay");
  await page.evaluate(() => scrollTo(0, 0));
  await page.waitForTimeout(300);
  await shot(page, "comparison-top");
  await page.locator("#differences .plot").evaluate((element) => element.scrollIntoView({ block: "center" }));
  await page.waitForTimeout(300);
  await shot(page, "comparison-differences");
}));

test("lines of which not every value is on the page are named", async () => {
  const directory = mkdtempSync(join(tmpdir(), "windlass-"));
  try {
    const file = join(directory, "thinned.html");
    const line = /"name":"congestion_window","points":(\d+),"values":\d+/;
    const html = readFileSync(process.env.TRACES, "utf8");
    assert.match(html, line);
    writeFileSync(file, html.replace(line, '"name":"congestion_window","points":$1,"values":1234567'));
    await inBrowser({ file }, async (page) => {
      const note = page.locator("#trace-0 .note", { hasText: "Not every value is on this page" });
      assert.match(await note.textContent(), /congestion window \(1\D?234\D?567 values, [\d\D]+ points\) it holds the least and the largest/);
      assert.equal(await page.locator("#trace-1 .note", { hasText: "Not every value" }).count(), 0);
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
});
