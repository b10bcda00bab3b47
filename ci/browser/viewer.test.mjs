// The page that reads traces and runs scenarios, opened from disk in headless Chromium; what it needs is in viewer.mjs.
//
// LONG, if set, is a trace of more than 200 MB.

import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { assertNamed, assertReadable, FIREFOX, overflow, PHONE, SCHEMES, shot, undrawn } from "./page.mjs";
import { enter, figure, memoryOfBrowser, open, own, packet, saved, traces, viewer, windlass, work, written } from "./viewer.mjs";

const { LONG } = process.env;
/** Memory a long trace may take, as a share of the file. */
const MEMORY = 1.5;

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
    else assert.ok(expected[i].stderr.replaceAll("`", "").includes(status), `${path}: ${status}, the command line: ${expected[i].stderr}`);
  }
  // What the command line doubts, the page does.
  const doubts = expected.filter(({ status }) => status === 0).flatMap(({ stderr }) => stderr.trim().split("\n").filter(Boolean));
  assert.equal(await page.locator("#files .note").count(), doubts.length, doubts.join("\n"));
  assert.ok(!(await page.locator("#files").textContent()).includes("`"), "what is code is set as code");
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
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(200);
    await assertReadable(page, colorScheme);
    assert.ok(await overflow(page) <= 0);
    await page.locator("#trace-1-0 .packets").evaluate((list) => list.scrollIntoView({ block: "center" }));
    await shot(page, `viewer-packets-phone-${colorScheme}`);
  }
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
  // A capture is refused with a way.
  const capture = join(work, "capture.pcapng");
  writeFileSync(capture, Buffer.concat([Buffer.from("0a0d0d0a1c0000004d3c2b1a01000000", "hex"), Buffer.alloc(12, 0xff)]));
  await open(page, [picture, cut, capture, own("ietf-quinn.sqlog"), own("ietf-quinn.sqlog.gz")]);
  const [one, other] = ["cut.sqlog.zst", "picture.qlog"].map((name) => page.locator("#files li", { hasText: name }));
  assert.match(await other.locator(".status").textContent(), /^no qlog: /);
  assert.equal(await page.locator("#files li", { hasText: "capture.pcapng" }).locator("code").first().textContent(), "windlass qlog convert CAPTURE --out TRACE.sqlog");
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
      for (const colorScheme of SCHEMES) {
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
  await enter(page.locator("#rate_mbps"), "10");
  await enter(page.locator("#duration_s"), "5");
  await enter(page.locator("#flows .controller").nth(1), "tcp-k:k=4");
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
  await enter(page.locator("#scenario"), `sample_ms = 0.01\n${text.replace(/^sample_ms.*\n/m, "")}`);
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
    await enter(page.locator("#scenario"), wrong);
    await page.locator("#scenario").blur();
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.waitForSelector("#problems li");
    const problems = await page.locator("#problems li").allTextContents();
    assert.ok(problems.some((line) => problem.test(line)), problems.join("\n"));
  }
  await enter(page.locator("#scenario"), `${text}# more than the form says\n`);
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
  const { size } = statSync(LONG);
  assert.ok(size > 200e6);
  const before = memoryOfBrowser();
  let most = before;
  const watching = setInterval(() => { most = Math.max(most, memoryOfBrowser()); }, 250);
  const begun = performance.now();
  await page.setInputFiles("#choose", [LONG]);
  await page.waitForSelector("#trace-1-0 .panel-picture .line", { timeout: 300_000 });
  console.log(`# first figure after ${Math.round(performance.now() - begun)} ms`);
  assert.equal(await page.locator("#files progress").count(), 1, "drawn before it is read to its end");
  await page.waitForFunction(() => !document.querySelector("#files progress"), null, { timeout: 300_000 });
  console.log(`# ${await page.locator("#files .status").textContent()}`);
  clearInterval(watching);
  assert.equal(await page.locator(".partial").count(), 0);
  const events = Number((await page.locator("#files .status").textContent()).split(" ")[0].replaceAll(",", ""));
  assert.ok(events > 1e6, `${events} events`);
  const [line] = (await saved(page, /Save all measures/)).split("\n");
  assert.equal(`${line}\n`, windlass(dirname(LONG), "qlog", "metrics", "--format", "json", basename(LONG)).stdout);
  await shot(page, "viewer-long");
  const settled = memoryOfBrowser();
  const taken = { read: most - before, shown: settled - before, own: (await page.locator("#files .status").textContent()).match(/([\d.,]+) MB to read, ([\d.,]+) MB for figures/).slice(1).map((text) => 1e6 * Number(text.replace(",", ""))) };
  console.log(`# a file of ${(size / 1e6).toFixed(0)} MB: the browser took ${(taken.read / 1e6).toFixed(0)} MB more at most while it read, ${(taken.shown / 1e6).toFixed(0)} MB when it was read`);
  assert.ok(taken.own[0] + taken.own[1] <= MEMORY * size, JSON.stringify(taken));
  if (before !== null) assert.ok(taken.read <= MEMORY * size, JSON.stringify(taken));
  // Panned and searched, it does not keep the page from answering for long.
  const pan = () => figure(page, "#trace-1-0").evaluate(async ({ figure: shown }) => {
    const tasks = [];
    const observer = new PerformanceObserver((list) => list.getEntries().forEach(({ duration }) => tasks.push(Math.round(duration))));
    observer.observe({ entryTypes: ["longtask"] });
    const [, end] = shown.spec.whole;
    const begun = performance.now();
    for (let i = 0; i < 40; i += 1) {
      const drawn = new Promise((resume) => { shown.holder.addEventListener("drawn", resume, { once: true }); });
      shown.show(end * i / 500, end * (i / 500 + 0.92));
      await drawn;
      await new Promise((resume) => { requestAnimationFrame(() => setTimeout(resume)); });
    }
    observer.disconnect();
    return { tasks, took: performance.now() - begun, sequence: shown.drawn.find(({ kind }) => kind === "sequence") };
  });
  const panned = await pan();
  const said = ({ tasks, took }) => `${tasks.length ? `${tasks.length} tasks of more than 50 ms, ${Math.max(...tasks)} at most` : "no task of more than 50 ms"}, ${Math.round(took / 40)} ms each`;
  console.log(`# panned 40 times: ${said(panned)}; ${panned.sequence.packets} packets in ${panned.sequence.groups} groups`);
  const session = await page.context().newCDPSession(page);
  await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  console.log(`# the same with a quarter of the processor: ${said(await pan())}`);
  await session.send("Emulation.setCPUThrottlingRate", { rate: 1 });
  assert.ok(panned.sequence.packets > 1_000_000 && panned.sequence.groups < 2000, JSON.stringify(panned));
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
