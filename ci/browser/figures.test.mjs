// What figures of the viewer draw is what figures.json has digests of, in every browser; and a page drawn twice is the same to the pixel.

import assert from "node:assert/strict";
import { test } from "node:test";
import { assertDrawn, drawn } from "./drawn.mjs";
import { open, own, viewer } from "./viewer.mjs";

const TRACES = ["03-quinn.sqlog", "ietf-simulator.sqlog", "prespec-quinn.qlog.js"];
const files = () => TRACES.map(own);
const complete = (page) => page.waitForFunction(() => [...document.querySelectorAll("#traces .plot")].every(({ figure }) => !figure.spec.pending));

test("every figure draws what it drew", () => viewer({}, async (page) => {
  await open(page, files());
  await complete(page);
  for (const details of await page.locator(".multiplexing summary").all()) await details.click();
  await page.waitForFunction(() => [...document.querySelectorAll(".multiplexing")].every((view) => /No packet/.test(view.textContent) || view.querySelector(".plot")?.figure));
  assertDrawn(new URL("figures.json", import.meta.url), await drawn(page, "#traces"));
}));

test("a page that is drawn twice is the same to the pixel", () => viewer({}, async (page) => {
  const picture = async () => {
    await open(page, files());
    await complete(page);
    const plot = page.locator("#overlay .plot");
    await plot.scrollIntoViewIfNeeded();
    await page.waitForFunction(() => document.querySelector("#overlay .plot").figure.drawn.length > 0);
    await page.mouse.move(0, 0);
    return plot.screenshot({ animations: "disabled" });
  };
  const first = await picture();
  await page.reload();
  await page.waitForSelector("html[data-ready]", { state: "attached" });
  assert.ok(first.equals(await picture()));
}));
