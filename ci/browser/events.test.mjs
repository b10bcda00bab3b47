// What the page that reads traces tells of a connection beside its packets: events, endpoints, priorities; what it needs is in
// viewer.mjs.

import assert from "node:assert/strict";
import { appendFileSync } from "node:fs";
import { test } from "node:test";
import { FIREFOX, overflow, PHONE, shot } from "./page.mjs";
import { figure, findable, open, own, packet, viewer, written } from "./viewer.mjs";

const end = (address, port) => ({ ip_v4: address, port_v4: port });
const moved = (port) => ({ tuple_remote: end("192.0.2.9", port), tuple_local: end("198.51.100.1", 443) });
const onPath = (number, path) => ({ ...packet(number), header: { packet_type: "1RTT", packet_number: number, path_id: path } });
const EVENTS = [
  [0, "quic:tuple_assigned", moved(4433)], [1, "quic:packet_sent", onPath(0, 0)], [2, "security:key_updated", { key_type: "client_1rtt_secret", trigger: "<b>tls</b>" }],
  [500, "quic:tuple_assigned", moved(5000)], [501, "quic:packet_sent", onPath(0, 1)], [502, "quic:packet_received", onPath(0, 1)], [503, "quic:packet_sent", onPath(1, 1)],
  ...Array.from({ length: 400 }, (_, i) => [600 + i, "quic:stream_state_updated", { stream_id: 4 * i, new: "Closed" }]),
];

test("every event of the times shown is listed as it stands in the file, and found by words", () => viewer({}, async (page) => {
  await open(page, [written("events.sqlog", "server", EVENTS)]);
  const [rows, hint] = [page.locator("#trace-1-0 .events tbody tr"), page.locator("#trace-1-0 .events .hint")];
  const says = (text) => page.waitForFunction((wanted) => document.querySelector("#trace-1-0 .events .hint").textContent === wanted, text);
  await page.locator("#trace-1-0 .events summary").click();
  await says("403 events, the first 300 are listed: zoom in, or name words, for the others.");
  assert.deepEqual(await rows.nth(1).locator("th, td").allTextContents(), ["0.002000", "security:key_updated", "key_type: client_1rtt_secret, trigger: <b>tls</b>"]);
  await page.locator("#trace-1-0 .events input[type=checkbox]").check();
  await says("407 events, the first 300 are listed: zoom in, or name words, for the others.");
  await page.locator("#trace-1-0 .events input[type=checkbox]").uncheck();
  await page.locator("#trace-1-0 .events input[type=search]").fill("KEY tls");
  await says("1 event.");
  await page.locator("#trace-1-0 .events input[type=search]").fill("");
  await figure(page, "#trace-1-0").evaluate(({ figure: shown }) => shown.show(0.6995, 0.7045));
  await says("5 events.");
  assert.match(await rows.first().textContent(), /0\.700.*stream_id: 400, new: Closed/);
  // A row leads to its time.
  await rows.nth(2).click();
  assert.ok(Math.abs(await figure(page, "#trace-1-0").evaluate(({ figure: { cursor } }) => cursor) - 0.702) < 1e-9);
  await rows.nth(2).press("ArrowDown");
  await page.keyboard.press("Enter");
  assert.ok(Math.abs(await figure(page, "#trace-1-0").evaluate(({ figure: { cursor } }) => cursor) - 0.703) < 1e-9);
  await shot(page, "viewer-events");
  assert.equal(await hint.count(), 1);
  await page.setViewportSize(PHONE);
  assert.ok(await overflow(page) <= 0);
}));

test("endpoints of a connection are told with their changes and paths, and summed over all connections", () => viewer({}, async (page) => {
  await open(page, [written("one.sqlog", "server", EVENTS), written("other.sqlog", "server", [EVENTS[0], ...Array.from({ length: 9 }, (_, i) => [i, "quic:packet_sent", packet(i)])])]);
  await page.locator("#trace-1-0 .endpoints summary").click();
  assert.equal(await page.locator("#trace-1-0 .endpoints summary").textContent(), "Endpoints and paths (2 addresses, 2 paths)");
  const table = (name) => page.locator(`[role=region][aria-label="${name}"] tbody tr`).evaluateAll((all) => all.map((row) => [...row.children].map(({ textContent }) => textContent)));
  assert.deepEqual(await table("Addresses of one#1"), [["0.0000", "198.51.100.1:443", "192.0.2.9:4433", "quic:tuple_assigned"], ["0.5000", "198.51.100.1:443", "192.0.2.9:5000", "quic:tuple_assigned"]]);
  assert.deepEqual(await table("Paths of one#1"), [["path 0", "0.0010", "0.0010", "1", "0", "1,200", "0"], ["path 1", "0.5010", "0.5030", "2", "1", "2,400", "1,200"]]);
  await page.locator("#summary .addresses summary").click();
  const sums = await table("Addresses of the other end, over all connections");
  assert.deepEqual(sums, [["192.0.2.9:4433", "1", "9", "0", "10,800", "0"], ["192.0.2.9:4433, then 192.0.2.9:5000", "1", "3", "1", "3,600", "1,200"]]);
  await shot(page, "viewer-endpoints");
  // A trace that tells of neither has no such list.
  await page.setInputFiles("#choose", [findable("neither.sqlog", 200)]);
  await page.waitForSelector("#trace-3-0 .endpoints", { state: "attached" });
  assert.ok(await page.locator("#trace-3-0 .endpoints").isHidden());
}));

test("a request's priority and its updates are told beside its stream, and marked when they came", () => viewer({}, async (page) => {
  const headers = (stream, priority) => ({ stream_id: stream, frame: { frame_type: "headers", headers: [{ name: ":method", value: "GET" }, { name: ":path", value: `/${stream}` }, ...(priority ? [{ name: "priority", value: priority }] : [])] } });
  const update = (stream, value) => ({ stream_id: 2, frame: { frame_type: "priority_update", stream_id: stream, priority_field_value: value } });
  const data = (i, stream) => [50 + i, "quic:packet_received", packet(i, [{ frame_type: "stream", stream_id: stream, offset: 600 * Math.floor(i / 2), raw: { length: 600 } }])];
  await open(page, [written("priorities.sqlog", "client", [
    [0, "quic:packet_sent", packet(0)], [5, "http3:frame_created", update(4, "u=6")], [10, "http3:frame_created", headers(0, "u=2, i")], [11, "http3:frame_created", headers(4)],
    ...Array.from({ length: 60 }, (_, i) => data(i, 4 * (i % 2))), [120, "http3:frame_created", update(0, "u=0")],
  ])]);
  await page.locator("#trace-1-0 .multiplexing summary").click();
  await page.waitForSelector("#trace-1-0 .multiplexing tbody tr");
  const cells = await page.locator("#trace-1-0 .multiplexing tbody tr").evaluateAll((all) => all.map((row) => [...row.children].slice(0, 2).map(({ textContent }) => textContent)));
  assert.deepEqual(cells, [["0 received", "u=2, i, then u=0 at 0.1200 s"], ["4 received", "u=6 at 0.0050 s"]]);
  const plot = figure(page, "#trace-1-0 .multiplexing");
  await plot.evaluate((element) => element.scrollIntoView({ block: "center" }));
  await page.waitForFunction(() => document.querySelector("#trace-1-0 .multiplexing .plot").figure.drawn.some(({ key }) => key === "priority"));
  assert.deepEqual(await plot.evaluate(({ figure: { drawn } }) => drawn.find(({ key }) => key === "priority").x.map((time) => Number(time.toFixed(6)))), [0.005, 0.12]);
  await shot(page, "viewer-priorities");
  const netlog = own("chromium156-sample-small.netlog.json");
  if (!netlog) { console.log("# skipped: there is no recorded netlog with requests"); return; }
  await page.setInputFiles("#choose", [netlog]);
  await page.waitForSelector("[id^=trace-2] .multiplexing");
  const section = page.locator("#sections section", { has: page.locator(".requests tbody tr", { hasText: "/upload4200" }) });
  await section.locator(".multiplexing summary").click();
  await section.locator(".multiplexing tbody tr").first().waitFor();
  assert.match((await section.locator(".multiplexing tbody tr").allTextContents()).join("\n"), /0 receivedu=0, i, then u=0, i at \d\.\d+ s|0 receivedu=0, i at \d\.\d+ s/);
}));

test("states that are numbers, what limits a sender, and versions are told in words", () => viewer({}, async (page) => {
  const metrics = (i) => ({ congestion_window: 12_000 + 100 * i, bytes_in_flight: 12_000 + 100 * i, smoothed_rtt: 40 });
  await open(page, [written("words.sqlog", "server", [[0, "quic:congestion_state_updated", { new: "1" }], ...Array.from({ length: 300 }, (_, i) => [[i, "quic:packet_sent", packet(i)], [i, "quic:recovery_metrics_updated", metrics(i)]]).flat()]), own("03-quinn.sqlog")]);
  const status = (name) => page.locator("#files li", { hasText: name }).locator(".status").textContent();
  assert.match(await status("words.sqlog"), / · JSON-SEQ, urn:ietf:params:qlog:file:sequential · /);
  assert.match(await status("03-quinn.sqlog"), / · JSON-SEQ, 0\.3 · /);
  const plot = page.locator("section", { has: page.locator("h2", { hasText: "words" }) }).locator("figure .plot").first();
  await plot.evaluate((element) => element.scrollIntoView({ block: "center" }));
  await page.waitForFunction(() => [...document.querySelectorAll("#sections figure .plot")].some(({ figure: shown }) => shown.drawn.some(({ key }) => key === "limited_by")));
  assert.ok((await plot.locator(".panel-head li").allTextContents()).includes("state 1"));
  const text = await plot.evaluate(({ figure: shown }) => { shown.showCursor(0.2); return shown.panels.at(-1).now?.textContent ?? shown.panels.find(({ now }) => now).now.textContent; });
  assert.match(text, /^0\.2000? s · state 1, limited by (window|pacer|application)$/);
}));

test("a file that grew after it was chosen is said to have changed", { skip: FIREFOX ? "Firefox reads what is there" : false }, () => viewer({}, async (page) => {
  const path = written("grown.sqlog", "server", EVENTS);
  await open(page, [path]);
  appendFileSync(path, '\x1e{"time":2000,"name":"x:y","data":{}}\n');
  await page.locator("#trace-1-0 .events summary").click();
  await page.waitForFunction(() => /^The events cannot be read: .*the file has changed since it was chosen/.test(document.querySelector("#trace-1-0 .events .hint").textContent));
}));
