// The view in the address of the page that reads traces: of the overlay, of two that are compared, of what is open and shown;
// and fingers on figures. What it needs is in viewer.mjs.

import assert from "node:assert/strict";
import { test } from "node:test";
import { figure, findable, open, viewer } from "./viewer.mjs";

/** Every view of a page, as it can be seen. */
const seen = (page) => page.evaluate(() => ({
  figures: Object.fromEntries([...document.querySelectorAll("#together .plot, #sections > .file > section > figure .plot")].map(({ figure: { view, hidden, wild, holder } }) =>
    [holder.closest("section").id, { view: view.map((time) => Number(time.toFixed(6))), hidden: [...hidden].sort(), wild }])),
  overlaid: [...document.querySelectorAll("#overlay .tools .toggle")].map((button) => [button.textContent, button.getAttribute("aria-pressed")]),
  compared: [...document.querySelectorAll("#compared select")].map((select) => select.selectedOptions[0].textContent),
  shown: [...document.querySelectorAll("#sections h2")].map(({ textContent }) => textContent),
  open: [...document.querySelectorAll("#sections details.more")].filter((part) => part.open && !part.hidden).map((part) => `${part.closest("section").id} ${part.classList[1]}`),
}));

test("overlay, comparison, open parts and the choice of connections are in the address, and come back", () => viewer({}, async (page) => {
  const files = ["one", "two", "three"].map((name, i) => findable(`${name}.sqlog`, 2000 + 500 * i));
  await open(page, files);
  await page.getByLabel("Show two", { exact: true }).uncheck();
  await figure(page, "#overlay").evaluate(({ figure: shown }) => shown.show(0.5, 1.5));
  await page.locator("#overlay .tools .toggle", { hasText: "one" }).click();
  await page.locator("#compared select").nth(0).selectOption({ label: "one" });
  await page.locator("#compared select").nth(1).selectOption({ label: "three" });
  await page.locator("#compared select").nth(2).selectOption("data");
  await page.waitForFunction(() => /from their first data/.test(document.querySelector("#compared figcaption").textContent));
  await figure(page, "#compared").evaluate(({ figure: shown }) => { shown.show(0.25, 0.75); shown.toggle("difference smoothed_rtt"); });
  await page.locator("#sections section", { has: page.locator("h2", { hasText: "three" }) }).locator(".statistics summary").click();
  await page.locator("#sections section", { has: page.locator("h2", { hasText: "one" }) }).locator(".multiplexing summary").click();
  await page.waitForFunction(() => /open=statistics/.test(location.hash) && /open=multiplexing/.test(location.hash) && /compared=one/.test(location.hash));
  const { hash } = new URL(page.url());
  assert.equal(hash, "#view?trace=one&open=multiplexing&trace=three&open=statistics&overlay=&t=0.5..1.5&hide=one&compared=one&t=0.25..0.75&against=three&from=data&hide=difference+smoothed_rtt&only=1");
  const before = await seen(page);
  assert.deepEqual(before.shown, ["one", "three"]);
  await viewer({ hash }, async (other) => {
    await open(other, files);
    await other.waitForFunction(() => /from their first data/.test(document.querySelector("#compared figcaption")?.textContent));
    await other.waitForFunction(() => document.querySelectorAll("#sections details.statistics[open], #sections details.multiplexing[open]").length === 2);
    assert.deepEqual(await seen(other), before);
    assert.equal(new URL(other.url()).hash, hash);
    // One connection more, and the others stay as they are.
    await other.getByLabel("Show two", { exact: true }).check();
    await other.waitForFunction(() => /trace=two/.test(location.hash));
    assert.equal(new URL(other.url()).hash, hash.replace("&overlay", "&trace=two&overlay"));
  });
}));

test("fingers read, choose, move and zoom a figure", () => viewer({}, async (page) => {
  await open(page, [findable("fingers.sqlog", 3000)]);
  const plot = figure(page, "#trace-1-0");
  await plot.evaluate((element) => element.scrollIntoView({ block: "start" }));
  await page.waitForFunction(() => document.querySelector("#trace-1-0 .plot").figure.drawn.length > 0);
  /** Fingers at shares of the figure's width, from each first place to each last one at once. */
  const touch = (places) => plot.evaluate(({ figure: shown }, fingers) => {
    const { picture } = shown.panels[0];
    const box = picture.getBoundingClientRect();
    const send = (type, pointerId, share) => picture.dispatchEvent(new PointerEvent(type, { pointerId, pointerType: "touch", isPrimary: pointerId === 2, button: type === "pointermove" ? -1 : 0, bubbles: true,
      clientX: box.left + shown.left + share * shown.columns, clientY: box.top + 40 }));
    fingers.forEach(([from], i) => send("pointerdown", i + 2, from));
    for (let step = 1; step <= 10; step += 1) fingers.forEach(([from, to], i) => send("pointermove", i + 2, from + (to - from) * step / 10));
    fingers.forEach(([, to], i) => send("pointerup", i + 2, to));
  }, places);
  const view = () => plot.evaluate(({ figure: { view } }) => view);
  await plot.evaluate(({ figure: shown }) => { shown.show(1, 2); shown.draw(); });
  // Two fingers apart to twice the distance, and both to the right.
  await touch([[0.4, 0.3], [0.6, 0.7]]);
  const [from, to] = await view();
  assert.ok(Math.abs(from - 1.25) < 0.02 && Math.abs(to - 1.75) < 0.02, `${from} to ${to}`);
  await plot.evaluate(({ figure: shown }) => { shown.show(1, 2); shown.draw(); });
  await touch([[0.3, 0.5], [0.5, 0.7]]);
  const moved = await view();
  assert.ok(Math.abs(moved[0] - 0.8) < 0.02 && Math.abs(moved[1] - 1.8) < 0.02, `${moved}`);
  // One finger reads without moving, and chooses where it rests.
  await touch([[0.2, 0.6]]);
  assert.deepEqual(await view(), moved);
  assert.ok(Math.abs(await plot.evaluate(({ figure: { cursor } }) => cursor) - (moved[0] + 0.6)) < 0.02);
  await touch([[0.5, 0.5]]);
  await page.waitForFunction(() => /^Packet \d+: (sent|received) at 1\.3/.test(document.querySelector("#trace-1-0 .chosen").textContent));
}));
