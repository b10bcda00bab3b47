// Every job of the tables in docs/viewer.md, done by mouse, by touch and by keyboard alone; what the page then shows is what the command line
// says of the traces, or what stands in the traces that it wrote.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { FIREFOX, overflow } from "./page.mjs";
import { figure, offered, open, packet, viewer, windlass, work, written } from "./viewer.mjs";

/** The traces of one run, by controller: the file, its measures by the command line, and its events as they stand there. */
const FLOWS = Object.fromEntries(["cubic", "reno"].map((controller, i, both) => {
  const out = join(work, "jobs");
  if (i === 0) assert.equal(windlass(work, "run", "random-loss", ...both.flatMap((name) => ["-c", name]), "--out", out).status, 0);
  const path = join(out, "qlog/random-loss", `${controller}@sim`, "flow.sqlog");
  const text = readFileSync(path, "utf8");
  const named = join(work, `${controller}.sqlog`);
  const events = text.split("\n").filter(Boolean).slice(1).map((line) => JSON.parse(line.replace(/^\x1e/, "")));
  return [controller, { path: written(`${controller}.sqlog`, "server", events.map(({ time, name, data }) => [time, name, data])), measures: JSON.parse(windlass(work, "qlog", "metrics", "--format", "json", named).stdout).measures, events }];
}));
const { events: EVENTS, measures: MEASURES } = FLOWS.cubic;
const of = (name) => EVENTS.filter((event) => event.name === `quic:${name}`);
const [SENT, RECEIVED, LOST] = ["packet_sent", "packet_received", "packet_lost"].map(of);
const grouped = (number) => new Intl.NumberFormat("en").format(number);
const numberOf = ({ data }) => data.header.packet_number;
const secondsOf = ({ time }) => (time / 1e3).toFixed(6);

/** A trace with what the run has not: addresses, a path that changes, requests with priorities. */
const OTHER = () => {
  const endpoint = (port) => ({ ip_v4: "192.0.2.9", port_v4: port });
  const moved = (port) => ({ tuple_id: String(port), tuple_remote: endpoint(port), tuple_local: { ip_v4: "198.51.100.1", port_v4: 443 } });
  const asked = (stream) => ({ stream_id: stream, frame: { frame_type: "headers", headers: [{ name: ":method", value: "GET" }, { name: ":path", value: `/${stream}` }, { name: "priority", value: "u=2, i" }] } });
  const data = (i) => packet(i, [{ frame_type: "stream", stream_id: 4 * (i % 2), offset: 600 * Math.floor(i / 2), raw: { length: 600 } }]);
  return written("other.sqlog", "client", [
    [0, "quic:tuple_assigned", moved(4433)], [0, "quic:packet_sent", packet(0)], [5, "http3:frame_created", asked(0)], [6, "http3:frame_created", asked(4)],
    ...Array.from({ length: 60 }, (_, i) => [50 + i, "quic:packet_received", data(i)]), [200, "quic:tuple_assigned", moved(5000)], [201, "quic:packet_sent", packet(1)],
  ]);
};

/** What one does with a mouse, a finger or keys alone: `press` a control, `tap` a figure at the middle of its times, `choose` of a list, `type` into a field. */
const HANDS = {
  mouse: (page) => ({
    press: (control) => control.click(),
    tap: async (plot, panel) => page.mouse.click(...await middle(plot, panel)),
    read: async (plot) => page.mouse.move(...await middle(plot, 0)),
    shift: async (plot) => { const [x, y] = await middle(plot, 0); await page.mouse.move(x, y); await page.keyboard.down("Shift"); await page.mouse.down(); await page.mouse.move(x - 60, y, { steps: 4 }); await page.mouse.up(); await page.keyboard.up("Shift"); },
    choose: (list, label) => list.selectOption({ label }),
    type: async (field, text) => { await field.click(); await typed(page, field, text); },
  }),
  touch: (page) => ({
    press: (control) => tapped(page, control),
    tap: async (plot, panel) => touched(page, plot, await middle(plot, panel)),
    read: async (plot) => touched(page, plot, await middle(plot, 0)),
    // Two fingers to the left, as far apart as before.
    shift: async (plot) => {
      await middle(plot, 0);
      await plot.evaluate(({ figure: shown }) => {
        const { picture } = shown.panels[0];
        const box = picture.getBoundingClientRect();
        const send = (type, pointerId, x) => picture.dispatchEvent(new PointerEvent(type, { pointerId, pointerType: "touch", button: type === "pointermove" ? -1 : 0, bubbles: true, clientX: box.left + shown.left + x, clientY: box.top + 30 }));
        const places = [0.4, 0.7].map((share) => share * shown.columns);
        places.forEach((x, i) => send("pointerdown", i + 2, x));
        for (let step = 1; step <= 10; step += 1) places.forEach((x, i) => send("pointermove", i + 2, x - 6 * step));
        places.forEach((x, i) => send("pointerup", i + 2, x - 60));
      });
    },
    choose: (list, label) => list.selectOption({ label }),
    type: async (field, text) => { await tapped(page, field); await typed(page, field, text); },
  }),
  keyboard: (page) => ({
    press: async (control) => { await focused(control); await page.keyboard.press(await control.evaluate(({ type }) => type === "checkbox") ? "Space" : "Enter"); },
    tap: async (plot) => { await focused(plot); await page.keyboard.press("Escape"); await page.keyboard.press("Shift+ArrowRight"); await page.keyboard.press("Enter"); },
    read: async (plot) => { await focused(plot); await page.keyboard.press("Escape"); await page.keyboard.press("Shift+ArrowRight"); },
    shift: async (plot) => { await focused(plot); await page.keyboard.press("ArrowRight"); },
    choose: async (list, label) => {
      await focused(list);
      const [from, to] = await list.evaluate((element, wanted) => [element.selectedIndex, [...element.options].findIndex(({ label: text }) => text === wanted)], label);
      for (let i = from; i !== to; i += Math.sign(to - from)) await page.keyboard.press(to > from ? "ArrowDown" : "ArrowUp");
    },
    type: async (field, text) => { await focused(field); await typed(page, field, text); },
  }),
};

/** Where the middle of the times is in a panel, pixels of the window, which has the panel then. */
const middle = (plot, panel) => plot.evaluate((element, at) => {
  const { picture } = element.figure.panels[at];
  picture.scrollIntoView({ block: "center" });
  const box = picture.getBoundingClientRect();
  return [box.left + element.figure.left + element.figure.columns / 2, box.top + 40];
}, panel);

/** Gives a control the focus, as Tab does: whatever Tab does not reach has none. */
async function focused(control) {
  const reached = await control.evaluate((element) => { element.focus(); return element.tabIndex >= 0 && document.activeElement === element; });
  assert.ok(reached, "Tab reaches it");
}

/** Types over what the field holds that has the focus. Tab selects all of it; Firefox, when busy, does not do so by Ctrl+A in a field that has just got the focus. */
async function typed(page, field, text) {
  await field.selectText();
  await page.keyboard.type(text);
}

/** A finger on a control; where the driver has none, what a browser tells the page of one. */
async function tapped(page, control) {
  if (!FIREFOX) return control.tap();
  await control.scrollIntoViewIfNeeded();
  return control.evaluate((element) => {
    for (const type of ["pointerdown", "pointerup"]) element.dispatchEvent(new PointerEvent(type, { pointerId: 7, pointerType: "touch", isPrimary: true, bubbles: true }));
    element.focus();
    element.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
  });
}

async function touched(page, plot, [x, y]) {
  if (!FIREFOX) return page.touchscreen.tap(x, y);
  return plot.evaluate((_, place) => {
    const target = document.elementFromPoint(...place);
    for (const type of ["pointerdown", "pointerup"]) target.dispatchEvent(new PointerEvent(type, { pointerId: 7, pointerType: "touch", isPrimary: true, button: 0, bubbles: true, clientX: place[0], clientY: place[1] }));
  }, [x, y]);
}

for (const [name, handOf] of Object.entries(HANDS)) {
  test(`every job by ${name}`, (whole) => viewer(FIREFOX ? {} : { hasTouch: true }, async (page) => {
    const hand = handOf(page);
    await open(page, [FLOWS.cubic.path, FLOWS.reno.path, OTHER()]);
    const [cubic, other, reno] = ["#trace-1-0", "#trace-2-0", "#trace-3-0"];
    const [section, plot] = [page.locator(cubic), figure(page, cubic)];
    await plot.evaluate((element) => element.scrollIntoView({ block: "start" }));
    await page.waitForFunction((id) => document.querySelector(`${id} .plot`).figure.drawn.some(({ kind }) => kind === "sequence"), cubic);
    const job = (title, body) => whole.test(`${title}, by ${name}`, body);
    const opened = async (part) => { await hand.press(page.locator(part).locator("summary").first()); assert.ok(await page.locator(part).evaluate((details) => details.open), part); };
    const view = () => plot.evaluate(({ figure: shown }) => shown.view);
    /** The times are typed into the fields, so that every hand sees the same. */
    const between = async (from, to) => {
      for (const [label, time] of [["Plots from, seconds", 0], ["Plots to, seconds", to], ["Plots from, seconds", from]]) { await hand.type(section.getByLabel(label).first(), String(time)); await page.keyboard.press("Enter"); }
      assert.deepEqual(await view(), [from, to]);
    };
    const chosen = (start) => page.waitForFunction(([id, text]) => document.querySelector(`${id} .chosen`).textContent.startsWith(text), [cubic, start]);
    const within = (events, [from, to]) => events.filter(({ time }) => time / 1e3 >= from && time / 1e3 <= to);

    await job("values are read, and are the latest that are logged", async () => {
      await hand.read(plot);
      const { cursor, text } = await plot.evaluate(({ figure: shown }) => ({ cursor: shown.cursor, text: shown.holder.querySelector("[data-line=congestion_window] .value").textContent }));
      const latest = of("recovery_metrics_updated").filter(({ time, data }) => time / 1e3 <= cursor + 1e-9 && data.congestion_window).at(-1);
      assert.equal(text, `${(latest.data.congestion_window / 1e3).toFixed(1)} kB`);
    });

    await job("times are moved and zoomed, and packets of those times are listed", async () => {
      await between(2, 2.5);
      await hand.shift(plot);
      const [from, to] = await view();
      assert.ok(from > 2.01 && Math.abs(to - from - 0.5) < 1e-6, `${from} to ${to}`);
      await between(2, 2.5);
      await opened(`${cubic} .packets`);
      const count = within([...SENT, ...RECEIVED], [2, 2.5]).length;
      await page.waitForFunction(([id, text]) => document.querySelector(`${id} .packets .hint`).textContent.startsWith(text), [cubic, `${grouped(count)} packets`]);
    });

    await job("packets are found, one after the other", async () => {
      const none = section.getByRole("button", { name: "Choose no packet" });
      // A finger that reads has chosen one.
      if (await none.isVisible()) await hand.press(none);
      await hand.type(section.locator(".packets input"), "lost");
      await page.waitForFunction(([id, text]) => document.querySelector(`${id} .outcome`).textContent === text, [cubic, `${MEASURES.packets_lost} of ${grouped(MEASURES.packets_sent + MEASURES.packets_received)} packets match`]);
      const next = within(LOST, [0, 99]).map(numberOf).map((number) => SENT.find((event) => numberOf(event) === number)).find(({ time }) => time >= 2000);
      await hand.press(section.getByRole("button", { name: "Next match" }));
      await chosen(`Packet ${numberOf(next)}: sent at ${secondsOf(next)} s`);
      await hand.press(none);
      await hand.type(section.locator(".packets input"), "pn=77 sent");
      await page.waitForFunction((id) => /^1 of/.test(document.querySelector(`${id} .outcome`).textContent), cubic);
      await hand.press(section.getByRole("button", { name: "Next match" }));
      await chosen(`Packet 77: sent at ${secondsOf(SENT.find((event) => numberOf(event) === 77))} s`);
      await hand.type(section.locator(".packets input"), " ");
    });

    await job("a packet is chosen in the sequence of packets", async () => {
      const wanted = SENT[400];
      await between(Number((wanted.time / 1e3 - 0.002).toFixed(6)), Number((wanted.time / 1e3 + 0.002).toFixed(6)));
      const sequence = await plot.evaluate(({ figure: shown }) => { shown.draw(); return shown.spec.panels.findIndex(({ draw }) => draw); });
      await hand.tap(plot, sequence);
      const text = await section.locator(".chosen").textContent();
      const [, number, way, time] = text.match(/^Packet (\d+): (sent|received) at ([\d.]+) s/);
      const event = (way === "sent" ? SENT : RECEIVED).find((each) => numberOf(each) === Number(number));
      assert.equal(time, secondsOf(event));
    });

    await job("bytes of packets beside each other lead to them", async () => {
      await between(1, 1.5);
      await opened(`${cubic} .packetization`);
      const view = section.locator(".packetization");
      await hand.choose(view.locator("select").first(), "received");
      await hand.choose(view.locator("select").first(), "sent");
      await page.waitForFunction((id) => /^16 packets sent from 1\./.test(document.querySelector(`${id} .packetization .readout`).textContent), cubic);
      const shown = within(SENT, [1, 99]).slice(0, 16);
      assert.match(await view.locator(".readout").textContent(), new RegExp(`^16 packets sent from ${secondsOf(shown[0])} s on, ${grouped(shown.reduce((sum, { data }) => sum + data.raw.length, 0))} bytes`));
      if (name === "keyboard") {
        await focused(view.locator(".table"));
        for (let i = 0; i < 3; i += 1) await page.keyboard.press("ArrowRight");
      } else await hand.press(view.locator("rect.part").nth(await view.locator("rect.part").evaluateAll((all, number) => all.findIndex((part) => part.textContent.startsWith(`packet ${number}, `)), numberOf(shown[2]))));
      await chosen(`Packet ${numberOf(shown[2])}: sent`);
    });

    await job("streams tell of their data", async () => {
      await opened(`${cubic} .multiplexing`);
      await section.locator(".multiplexing tbody tr").first().waitFor();
      const cells = await section.locator(".multiplexing tbody tr").first().locator("th, td").allTextContents();
      const frames = SENT.flatMap(({ data }) => data.frames ?? []).filter(({ frame_type: type }) => type === "stream");
      const [ends, sum] = [Math.max(...frames.map(({ offset, raw }) => offset + raw.length)), frames.reduce((all, { raw }) => all + raw.length, 0)];
      assert.deepEqual([cells[0], cells[5]], ["0 sent", grouped(sum)], `${cells}; ${ends} bytes`);
    });

    await job("frames and types are counted, and asked for", async () => {
      await hand.press(section.getByRole("button", { name: "Whole run" }).first());
      await opened(`${cubic} .statistics`);
      const row = section.locator(".statistics tr", { has: page.getByRole("button", { name: "1RTT", exact: true }) });
      await row.first().waitFor();
      await page.waitForFunction(([id, text]) => [...document.querySelectorAll(`${id} .statistics tr`)].some((each) => each.textContent === text), [cubic, `1RTT${grouped(MEASURES.packets_sent)}${grouped(MEASURES.packets_received)}`]);
      await hand.press(section.locator(".statistics").getByRole("button", { name: "ack", exact: true }));
      const acks = [...SENT, ...RECEIVED].filter(({ data }) => data.frames?.some(({ frame_type: type }) => type === "ack")).length;
      await page.waitForFunction(([id, text]) => document.querySelector(`${id} .outcome`).textContent.startsWith(text), [cubic, `${grouped(acks)} of`]);
    });

    await job("events are listed and lead to their times", async () => {
      await opened(`${cubic} .events`);
      await hand.type(section.locator(".events input[type=search]"), "congestion_state_updated");
      const states = of("congestion_state_updated");
      await page.waitForFunction(([id, text]) => document.querySelector(`${id} .events .hint`).textContent === text, [cubic, `${states.length} events.`]);
      await hand.press(section.locator(".events tbody tr").nth(1));
      await page.waitForFunction(([element, time]) => Math.abs(element.figure.cursor - time) < 1e-6, [await plot.elementHandle(), states[1].time / 1e3]);
    });

    await job("the summary is sorted by what the command measures", async () => {
      await hand.press(page.locator("#summary thead button", { hasText: /^Goodput/ }).first());
      const by = Object.fromEntries(Object.entries(FLOWS).map(([controller, { measures }]) => [controller, measures.goodput]));
      const rows = await page.locator("#summary tbody tr").evaluateAll((all) => all.map((row) => row.querySelector("th").textContent));
      assert.deepEqual(rows.filter((row) => by[row]), Object.keys(by).sort((one, two) => by[two] - by[one]));
    });

    await job("two are compared, and a connection is hidden and shown", async () => {
      await hand.choose(page.locator("#compared select").nth(0), "reno");
      await hand.choose(page.locator("#compared select").nth(1), "cubic");
      await hand.choose(page.locator("#compared select").nth(2), "their first data");
      await page.waitForFunction(() => /^reno against cubic, from their first data/.test(document.querySelector("#compared figcaption").textContent));
      const cells = await page.locator("#compared tbody tr", { hasText: /^Goodput/ }).first().locator("td").allTextContents();
      assert.deepEqual(cells.slice(0, 2).map(Number), ["cubic", "reno"].map((controller) => Number(FLOWS[controller].measures.goodput.toFixed(cells[0].split(".")[1].length))));
      await hand.press(page.locator("#overlay .tools .toggle", { hasText: "reno" }));
      assert.ok(await figure(page, "#overlay").evaluate(({ figure: shown }) => shown.spec.panels.every(({ lines }) => lines.every(({ name: of }) => of !== "reno"))));
      await hand.press(page.getByLabel("Show reno", { exact: true }));
      await page.waitForSelector(reno, { state: "detached" });
      await hand.press(page.getByLabel("Show reno", { exact: true }));
      await page.waitForSelector(reno);
    });

    await job("requests, endpoints and paths are told", async () => {
      assert.deepEqual(await page.locator(`${other} .requests tbody .request`).allTextContents(), ["GET /0", "GET /4"]);
      await opened(`${other} .endpoints`);
      assert.equal(await page.locator(`${other} .endpoints summary`).textContent(), "Endpoints and paths (2 addresses, 1 path)");
      await opened("#summary .addresses");
      const sums = JSON.parse(windlass(work, "qlog", "metrics", "--format", "json", "other.sqlog").stdout).measures;
      assert.deepEqual(await page.locator("#summary .addresses tbody tr").first().locator("th, td").allTextContents(),
        ["192.0.2.9:4433, then 192.0.2.9:5000", "1", ...["packets_sent", "packets_received", "bytes_sent", "bytes_received"].map((measure) => grouped(sums[measure]))]);
    });

    await job("figures are taken away, and the view is in the address", async () => {
      await between(2, 2.5);
      const { name: file, bytes } = await offered({ page: () => page, click: () => hand.press(section.getByRole("button", { name: "Save what is drawn as CSV" }).first()) });
      assert.equal(file, "cubic-over-time.csv");
      const rows = bytes.toString().split("\n").filter((line) => /^Sequence of packets/.test(line.replaceAll('"', "")));
      assert.equal(rows.length, within([...SENT, ...RECEIVED], [2, 2.5]).length);
      await page.waitForFunction(() => /trace=cubic&t=2\.\.2\.5/.test(location.hash));
      const share = await offered({ page: () => page, click: () => hand.press(page.getByRole("button", { name: /^Save cubic\.sqlog as a page/ }).first()) });
      assert.match(share.name, /^cubic.*\.html$/);
    });

    await job("a file is removed", async () => {
      await hand.press(page.getByRole("button", { name: "Remove reno.sqlog" }));
      await page.waitForFunction((id) => document.querySelectorAll("#files li").length === 2 && !document.querySelector(id), reno);
      assert.ok(await overflow(page) <= 0);
    });
  }));
}
