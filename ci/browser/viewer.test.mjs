// The page that reads traces and runs scenarios, opened from disk in headless Chromium.
//
// VIEWER is the page, WINDLASS the command line whose numbers it must show, TRACES directories of
// traces, separated by colons; LONG, if set, a trace of more than 200 MB; SHOTS, if set, a
// directory for screenshots.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import { deflateRawSync } from "node:zlib";
import { assertNamed, assertReadable, inBrowser, overflow, PHONE, shot, undrawn } from "./page.mjs";

const { VIEWER, WINDLASS, TRACES, LONG } = process.env;
const READY = "html[data-ready]";
const viewer = (options, body) => inBrowser({ file: VIEWER, ready: READY, ...options }, body);
const traces = TRACES.split(":").flatMap((directory) => readdirSync(directory).filter((name) => !name.endsWith(".md")).sort().map((name) => join(directory, name)))
  // As the page orders them.
  .sort((one, other) => new Intl.Collator("en", { numeric: true }).compare(basename(one), basename(other)));
const own = (name) => traces.find((path) => basename(path) === name);
const work = mkdtempSync(join(tmpdir(), "windlass-viewer-"));
after(() => rmSync(work, { recursive: true }));

const windlass = (cwd, ...args) => spawnSync(WINDLASS, args, { cwd, encoding: "utf8", maxBuffer: 1 << 30 });

/** Opens files and waits until all are read. */
async function open(page, files) {
  await page.setInputFiles("#choose", files);
  await page.waitForFunction((count) => document.querySelectorAll("#files li").length === count && !document.querySelector("#files progress"), files.length, { timeout: 300_000 });
}

/** The text of the file that pressing a button offers. */
const saved = async (page, button) => (await offered(page.getByRole("button", { name: button }))).bytes.toString("utf8");

/** The file that pressing a button offers: its name and bytes. */
async function offered(button) {
  const [download] = await Promise.all([button.page().waitForEvent("download"), button.click()]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

const figure = (page, section) => page.locator(`${section} .plot`);

test("every recorded trace measures as on the command line, or is refused for the same reason", () => viewer({}, async (page) => {
  assert.ok(traces.length >= 15, `${traces.length} traces`);
  await open(page, traces);
  const expected = traces.map((path) => windlass(dirname(path), "qlog", "metrics", "--format", "json", basename(path)));
  const readable = traces.filter((_, i) => expected[i].status === 0);
  assert.ok(readable.length >= 15, `${readable.length} can be read`);
  const lines = (await saved(page, /Save all measures/)).trim().split("\n");
  const ours = expected.filter(({ status }) => status === 0).flatMap(({ stdout }) => stdout.trim().split("\n"));
  assert.equal(lines.length, ours.length);
  lines.forEach((line, i) => assert.equal(line, ours[i]));
  const rows = page.locator("#files li");
  for (const [i, path] of traces.entries()) {
    const status = await rows.nth(i).locator(".status").textContent();
    if (expected[i].status === 0) assert.match(status, /^[\d,]+ events? in [\d.]+ s · .* · memory: [\d.]+ MB to read, [\d.]+ [kM]B for figures$/, path);
    else assert.ok(expected[i].stderr.includes(status), `${path}: ${status}, the command line: ${expected[i].stderr}`);
  }
  // What the command line doubts, the page does.
  const doubts = expected.filter(({ status }) => status === 0).flatMap(({ stderr }) => stderr.trim().split("\n").filter(Boolean));
  assert.equal(await page.locator("#files .note").count(), doubts.length, doubts.join("\n"));
  await shot(page, "viewer-traces");
}));

test("a trace that is dropped is drawn, from either view, and can be removed", () => viewer({ hash: "#playground" }, async (page) => {
  await played(page);
  const name = "ietf-quinn.sqlog.gz";
  const bytes = readFileSync(own(name)).toString("base64");
  await page.evaluate(([text, called]) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))], called));
    for (const type of ["dragenter", "dragover", "drop"]) document.body.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
  }, [bytes, name]);
  await page.waitForSelector("#trace-1-0 .panel-picture .line", { timeout: 30_000 });
  assert.equal(await page.locator("body").getAttribute("data-view"), "traces");
  assert.equal(await page.locator("#overlay").count(), 0, "one trace is not overlaid");
  await page.getByRole("button", { name: `Remove ${name}` }).click();
  assert.equal(await page.locator("section[id^=trace-]").count() + await page.locator("#summary").count(), 0);
}));

test("two traces are drawn over each other, each can be hidden", () => viewer({}, async (page) => {
  await open(page, [own("ietf-simulator.sqlog"), own("03-quinn.sqlog")]);
  const plot = figure(page, "#overlay");
  await plot.scrollIntoViewIfNeeded();
  await page.waitForFunction(() => document.querySelector("#overlay .plot").figure.drawn.length > 0);
  const drawn = () => plot.evaluate(({ figure: { drawn } }) => [...new Set(drawn.map(({ name }) => name))].sort());
  assert.deepEqual(await drawn(), ["03-quinn", "ietf-simulator"]);
  await shot(page, "viewer-overlay");
  await page.locator("#overlay .tools .toggle", { hasText: "ietf-simulator" }).click();
  assert.deepEqual(await drawn(), ["03-quinn"]);
  const [first, second] = await page.locator("#summary tbody th").allTextContents();
  assert.deepEqual([first, second], ["03-quinn", "ietf-simulator"], "in the order of their names");
}));

/** A trace of `events`, each `[ms, name, data]`. */
function written(name, vantage, events) {
  const header = { file_schema: "urn:ietf:params:qlog:file:sequential", serialization_format: "application/qlog+json-seq", trace: { vantage_point: { type: vantage } } };
  const path = join(work, name);
  writeFileSync(path, [header, ...events.map(([time, event, data]) => ({ time, name: event, data }))].map((record) => `\x1e${JSON.stringify(record)}\n`).join(""));
  return path;
}

const packet = (number, frames = []) => ({ header: { packet_type: "1RTT", packet_number: number }, raw: { length: 1200 }, frames });

test("packets are listed and streams drawn; packets beyond those that are held are read again", () => viewer({}, async (page) => {
  const count = 70_000;
  const sent = Array.from({ length: count }, (_, i) => [i, "quic:packet_sent", packet(i, [{ frame_type: "stream", stream_id: 4 * (i % 2), offset: 600 * i, raw: { length: 600 } }])]);
  const late = [[count + 10, "quic:packet_received", packet(7, [{ frame_type: "ack", acked_ranges: [[count - 5]] }, { frame_type: "max_data", maximum: 9 }])],
    [count + 20, "quic:packet_lost", { header: { packet_type: "1RTT", packet_number: count - 6 }, trigger: "time_threshold" }]];
  // Many files share the room for packets.
  const others = Array.from({ length: 63 }, (_, i) => written(`other-${i}.sqlog`, "server", [[0, "quic:packet_sent", packet(0)]]));
  await open(page, [written("many.sqlog", "server", [...sent, ...late]), ...others]);
  const plot = figure(page, "#trace-1-0");
  await plot.locator(".panel-head strong", { hasText: /^Streams: data sent.*holds packets up to 65\.5\d s$/ }).waitFor();
  await page.locator("#trace-1-0 .packets summary").click();
  const rows = page.locator("#trace-1-0 .packets tbody tr");
  const hint = page.locator("#trace-1-0 .packets .hint");
  await page.waitForFunction(() => /70,002 packets|first 300/.test(document.querySelector("#trace-1-0 .packets .hint").textContent), null, { timeout: 60_000 });
  await plot.evaluate(({ figure: shown }) => shown.show(69.9895, 70.02));
  await page.waitForFunction(() => document.querySelectorAll("#trace-1-0 .packets tbody tr").length === 11, null, { timeout: 60_000 });
  assert.match(await hint.textContent(), /^11 packets\.$/);
  const texts = await rows.allTextContents();
  assert.match(texts[4], /sent.*69994.*lost at 70\.02\d* s \(time threshold\)/);
  assert.match(texts[5], /sent.*69995.*STREAM 4: \d+ to \d+.*acknowledged at 70\.01\d* s by packet 7/);
  assert.match(texts[10], /received.*ACK.*MAX_DATA/);
  await page.locator("#trace-1-0 .packets input").fill("max_data");
  await page.waitForFunction(() => document.querySelectorAll("#trace-1-0 .packets tbody tr").length === 1);
  await page.locator("#trace-1-0 .packets input").fill("");
  await page.waitForFunction(() => document.querySelectorAll("#trace-1-0 .packets tbody tr").length === 11);
  await shot(page, "viewer-packets");
  // Back where packets are held, nothing is read.
  await plot.evaluate(({ figure: shown }) => shown.show(0.0005, 0.0105));
  await page.waitForFunction(() => /^10 packets\.$/.test(document.querySelector("#trace-1-0 .packets .hint").textContent));
  await page.setViewportSize(PHONE);
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(200);
    await assertReadable(page, colorScheme);
    assert.ok(await overflow(page) <= 0);
    await page.locator("#trace-1-0 .packets").evaluate((list) => list.scrollIntoView({ block: "center" }));
    await shot(page, `viewer-packets-phone-${colorScheme}`);
  }
}));

/** A trace of `count` packets sent, one a ms and each acknowledged 40 ms later but for every 100th, which is lost 60 ms later; packet 1500 carries stream 4 as every fourth does. */
function findable(name, count) {
  const events = [];
  for (let i = 0; i < count; i += 1) {
    events.push([i, "quic:packet_sent", { ...packet(i, [{ frame_type: "stream", stream_id: 4 * (i % 4 === 0), offset: 600 * i, raw: { length: 600 } }]), raw: { length: 1000 + i % 300 } }]);
    if (i % 100 === 99) events.push([i + 60, "quic:packet_lost", { header: { packet_type: "1RTT", packet_number: i }, trigger: "time_threshold" }]);
    else events.push([i + 40, "quic:packet_received", { ...packet(i, [{ frame_type: "ack", acked_ranges: [[i]] }]), raw: { length: 40 } }]);
    events.push([i + 40, "quic:recovery_metrics_updated", { congestion_window: 20_000 + 10 * i, smoothed_rtt: 40 }]);
  }
  return written(name, "server", events.sort(([one], [other]) => one - other));
}

test("packets are found by a query over the whole trace, and mistakes are marked", () => viewer({}, async (page) => {
  await open(page, [findable("found.sqlog", 3000)]);
  const plot = figure(page, "#trace-1-0");
  await page.locator("#trace-1-0 .packets summary").click();
  const [input, outcome, mistake] = [page.locator("#trace-1-0 .packets input"), page.locator("#trace-1-0 .outcome"), page.locator("#trace-1-0 .mistake")];
  // What is shown has no say in what is found.
  await plot.evaluate(({ figure: shown }) => shown.show(0, 0.1));
  const asked = async (query, answer) => {
    await input.fill(query);
    await page.waitForFunction((text) => document.querySelector("#trace-1-0 .outcome").textContent.startsWith(text), `${answer} of 5,970 packets match`);
  };
  await asked("pn=1500 and sent", "1");
  await asked("stream=4", "750");
  await asked("lost", "30");
  await asked("size>1200 and t=2.2..2.3995 and not received", "99");
  await asked("frame=ack or (lost and size<1100)", "2,980");
  // The lane of what was found.
  await asked("lost", "30");
  const found = () => plot.evaluate(({ figure: shown }) => shown.spec.panels.flatMap(({ lanes }) => lanes ?? []).find(({ key }) => key === "found")?.data.length);
  assert.equal(await found(), 30);
  // A mistake is marked where it stands, and what was found stays.
  await input.fill("lost and <b>pm=4");
  await page.waitForFunction(() => !document.querySelector("#trace-1-0 .mistake").hidden);
  assert.equal(await page.locator("#trace-1-0 .marks mark").textContent(), "<");
  await input.fill("lost and pm=4");
  await page.waitForFunction(() => document.querySelector("#trace-1-0 .marks mark")?.textContent === "pm");
  assert.match(await mistake.textContent(), /“pm” is no field; there are pn, size/);
  assert.equal(await input.getAttribute("aria-invalid"), "true");
  assert.equal(await found(), 30);
  await input.fill("frame=");
  await page.waitForFunction(() => [...document.querySelectorAll("#trace-1-0 datalist option")].some(({ value }) => value === "frame=max_data"));
  // Enter goes on from match to match, wherever those are.
  await asked("lost", "30");
  assert.ok(await outcome.isVisible() && await mistake.isHidden());
  await input.press("Enter");
  await input.press("Enter");
  await page.waitForFunction(() => /^Packet 199: sent at 0\.199000 s; 1RTT; 1199 bytes; STREAM 0: 119400 to 120000; lost at 0\.259000 s \(time threshold\)/.test(document.querySelector("#trace-1-0 .chosen").textContent));
  const [from, to] = await plot.evaluate(({ figure: { view } }) => view);
  assert.ok(from < 0.199 && to > 0.199 && Math.abs(to - from - 0.1) < 1e-9, `${from} to ${to}`);
  await input.fill("");
  await page.waitForFunction(() => document.querySelector("#trace-1-0 .outcome").textContent === "");
  assert.equal(await found(), undefined);
  await shot(page, "viewer-found");
}));

test("a row, a loss mark and a curve lead to each other", () => viewer({}, async (page) => {
  await open(page, [findable("linked.sqlog", 3000)]);
  const plot = figure(page, "#trace-1-0");
  await page.locator("#trace-1-0 .packets summary").click();
  const chosen = (text) => page.waitForFunction((start) => document.querySelector("#trace-1-0 .chosen").textContent.startsWith(start), text);
  const picked = () => plot.evaluate(({ figure: shown }) => shown.picked);
  await plot.evaluate(({ figure: shown }) => shown.show(0.95, 1.15));
  const row = (number) => page.locator("#trace-1-0 .packets tbody tr", { hasText: new RegExp(`sent1RTT${number}1`) });
  // A row marks its packet in the figure: when it was sent, and when it was acknowledged.
  await row(1000).click();
  await chosen("Packet 1000: sent");
  assert.deepEqual((await picked()).map((time) => Number(time.toFixed(6))), [1, 1.04]);
  assert.equal(await row(1000).getAttribute("aria-current"), "true");
  await page.keyboard.press("ArrowDown");
  assert.equal(await page.locator("#trace-1-0 [aria-current=true]").count(), 1);
  // A loss mark leads to the packet that was lost.
  const at = (time) => plot.evaluate(({ figure: shown }, when) => {
    const box = shown.panels[0].picture.getBoundingClientRect();
    return { x: box.left + shown.across(when), y: box.top, height: shown.panels[0].height };
  }, time);
  await plot.evaluate((element) => element.scrollIntoView({ block: "start" }));
  await page.mouse.wheel(0, -200);
  await page.waitForTimeout(200);
  const mark = await page.locator("#trace-1-0 path.mark").boundingBox();
  const { x } = await at(1.059);
  assert.ok(x > mark.x - 1 && x < mark.x + mark.width + 1, `${x} in ${mark.x} to ${mark.x + mark.width}`);
  await page.mouse.click(x, mark.y + mark.height / 2);
  await chosen("Packet 999: sent at 0.999000 s");
  assert.equal(await row(999).getAttribute("aria-current"), "true");
  // A curve leads to the packet next to where it was pressed.
  const place = await at(1.1001);
  await page.mouse.click(place.x, place.y + place.height / 3);
  await page.waitForFunction(() => /^Packet (1100|1060): (sent|received) at 1\.100000 s/.test(document.querySelector("#trace-1-0 .chosen").textContent));
  // The keyboard does the same.
  await plot.focus();
  for (let i = 0; i < 3; i += 1) await page.keyboard.press("Shift+ArrowLeft");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => !/at 1\.100000 s/.test(document.querySelector("#trace-1-0 .chosen").textContent));
  await shot(page, "viewer-chosen");
  await page.getByRole("button", { name: "Choose no packet" }).click();
  assert.deepEqual(await picked(), []);
}));

test("the sequence of packets has a line for each, a band where they are too close, and every loss", () => viewer({}, async (page) => {
  await open(page, [findable("sequence.sqlog", 3000)]);
  const plot = figure(page, "#trace-1-0");
  await plot.scrollIntoViewIfNeeded();
  await plot.locator(".panel-head strong", { hasText: /^Sequence of packets, as if each way took half the smoothed round trip$/ }).waitFor();
  const sequence = async (from, to) => {
    await plot.evaluate(({ figure: shown }, view) => { shown.show(...view); shown.draw(); }, [from, to]);
    return plot.evaluate(({ figure: { drawn } }) => drawn.find(({ kind }) => kind === "sequence"));
  };
  // Where there is room, each packet is a line: those of 0.1 s, and those whose lines reach into it within 20 ms.
  const near = await sequence(1, 1.1);
  assert.equal(near.single, near.packets);
  assert.ok(near.packets >= 200 && near.packets <= 290, JSON.stringify(near));
  assert.ok(near.losses >= 1 && near.losses <= 2);
  const index = await plot.evaluate(({ figure: shown }) => shown.spec.panels.findIndex(({ draw }) => draw));
  const lines = (colour) => plot.locator(".panel-picture").nth(index).locator(`path.line[style*="${colour}"]`).evaluateAll((all) => all.map((path) => path.getAttribute("d")).join(""));
  // A lost packet's line ends halfway with a cross; the others go from one end to the other.
  const loss = (await lines("loss")).match(/M([\d.-]+) 8L([\d.-]+) 65M/);
  const across = (time) => plot.evaluate(({ figure: shown }, when) => shown.across(when), time);
  assert.ok(Math.abs(Number(loss[1]) - await across(0.999)) < 0.2 || Math.abs(Number(loss[1]) - await across(1.099)) < 0.2, loss[0]);
  assert.ok(Math.abs((Number(loss[2]) - Number(loss[1])) - (await across(0.01) - await across(0))) < 0.2, "half of 20 ms");
  const [leaves, arrives] = [await across(1.05), await across(1.07)].map((x) => Math.round(10 * x) / 10);
  assert.ok((await lines("line-1")).split("M").includes(`${leaves} 8L${arrives} 122`), `${leaves} to ${arrives}`);
  await shot(page, "viewer-sequence");
  // A line leads to its packet.
  await plot.locator(".panel-picture").nth(index).evaluate((picture) => picture.scrollIntoView({ block: "center" }));
  const box = await plot.locator(".panel-picture").nth(index).boundingBox();
  await page.mouse.click(box.x + await across(1.055), box.y + 8 + 57 / 2);
  await page.waitForFunction(() => /^Packet \d+: (sent at 1\.05|received at 1\.06)/.test(document.querySelector("#trace-1-0 .chosen").textContent));
  // The whole is a few bands, and all losses.
  const far = await sequence(0, 3.1);
  assert.equal(far.packets, 5970);
  assert.equal(far.losses, 30);
  assert.ok(far.groups < 800, `${far.groups} groups`);
  assert.equal((await lines("loss")).match(/l6 6m0 -6l-6 6/g).length, 30);
}));

test("packetization shows the bytes of packets from the times shown, and leads to them", () => viewer({}, async (page) => {
  await open(page, [findable("bytes.sqlog", 3000)]);
  const plot = figure(page, "#trace-1-0");
  await page.locator("#trace-1-0 .packetization summary").click();
  const readout = page.locator("#trace-1-0 .packetization .readout");
  const says = (text) => page.waitForFunction((start) => document.querySelector("#trace-1-0 .packetization .readout").textContent.startsWith(start), text);
  // Packets of 1000 to 1015 bytes; each is a datagram, a packet, headers, a frame and a stream's data.
  await says("16 packets sent from 0.000000 s on, 16,120 bytes");
  assert.equal(await page.locator("#trace-1-0 .packetization .part").count(), 16 * 5);
  await plot.evaluate(({ figure: shown }) => shown.show(1, 1.2));
  await says("16 packets sent from 1.000000 s on");
  await page.locator("#trace-1-0 .packetization .part[data-part='6']").click();
  await page.waitForFunction(() => /^Packet 1001: sent/.test(document.querySelector("#trace-1-0 .chosen").textContent));
  assert.ok(await page.locator("#trace-1-0 .chosen-part").count() >= 4, "the whole packet is marked");
  await page.getByRole("button", { name: "Packets after" }).click();
  await says("16 packets sent from 1.016000 s on");
  await page.locator("#trace-1-0 .packetization select").first().selectOption("0");
  await says("16 packets received from 1.0");
  await page.locator("#trace-1-0 .packetization select").nth(1).selectOption("64");
  await says("64 packets received from 1.0");
  assert.match(await readout.textContent(), /bytes\.$/);
  await shot(page, "viewer-packetization");
}));

test("a figure is saved as SVG, as PNG and as CSV of what is drawn, named after its trace", () => viewer({}, async (page) => {
  await open(page, [findable("save d.sqlog", 3000)]);
  const plot = figure(page, "#trace-1-0");
  await plot.scrollIntoViewIfNeeded();
  await plot.evaluate(({ figure: shown }) => shown.show(1, 1.2));
  await page.waitForFunction(() => document.querySelector("#trace-1-0 .plot").figure.drawn.some(({ kind }) => kind === "sequence"));
  const button = (name) => page.locator("#trace-1-0 .range").getByRole("button", { name });
  const picture = await offered(button("Save the figure as SVG"));
  assert.equal(picture.name, "save-d-over-time.svg");
  assert.match(picture.bytes.toString(), /^<svg .*Window, kB.*Sequence of packets/s);
  assert.ok(!picture.bytes.toString().includes("var(--"));
  const bitmap = await offered(button("Save the figure as PNG"));
  assert.equal(bitmap.name, "save-d-over-time.png");
  assert.deepEqual([...bitmap.bytes.subarray(1, 4)], [...Buffer.from("PNG")]);
  const [wide, high] = [bitmap.bytes.readUInt32BE(16), bitmap.bytes.readUInt32BE(20)];
  assert.ok(wide > 2000 && high > 1000, `${wide} × ${high}`);
  if (process.env.SHOTS) writeFileSync(join(process.env.SHOTS, "viewer-saved.png"), bitmap.bytes);
  const table = await offered(button("Save what is drawn as CSV"));
  assert.equal(table.name, "save-d-over-time.csv");
  const [head, ...lines] = table.bytes.toString().trim().split("\n").map((line) => line.split(",").map((field) => field.replace(/^"|"$/g, "")));
  assert.deepEqual(head, ["panel", "line", "unit", "time_s", "until_s", "value"]);
  // The commas in titles are quoted: what follows is counted from the end.
  const of = (name) => lines.filter((fields) => fields.at(-5) === name).map((fields) => [Number(fields.at(-3)), Number(fields.at(-1))]);
  const window = of("congestion window");
  assert.deepEqual(window[0], [1, 29.6], "what holds when the times begin");
  const changes = window.slice(1).filter(([time]) => time < 1.2);
  assert.equal(changes.length, 199, "one a ms");
  assert.ok(changes.every(([time, value]) => Math.abs(value - (20 + 0.01 * (Math.round(time * 1000) - 40))) < 1e-9), JSON.stringify(changes.slice(0, 3)));
  assert.equal(lines.filter((fields) => fields.at(-5) === "sent" && fields[0].startsWith("Sequence")).length, 198, "200 packets, two of them lost");
  const lost = lines.filter((fields) => fields.at(-5) === "lost" && fields[0].startsWith("Sequence")).map((fields) => fields.map(Number).slice(-3));
  assert.deepEqual(lost, [[1.099, 1.119, 1099], [1.199, 1.219, 1199]], "leaves, would arrive, number");
  assert.ok(lines.every((fields) => Number(fields.at(-3)) >= 0.9 && Number(fields.at(-3)) <= 1.2));
}));

test("the address carries the view without the data, and gives it back", () => viewer({}, async (page) => {
  const path = findable("address.sqlog", 3000);
  await open(page, [path]);
  const plot = figure(page, "#trace-1-0");
  await plot.evaluate(({ figure: shown }) => shown.show(1, 1.25));
  await plot.evaluate((element) => element.scrollIntoView());
  await page.locator("#trace-1-0 .toggle", { hasText: "slow start" }).or(page.locator("#trace-1-0 .toggle", { hasText: "bytes in flight" })).first().click();
  await page.locator("#trace-1-0 .packets summary").click();
  await page.locator("#trace-1-0 .packets input").fill("lost");
  await page.waitForFunction(() => /^30 of/.test(document.querySelector("#trace-1-0 .outcome").textContent));
  await page.locator("#trace-1-0 .packets tbody tr").first().click();
  await page.waitForFunction(() => /row=\d+/.test(location.hash));
  const { hash } = new URL(page.url());
  assert.match(hash, /^#view\?trace=address&t=1\.\.1\.25&query=lost&row=\d+&hide=bytes_in_flight$/);
  const state = (at) => figure(at, "#trace-1-0").evaluate(({ figure: { view, hidden, picked } }) => ({ view: view.map((time) => Number(time.toFixed(6))), hidden: [...hidden], picked: picked.map((time) => Number(time.toFixed(6))) }));
  const before = await state(page);
  assert.deepEqual(before.picked, [0.999, 1.059].map((time) => time + 0.1 * Number(before.picked[0] > 1)));
  await viewer({ hash }, async (other) => {
    assert.match(await other.locator("#open .note").textContent(), /The address is a view of address: open it here/);
    await open(other, [path]);
    await other.waitForFunction(() => document.querySelector("#trace-1-0 .plot")?.figure.picked.length > 0);
    assert.deepEqual(await state(other), before);
    assert.equal(await other.locator("#trace-1-0 .packets input").inputValue(), "lost");
    assert.equal(new URL(other.url()).hash, hash);
    // Who shows all again, and asks for nothing, has nothing of that trace in the address.
    await other.locator("#trace-1-0").getByRole("button", { name: "Whole run" }).click();
    await other.waitForFunction(() => !/t=/.test(location.hash));
  });
}));

test("two traces are compared from their start, first data or handshake, with what changed most", () => viewer({}, async (page) => {
  /** A trace whose 1-RTT packets begin at `begin` ms, with data 50 ms later, and whose window is `more` bytes above the other's. */
  const trace = (name, begin, more) => written(name, "server", [
    [0, "quic:packet_sent", { ...packet(0), header: { packet_type: "initial", packet_number: 0 } }],
    ...Array.from({ length: 400 }, (_, i) => [
      [begin + i, "quic:packet_sent", packet(i, i < 50 ? [{ frame_type: "ping" }] : [{ frame_type: "stream", stream_id: 0, offset: 600 * i, raw: { length: 600 } }])],
      [begin + i, "quic:recovery_metrics_updated", { congestion_window: 20_000 + 100 * i + more, smoothed_rtt: 40 }],
    ]).flat(),
  ]);
  await open(page, [trace("first.sqlog", 100, 0), trace("second.sqlog", 300, 5000)]);
  const plot = figure(page, "#compared");
  await plot.evaluate((element) => element.scrollIntoView({ block: "center" }));
  const drawn = async (by) => {
    await page.locator("#compared select").nth(2).selectOption(by);
    await page.waitForFunction((label) => document.querySelector("#compared figcaption").textContent.includes(label), { start: "their start", data: "their first data", handshake: "their first 1-RTT" }[by]);
    await page.waitForFunction(() => document.querySelector("#compared .plot").figure.drawn.some(({ key }) => key === "difference congestion_window"));
    return plot.evaluate(({ figure: shown }) => { shown.draw(); const { x, y, name } = shown.drawn.find(({ key }) => key === "difference congestion_window"); return { x: [...x], y: [...y], name, whole: shown.spec.whole }; });
  };
  const at = ({ x, y }, time) => y[x.findLastIndex((each) => each <= time + 1e-9)];
  for (const [by, offset] of [["handshake", [0.1, 0.3]], ["data", [0.15, 0.35]]]) {
    const line = await drawn(by);
    assert.equal(line.name, "second less first");
    // From the same moment on the one is 5 kB above the other at any time.
    const shared = line.y.filter((_, i) => line.x[i] >= 0.1 - offset[0] + 1e-9 && line.x[i] < 0.399);
    assert.ok(shared.length > 200 && shared.every((value) => Math.abs(value - 5) < 1e-9), `${by}: ${Math.min(...shared)} to ${Math.max(...shared)}`);
    assert.ok(Math.abs(line.whole[0] + offset[1]) < 1e-9, `${line.whole}`);
  }
  const line = await drawn("start");
  assert.ok(Math.abs(at(line, 0.35) - (5 + 0.1 * 50 - 0.1 * 250)) < 1e-9, `${at(line, 0.35)}`);
  const rows = await page.locator("#compared tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  const window = rows.find(([name]) => name.startsWith("Window"));
  assert.ok(Math.abs(Number(window[2]) - Number(window[1]) - 5000) <= 1 && Math.abs(Number(window[3]) - 5000) <= 1, window.join(" "));
  const shares = rows.map((cells) => Math.abs(Number(cells[4])));
  assert.deepEqual(shares, [...shares].sort((one, other) => other - one), "what changed most comes first");
  await shot(page, "viewer-compared");
  // The other way round.
  await page.locator("#compared select").nth(0).selectOption({ label: "first" });
  await page.locator("#compared select").nth(1).selectOption({ label: "second" });
  await page.waitForFunction(() => document.querySelector("#compared .plot").figure.drawn.some(({ name }) => name === "first less second"));
}));

test("of sixty connections some are chosen from a list, and only those are built", () => viewer({}, async (page) => {
  const events = Array.from({ length: 1200 }, (_, i) => ({ time: i, name: "quic:packet_sent", group_id: `flow-${1 + i % 60}`, data: packet(i) }));
  const path = join(work, "sixty.sqlog");
  writeFileSync(path, [{ file_schema: "urn:ietf:params:qlog:file:sequential", serialization_format: "application/qlog+json-seq", trace: {} }, ...events].map((record) => `\x1e${JSON.stringify(record)}\n`).join(""));
  await open(page, [path]);
  const names = () => page.locator("#sections h2").allTextContents();
  const first = Array.from({ length: 8 }, (_, i) => `sixty#flow-${i + 1}`);
  assert.deepEqual(await names(), first, "the first ones, by the numbers in their names");
  assert.deepEqual(await page.locator("#summary tbody th").allTextContents(), Array.from({ length: 60 }, (_, i) => `sixty#flow-${i + 1}`));
  assert.match(await page.locator("#summary [role=status]").textContent(), /^8 of 60 connections are shown/);
  assert.ok(await page.evaluate(() => document.documentElement.scrollHeight) < 14_000);
  const overlaid = () => page.locator("#overlay .tools .toggle").allTextContents();
  assert.deepEqual(await overlaid(), first);
  // What is built stays as it is when others come and go.
  await figure(page, "#sections section:first-child").evaluate(({ figure: shown }) => shown.show(0.2, 0.4));
  await page.locator("#summary tbody tr", { hasText: /flow-59/ }).locator("input").check();
  await page.getByLabel("Show sixty#flow-2", { exact: true }).uncheck();
  const chosen = [first[0], ...first.slice(2), "sixty#flow-59"];
  assert.deepEqual(await names(), chosen);
  assert.deepEqual(await overlaid(), chosen);
  assert.deepEqual((await page.locator("#contents a:not(.view)").allTextContents()), chosen);
  assert.deepEqual(await figure(page, "#sections section:first-child").evaluate(({ figure: { view } }) => view.map((time) => Number(time.toFixed(6)))), [0.2, 0.4]);
  // A name leads to its section, which is built for that.
  await page.locator("#summary a", { hasText: /flow-60$/ }).click();
  assert.equal((await names()).at(-1), "sixty#flow-60");
  await page.getByRole("button", { name: "Show none" }).click();
  assert.deepEqual(await names(), []);
  assert.equal(await page.locator("#overlay").count(), 0);
  // Those that a filter leaves, in the order of a measure.
  await page.locator("#summary .filter input").fill("flow-4");
  await page.getByRole("button", { name: "Show all that are listed" }).click();
  assert.deepEqual(await names(), [4, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49].map((i) => `sixty#flow-${i}`));
  assert.equal((await overlaid()).length, 11);
  await shot(page, "viewer-sixty");
  // Every column can be scrolled to on a phone.
  await page.setViewportSize({ width: 390, height: 800 });
  assert.ok(await overflow(page) <= 0);
  const last = page.locator("#summary thead th").last();
  await page.locator("#summary .table").evaluate((box) => { box.scrollLeft = 1e6; });
  const [column, box] = [await last.boundingBox(), await page.locator("#summary .table").boundingBox()];
  assert.ok(column.x > box.x && column.x + column.width <= box.x + box.width + 1, JSON.stringify([column, box]));
  await shot(page, "viewer-sixty-phone");
}));

const requested = (stream, path) => ({ stream_id: stream, frame: { frame_type: "headers", headers: [{ name: ":method", value: "GET" }, { name: ":authority", value: "a" }, { name: ":path", value: path }] } });
const answered = (stream, status) => ({ stream_id: stream, frame: { frame_type: "headers", headers: [{ name: ":status", value: status }] } });

test("HTTP/3 requests are a waterfall", () => viewer({}, async (page) => {
  const events = [[0, "quic:packet_sent", packet(0)], [10, "http3:frame_created", requested(0, "/<b>first</b>")], [20, "http3:frame_created", requested(4, "/second")],
    [60, "h3:frame_parsed", answered(0, "200")], [70, "http:frame_parsed", { stream_id: 0, length: 5000, frame: { frame_type: "data" } }],
    [90, "quic:packet_received", packet(9, [{ frame_type: "stream", stream_id: 0, offset: 0, fin: true, raw: { length: 5050 } }])], [100, "http3:frame_parsed", answered(4, "404")]];
  await open(page, [written("requests.sqlog", "client", events)]);
  const rows = page.locator("#trace-1-0 .requests tbody tr");
  assert.equal(await page.locator("#trace-1-0 .requests summary").textContent(), "HTTP/3 requests (2)");
  assert.deepEqual(await rows.locator("th").allTextContents(), ["GET /<b>first</b>", "GET /second"]);
  assert.deepEqual(await rows.nth(0).locator("td").allTextContents(), ["", "0", "200", "0.0100", "50.00", "80.00", "–", "5,000"]);
  assert.deepEqual(await rows.nth(1).locator("td").allTextContents(), ["", "4", "404", "0.0200", "80.00", "80.00 …", "–", "–"]);
  const parts = await rows.nth(0).locator(".part").evaluateAll((all) => all.map(({ style }) => [parseFloat(style.left), parseFloat(style.width)]));
  assert.deepEqual(parts.map((part) => part.map(Math.round)), [[10, 50], [60, 30]], "waiting, response");
  // Zoomed in, only what is in the times shown.
  await figure(page, "#trace-1-0").evaluate(({ figure: shown }) => shown.show(0.095, 0.1));
  await page.waitForFunction(() => document.querySelectorAll("#trace-1-0 .requests tbody tr").length === 1);
  const netlog = own("chromium156-sample-small.netlog.json");
  if (netlog) {
    await page.setInputFiles("#choose", [netlog]);
    await page.waitForSelector("[id^=trace-2] .requests tbody tr");
    const rows = await page.locator("[id^=trace-2] .requests tbody tr").allTextContents();
    assert.equal(rows.length, 3);
    assert.match(rows[0], /^GET \/\?up=4000000200/);
    assert.match(rows[1], /^POST \/upload4200.*400,0006$/);
    await page.locator("[id^=trace-2] .requests").scrollIntoViewIfNeeded();
  } else console.log("# skipped: there is no recorded netlog with requests");
  await shot(page, "viewer-requests");
}));

test("what stands behind the events is honoured in a file that is read in pieces", () => viewer({}, async (page) => {
  const events = Array.from({ length: 30_000 }, (_, i) => `{"time":1,"name":"transport:packet_sent","data":${JSON.stringify(packet(i))}}`);
  const name = "behind.qlog";
  writeFileSync(join(work, name), `{"qlog_version":"0.3","qlog_format":"JSON","traces":[{"events":[${events.join(",")}],"common_fields":{"time_format":"delta"}}]}`);
  await open(page, [join(work, name)]);
  const expected = windlass(work, "qlog", "metrics", "--format", "json", name).stdout;
  assert.ok(Math.abs(JSON.parse(expected).measures.duration - 29.999) < 1e-6, expected);
  assert.equal(await saved(page, /Save all measures/), expected);
}));

test("what is no trace is refused with a reason, and two files of one name are distinguished", () => viewer({}, async (page) => {
  const [picture, cut] = [join(work, "picture.qlog"), join(work, "cut.sqlog.zst")];
  writeFileSync(picture, "\x89PNG and more");
  writeFileSync(cut, readFileSync(own("ietf-quinn.sqlog.zst")).subarray(0, 100));
  await open(page, [picture, cut, own("ietf-quinn.sqlog"), own("ietf-quinn.sqlog.gz")]);
  const [one, other] = ["cut.sqlog.zst", "picture.qlog"].map((name) => page.locator("#files li", { hasText: name }));
  assert.match(await other.locator(".status").textContent(), /^no qlog: /);
  assert.equal(await one.getAttribute("class"), "failed", await one.textContent());
  assert.deepEqual(await page.locator("#sections h2").allTextContents(), ["ietf-quinn", "ietf-quinn (2)"]);
}));

test("the keyboard opens, reads and moves; everything has a name", () => viewer({}, async (page) => {
  await assertNamed(page);
  for (let stops = 0; stops < 20 && (await page.evaluate(() => document.activeElement.id)) !== "choose"; stops += 1) await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.id), "choose", "Tab comes to the field that opens files");
  await open(page, [own("ietf-simulator.sqlog")]);
  const plot = figure(page, "#trace-1-0");
  await plot.focus();
  await page.waitForFunction(() => document.querySelector("#trace-1-0 .plot").figure.drawn.length > 0);
  const view = () => plot.evaluate((element) => [...element.figure.view]);
  const [, end] = await view();
  await page.keyboard.press("+");
  const [from, to] = await view();
  assert.ok(Math.abs((to - from) / end - 0.5) < 1e-6, `${from} to ${to} of ${end}`);
  assert.match(await page.locator("#announce").textContent(), /Shown: [\d.]+ to [\d.]+ seconds/);
}));

for (const [device, options] of Object.entries({ desktop: {}, phone: { viewport: PHONE, isMobile: true, hasTouch: true } })) {
  for (const view of ["traces", "playground"]) {
    test(`${view}, ${device}: readable in light and dark, no sideways scrolling`, () => viewer({ ...options, hash: `#${view}` }, async (page) => {
      if (view === "traces") await open(page, [own("ietf-simulator.sqlog"), own("chromium.netlog.json")]);
      else await played(page);
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        await page.waitForTimeout(200);
        await assertReadable(page, colorScheme);
        assert.ok(await overflow(page) <= 0);
        await shot(page, `viewer-${view}-${device}-${colorScheme}`);
      }
    }));
  }
}

test("printed with every figure", () => viewer({ colorScheme: "dark" }, async (page) => {
  await open(page, [own("ietf-simulator.sqlog"), own("03-quinn.sqlog")]);
  await page.pdf({ format: "A4", ...(process.env.SHOTS ? { path: `${process.env.SHOTS}/viewer.pdf` } : {}) });
  assert.equal(await page.locator("#traces .plot").count(), 4, "of each, over each other, and compared");
  assert.equal(await undrawn(page.locator("#traces")), 0);
}));

/** Waits until a run is over. */
const played = (page) => page.waitForSelector("html[data-played]", { state: "attached", timeout: 60_000 });

/** That `ours` is `theirs`, which the command line rounds: series to two decimals, all else to three. */
function assertRounded(ours, theirs, at = "", step = 1e-3) {
  if (typeof theirs === "number") assert.ok(Math.abs(ours - theirs) <= 0.501 * step, `${at}: ${ours}, the command line: ${theirs}`);
  else if (theirs === null || typeof theirs !== "object") assert.equal(ours, theirs, at);
  else {
    assert.deepEqual(Object.keys(ours).sort(), Object.keys(theirs).sort(), at);
    for (const key of Object.keys(theirs)) assertRounded(ours[key], theirs[key], `${at}.${key}`, key === "series" ? 1e-2 : step);
  }
}

/** The outcome as the page saves it against what the command line prints for the same file. */
async function assertOutcome(page) {
  const file = join(work, "scenario.toml");
  writeFileSync(file, await page.locator("#scenario").inputValue());
  const done = windlass(work, "run", file, "--json");
  assert.equal(done.status, 0, done.stderr);
  const [theirs] = JSON.parse(done.stdout).runs;
  const ours = JSON.parse(await saved(page, /Save the outcome/));
  for (const part of ["flows", "queues"]) assertRounded(ours[part], theirs[part], part);
  return ours;
}

test("the playground runs cubic against bbr, shows it while it runs, and comes to what the command line comes to", () => viewer({}, async (page) => {
  await page.evaluate(() => {
    window.states = new Set();
    new MutationObserver(() => window.states.add(document.getElementById("play-status").textContent))
      .observe(document.getElementById("play-status"), { childList: true });
    location.hash = "#playground";
  });
  await played(page);
  const states = await page.evaluate(() => [...window.states].filter((state) => / of 60 s$/.test(state)));
  assert.ok(states.length > 5, states.join("; "));
  console.log(`# 60 s of cubic against bbr took ${await page.evaluate(() => document.documentElement.dataset.played)} ms`);
  assert.deepEqual(await page.locator("#play-figure .panel-head strong").allTextContents(),
    ["Goodput, Mbit/s", "Congestion window, packets", "Round-trip time, ms", "Queue, packets"]);
  await assertOutcome(page);
  const drawn = await figure(page, "#playground").evaluate(({ figure: { drawn } }) => drawn.map(({ panel, points }) => [panel, points]));
  assert.equal(drawn.length, 7);
  assert.ok(drawn.every(([, points]) => points > 400), JSON.stringify(drawn));
}));

test("a link carries the scenario, the form and the file say the same", () => viewer({ hash: "#playground" }, async (page) => {
  await played(page);
  await page.fill("#rate_mbps", "10");
  await page.fill("#duration_s", "5");
  await page.locator("#flows .controller").nth(1).fill("tcp-k:k=4");
  await page.getByRole("button", { name: "Add a flow" }).click();
  const text = await page.locator("#scenario").inputValue();
  assert.match(text, /^rate_mbps = 10$/m);
  assert.match(text, /^controller = "tcp-k:k=4"$/m);
  assert.equal(text.match(/\[\[flow\]\]/g).length, 3);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await played(page);
  assert.equal(await page.locator("#outcome tbody tr").count(), 4);
  const link = await page.locator("#link").evaluate((element) => element.href);
  assert.equal(link, page.url());
  await viewer({ hash: new URL(link).hash }, async (other) => {
    await other.waitForFunction(() => /from a link/.test(document.getElementById("play-status").textContent));
    assert.equal(await other.locator("#outcome tbody tr").count(), 0, "nothing runs unasked");
    await other.getByRole("button", { name: "Run", exact: true }).click();
    await played(other);
    assert.equal(await other.locator("#scenario").inputValue(), text);
    assert.equal(await other.locator("#form").evaluate((form) => form.disabled), false);
    assert.equal(await other.locator("#flows .controller").nth(1).inputValue(), "tcp-k:k=4");
    assert.equal(await other.locator("#outcome tbody tr").count(), 4);
  });
}));

test("a link that inflates without end and a run without bounds are refused", () => viewer({ hash: `#scenario=${deflateRawSync(Buffer.alloc(1 << 26, "#")).toString("base64url")}` }, async (page) => {
  assert.match(await page.locator("#play-status").textContent(), /no scenario/);
  await page.locator("#as-file summary").click();
  const text = await page.locator("#scenario").inputValue();
  await page.fill("#scenario", `sample_ms = 0.01\n${text.replace(/^sample_ms.*\n/m, "")}`);
  await page.locator("#scenario").blur();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForSelector("#problems li");
  assert.match((await page.locator("#problems li").allTextContents()).join("\n"), /more than the 4000000/);
}));

test("mistakes in a scenario are shown where they are; a broken link says so", () => viewer({ hash: "#scenario=!" }, async (page) => {
  assert.match(await page.locator("#play-status").textContent(), /no scenario/);
  await page.locator("#as-file summary").click();
  const text = await page.locator("#scenario").inputValue();
  for (const [wrong, problem] of [[text.replace("rtt_ms", "rtt"), /^Line 5: .*did you mean rtt_ms/], [text.replace('controller = "cubic"', 'controller = "cubik"'), /^Line 10: .*cubik/]]) {
    await page.fill("#scenario", wrong);
    await page.locator("#scenario").blur();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.waitForSelector("#problems li");
    const problems = await page.locator("#problems li").allTextContents();
    assert.ok(problems.some((line) => problem.test(line)), problems.join("\n"));
  }
  await page.fill("#scenario", `${text}# more than the form says\n`);
  await page.locator("#scenario").blur();
  assert.equal(await page.locator("#form").evaluate((form) => form.disabled), true);
}));

test("examples are run with what comes and goes by itself, and flows open as traces", () => viewer({ hash: "#playground" }, async (page) => {
  await played(page);
  await page.selectOption("#example", "flash-crowd");
  await played(page);
  const { flows } = await assertOutcome(page);
  assert.ok(flows.some(({ transfers }) => transfers?.started > 1), "flows that come and go");
  await page.selectOption("#example", "two-flows");
  await played(page);
  await page.getByRole("button", { name: "Open the flows as traces" }).click();
  await page.waitForSelector("#overlay", { timeout: 60_000 });
  assert.deepEqual(await page.locator("#sections h2").allTextContents(), ["first", "second"]);
}));

test("a trace of more than 200 MB is drawn while it is read", { skip: LONG ? false : "no such trace was made" }, () => viewer({}, async (page) => {
  assert.ok(statSync(LONG).size > 200e6);
  const begun = performance.now();
  await page.setInputFiles("#choose", [LONG]);
  await page.waitForSelector("#trace-1-0 .panel-picture .line", { timeout: 300_000 });
  console.log(`# first figure after ${Math.round(performance.now() - begun)} ms`);
  assert.equal(await page.locator("#files progress").count(), 1, "drawn before it is read to its end");
  await page.waitForFunction(() => !document.querySelector("#files progress"), null, { timeout: 300_000 });
  console.log(`# ${await page.locator("#files .status").textContent()}`);
  assert.equal(await page.locator(".partial").count(), 0);
  const events = Number((await page.locator("#files .status").textContent()).split(" ")[0].replaceAll(",", ""));
  assert.ok(events > 1e6, `${events} events`);
  const [line] = (await saved(page, /Save all measures/)).split("\n");
  assert.equal(`${line}\n`, windlass(dirname(LONG), "qlog", "metrics", "--format", "json", basename(LONG)).stdout);
  await shot(page, "viewer-long");
  // Panned and searched, it does not keep the page from answering for long.
  const panned = await figure(page, "#trace-1-0").evaluate(async ({ figure: shown }) => {
    const tasks = [];
    const observer = new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => tasks.push(Math.round(duration))));
    observer.observe({ entryTypes: ["longtask"] });
    const [, end] = shown.spec.whole;
    for (let i = 0; i < 40; i += 1) {
      shown.show(end * i / 100, end * (i / 100 + 0.6));
      await new Promise((resume) => { requestAnimationFrame(() => setTimeout(resume)); });
    }
    observer.disconnect();
    return { tasks, sequence: shown.drawn.find(({ kind }) => kind === "sequence") };
  });
  console.log(`# panned 40 times: tasks of ${panned.tasks.join(", ") || "no more than 50"} ms; ${panned.sequence.packets} packets in ${panned.sequence.groups} groups`);
  assert.ok(panned.sequence.packets > 400_000 && panned.sequence.groups < 2000, JSON.stringify(panned));
  // Packets of the end are held, too.
  const plot = figure(page, "#trace-1-0");
  const whole = await plot.evaluate(({ figure: { view } }) => view[1]);
  await page.locator("#trace-1-0 .packets summary").click();
  const asked = performance.now();
  await plot.evaluate(({ figure: shown }, end) => shown.show(end - 0.2, end - 0.1), whole);
  await page.waitForFunction((from) => Number(document.querySelector("#trace-1-0 .packets tbody th")?.textContent) >= from, whole - 0.2, { timeout: 300_000 });
  console.log(`# packets of the end after ${Math.round(performance.now() - asked)} ms: ${await page.locator("#trace-1-0 .packets .hint").textContent()}`);
  await shot(page, "viewer-long-packets");
}));

test("reading can be stopped", { skip: LONG ? false : "no such trace was made" }, () => viewer({}, async (page) => {
  await page.setInputFiles("#choose", [LONG]);
  await page.waitForFunction(() => document.querySelector("#files progress").value > 0, null, { timeout: 300_000 });
  await page.getByRole("button", { name: /^Stop reading/ }).click();
  assert.match(await page.locator("#files .status").textContent(), /^stopped/);
}));
