// What the page that reads traces does with packets and figures: finding, choosing, drawing, comparing, saving; what it needs
// is in viewer.mjs.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inflateSync } from "node:zlib";
import { overflow, shot } from "./page.mjs";
import { figure, findable, offered, open, packet, saved, viewer, work, written } from "./viewer.mjs";

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

test("a figure is moved by the pointer, the wheel, and keys, and zoomed by them", () => viewer({}, async (page) => {
  await open(page, [findable("moved.sqlog", 3000), findable("beside.sqlog", 4000)]);
  for (const section of ["#overlay", "#compared", "#trace-1-0"]) {
    const plot = figure(page, section);
    await plot.evaluate((element) => element.scrollIntoView({ block: "start" }));
    await page.mouse.move(0, 0);
    await page.mouse.wheel(0, -200);
    await page.waitForTimeout(200);
    await page.waitForFunction((id) => document.querySelector(`${id} .plot`).figure.drawn.length > 0, section);
    const view = () => plot.evaluate(({ figure: shown }) => shown.view.map((time) => Number(time.toFixed(4))));
    const reset = async () => { await plot.evaluate(({ figure: shown }) => { shown.show(1, 2); shown.draw(); }); };
    const { x, y, width } = await plot.evaluate(({ figure: shown }) => { const box = shown.panels[0].picture.getBoundingClientRect(); return { x: box.left + shown.left, y: box.top + 40, width: shown.columns }; });
    const drag = async (keys) => {
      await page.mouse.move(x + 0.25 * width, y);
      for (const key of keys) await page.keyboard.down(key);
      await page.mouse.down();
      await page.mouse.move(x + 0.5 * width, y, { steps: 3 });
      await page.mouse.up();
      for (const key of keys) await page.keyboard.up(key);
      return view();
    };
    const about = (found, expected) => assert.ok(found.every((time, i) => Math.abs(time - expected[i]) < 0.02), `${section}: ${found}, expected ${expected}`);
    await reset();
    about(await drag(["Shift"]), [0.75, 1.75]);
    await reset();
    about(await drag([]), [1.25, 1.5]);
    await reset();
    // How far one turn goes is the browser's.
    await page.mouse.wheel(Math.round(0.1 * width), 0);
    await page.waitForFunction((id) => document.querySelector(`${id} .plot`).figure.view[0] > 1.02, section);
    assert.ok(await view().then(([begin, end]) => Math.abs(end - begin - 1) < 1e-3), "moved, not zoomed");
    await reset();
    await plot.focus();
    await page.keyboard.press("ArrowRight");
    about(await view(), [1.25, 2.25]);
    await page.keyboard.press("+");
    about(await view(), [1.5, 2]);
    await page.keyboard.press("0");
    assert.ok((await view())[1] > 2.5);
  }
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
  // What a query asks for is drawn over all: here the packets with data of stream 4.
  await page.locator("#trace-1-0 .packets summary").click();
  await page.locator("#trace-1-0 .packets input").fill("stream=4");
  await page.waitForFunction(() => document.querySelector("#trace-1-0 .outcome").textContent.startsWith("750 of"));
  await sequence(1, 1.1);
  const drawnOver = await plot.evaluate(({ figure: { drawn } }) => drawn.find(({ kind }) => kind === "found").lines);
  assert.ok(drawnOver === 35 || drawnOver === 36, `${drawnOver}: 25 of these times, and those that reach into them`);
}));

test("both ends of a connection are one sequence on one clock, whichever is opened first", () => viewer({}, async (page) => {
  const header = (type, number) => ({ ...packet(number, [{ frame_type: "ping" }]), header: { packet_type: type, packet_number: number } });
  /** A packet a ms from 100 ms on, 10 ms there and 30 ms back; every 50th is lost. */
  const [server, client] = [[], []];
  const both = (list, time, name, data) => list.push([time, name, data]);
  both(client, 0, "quic:packet_sent", header("initial", 0));
  both(server, 1000, "quic:packet_received", header("initial", 0));
  both(server, 1000, "quic:packet_sent", header("initial", 0));
  both(client, 40, "quic:packet_received", header("initial", 0));
  for (let i = 0; i < 400; i += 1) {
    both(server, 1100 + i, "quic:packet_sent", header("1RTT", i));
    if (i % 50 === 49) both(server, 1150 + i, "quic:packet_lost", { header: { packet_type: "1RTT", packet_number: i } });
    else both(client, 130 + i, "quic:packet_received", header("1RTT", i));
  }
  both(client, 900, "quic:packet_sent", header("1RTT", 0));
  const files = [["other-server.sqlog", "server", server], ["other-client.sqlog", "client", client]].map(([name, vantage, events]) => {
    const path = join(work, name);
    const records = events.sort(([one], [other]) => one - other).map(([time, event, data]) => ({ time, name: event, data, group_id: "abcd" }));
    writeFileSync(path, [{ file_schema: "urn:ietf:params:qlog:file:sequential", serialization_format: "application/qlog+json-seq", trace: { vantage_point: { type: vantage } } }, ...records].map((record) => `\x1e${JSON.stringify(record)}\n`).join(""));
    return path;
  });
  await open(page, [files[0]]);
  const heads = (id) => page.locator(`#${id} .panel-head strong`).allTextContents();
  await figure(page, "#trace-1-0").evaluate((element) => element.scrollIntoView());
  await page.waitForFunction(() => document.querySelector("#trace-1-0 .plot").figure.drawn.some(({ kind }) => kind === "sequence"));
  assert.ok((await heads("trace-1-0")).every((title) => !/both ends/.test(title)));
  await page.setInputFiles("#choose", [files[1]]);
  for (const id of ["trace-1-0", "trace-2-0"]) {
    await page.waitForFunction((section) => [...document.querySelectorAll(`#${section} .panel-head strong`)].some(({ textContent }) => textContent === "Sequence of packets at both ends, their clocks by the handshake ± 20.00 ms"), id);
  }
  // Of the server’s packets 392 have a time at the client, whose clock is 980 ms behind if both ways of the handshake took 20 ms.
  const { arrived, never } = await figure(page, "#trace-1-0").evaluate(({ figure: shown }) => {
    const all = [...shown.spec.panels.find(({ rows }) => rows).rows(shown)].filter(([name]) => name === "sent" || name === "lost");
    return { arrived: all.filter(([name, , , number]) => name === "sent" && number > 0).map(([, from, to]) => to - from), never: all.filter(([name]) => name === "lost").length };
  });
  assert.equal(never, 8);
  assert.ok(arrived.length === 391 && arrived.every((way) => Math.abs(way - 0.01) < 1e-6), `${arrived.length}: ${Math.min(...arrived)} to ${Math.max(...arrived)}`);
  await shot(page, "viewer-both-ends");
  await page.getByRole("button", { name: "Remove other-client.sqlog" }).click();
  await page.waitForFunction(() => [...document.querySelectorAll("#trace-1-0 .panel-head strong")].every(({ textContent }) => !/both ends/.test(textContent)));
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
  const bytes = await readout.textContent();
  assert.match(bytes, /bytes\.$/);
  await shot(page, "viewer-packetization");
  // The address keeps which packets, and how many.
  await page.waitForFunction(() => /&way=received&beside=64/.test(location.hash));
  const { hash } = new URL(page.url());
  await viewer({ hash }, async (other) => {
    await open(other, [join(work, "bytes.sqlog")]);
    await other.waitForFunction(() => /^64 packets received from 1\./.test(document.querySelector("#trace-1-0 .packetization .readout")?.textContent));
    assert.deepEqual(await other.locator("#trace-1-0 .packetization select").evaluateAll((all) => all.map(({ value }) => value)), ["0", "64"]);
    assert.equal(new URL(other.url()).hash, hash);
  });
}));

test("streams are drawn either way with what waits for earlier data, in the times of the figure", () => viewer({}, async (page) => {
  const data = (stream, offset, length) => ({ frame_type: "stream", stream_id: stream, offset, raw: { length } });
  const events = Array.from({ length: 400 }, (_, i) => {
    // Of stream 0 packet 100 comes 50 ms late; stream 4 is whole.
    const stream = 4 * (i % 2);
    const late = i === 100;
    return [late ? 150.5 : i, "quic:packet_received", packet(i, [data(stream, 500 * (i - i % 2), 1000)])];
  });
  await open(page, [written("streams.sqlog", "client", [...events, [200, "quic:packet_sent", packet(0, [data(0, 0, 10)])]].sort(([one], [other]) => one - other))]);
  await page.locator("#trace-1-0 .multiplexing summary").click();
  const view = page.locator("#trace-1-0 .multiplexing .plot");
  await view.scrollIntoViewIfNeeded();
  await page.waitForFunction(() => document.querySelector("#trace-1-0 .multiplexing .plot")?.figure?.drawn.length > 0);
  assert.deepEqual(await view.locator(".panel-head strong").allTextContents(), ["Data received: of which stream, and when", "Received and not deliverable, kB", "Data sent: of which stream, and when"]);
  const waits = await view.evaluate(({ figure: { drawn } }) => drawn.find(({ key }) => key === "received 0 waits").spans.filter(([value]) => value === 1));
  assert.deepEqual(waits.map((span) => span.slice(1).map((time) => Number(time.toFixed(4)))), [[0.102, 0.1505]]);
  const rows = await page.locator("#trace-1-0 .multiplexing tbody tr").evaluateAll((all) => all.map((row) => [...row.children].map((cell) => cell.textContent)));
  const row = rows.find(([name]) => name === "0 received");
  assert.deepEqual(row.slice(5), ["200,000", "0", "0.0485", "25,000"], row.join(" "));
  // Both figures show the same times, whichever is moved.
  await figure(page, "#trace-1-0").evaluate(({ figure: shown }) => shown.show(0.1, 0.2));
  const shownThere = () => view.evaluate(({ figure: shown }) => shown.view.map((time) => Number(time.toFixed(6))));
  assert.deepEqual(await shownThere(), [0.1, 0.2]);
  await view.evaluate(({ figure: shown }) => shown.show(0.15, 0.3));
  assert.deepEqual(await figure(page, "#trace-1-0").evaluate(({ figure: shown }) => shown.view.map((time) => Number(time.toFixed(6)))), [0.15, 0.3]);
  await view.evaluate(({ figure: shown }) => shown.showAll());
  await page.waitForTimeout(100);
  await page.locator("#trace-1-0 .multiplexing").evaluate((element) => element.scrollIntoView());
  await shot(page, "viewer-multiplexing");
}));

test("frames and sizes are counted in the times shown, and asked for", () => viewer({}, async (page) => {
  await open(page, [findable("counted.sqlog", 3000)]);
  await page.locator("#trace-1-0 .statistics summary").click();
  const rows = async () => Object.fromEntries(await page.locator("#trace-1-0 .statistics tbody tr").evaluateAll((all) => all.map((row) => [row.children[0].textContent, [...row.children].slice(1).map((cell) => cell.textContent)])));
  await page.waitForFunction(() => document.querySelector("#trace-1-0 .statistics tbody tr"));
  const whole = await rows();
  assert.deepEqual([whole.stream, whole.ack], [["3,000", "0"], ["0", "2,970"]]);
  assert.equal(Object.entries(whole).filter(([name]) => / to /.test(name)).reduce((sum, [, counts]) => sum + counts.reduce((all, count) => all + Number(count.replace(",", "")), 0), 0), 5970);
  await figure(page, "#trace-1-0").evaluate(({ figure: shown }) => shown.show(1.0005, 1.1005));
  await page.waitForFunction(() => /^100\b/.test(document.querySelector("#trace-1-0 .statistics tbody td")?.textContent) || [...document.querySelectorAll("#trace-1-0 .statistics tbody td")].some(({ textContent }) => textContent === "100"));
  assert.deepEqual((await rows()).stream, ["100", "0"]);
  await page.locator("#trace-1-0 .statistics button", { hasText: /^ack$/ }).click();
  await page.waitForFunction(() => document.querySelector("#trace-1-0 .outcome").textContent === "2,970 of 5,970 packets match");
  assert.equal(await page.locator("#trace-1-0 .packets input").inputValue(), "frame=ack");
  await shot(page, "viewer-statistics");
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
  assert.ok(wide > Math.min(2000, 1.5 * page.viewportSize().width) && high > 1000, `${wide} × ${high}`);
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

test("a page to share has the trace inside and none of its names, and measures the same", () => viewer({}, async (page) => {
  const header = (number) => ({ ...packet(number, [{ frame_type: "stream", stream_id: 0, offset: 600 * number, raw: { length: 600 } }]), raw: { length: 700, data: "c0ffee01c0ffee01" } });
  const names = ["9a8b7c6d5e4f3a2b", "1122334455aabbcc", "203.0.113.77", "fe80::abcd:1", "files.secret.test", "c0ffee01"];
  const [id, other, address, six, host] = names;
  const events = [[0, "quic:connection_started", { src_ip: address, dst_ip: six, src_cid: id, dst_cid: other }],
    [1, "http3:frame_created", { stream_id: 0, frame: { frame_type: "headers", headers: [{ name: ":method", value: "GET" }, { name: ":authority", value: `${host}:443` }, { name: ":path", value: "/a" }] } }],
    ...Array.from({ length: 200 }, (_, i) => [i, "quic:packet_sent", { ...header(i), header: { packet_type: "1RTT", packet_number: i, dcid: other } }])];
  const path = written(`client-${id}.sqlog`, "client", events);
  await open(page, [path]);
  // The peer of a log is an address.
  const measures = async (at) => ({ ...JSON.parse(await saved(at, /Save all measures/)).measures, peer: null });
  const before = await measures(page);
  const { name, bytes } = await offered(page.getByRole("button", { name: /^Save client-.* as a page to share$/ }));
  assert.equal(name, "client-0000000000000001.html");
  const file = join(work, name);
  writeFileSync(file, bytes);
  const html = bytes.toString();
  assert.ok(html.length < 2e6);
  const inside = inflateSync(Buffer.from(html.match(/<script id="shared" type="text\/plain">([^<]*)</)[1], "base64")).toString();
  for (const secret of names) assert.ok(!html.includes(secret) && !inside.includes(secret), secret);
  assert.equal(inside.split("\n").length, readFileSync(path, "utf8").split("\n").length);
  await viewer({ file }, async (shared) => {
    await shared.waitForSelector("#trace-1-0 .panel-picture .line", { timeout: 60_000 });
    await shared.waitForFunction(() => !document.querySelector("#files progress"));
    assert.deepEqual(await shared.locator("#sections h2").allTextContents(), ["client-0000000000000001"]);
    assert.deepEqual(await measures(shared), before);
    assert.equal(await shared.locator("#trace-1-0 .requests tbody th").textContent(), "GET /a");
    await shot(shared, "viewer-shared");
    // What was shared can be shared again, with the names it has.
    await shared.locator("#pseudonyms").uncheck();
    const again = await offered(shared.getByRole("button", { name: /as a page to share$/ }));
    assert.equal(again.bytes.toString().match(/<script id="shared" /g).length, 1);
  });
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
  assert.match(hash, /^#view\?trace=address&t=1\.\.1\.25&query=lost&row=\d+&open=packets&hide=bytes_in_flight$/);
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
