// What figures draw, to the stroke: the SVG of every figure of some traces, at two widths, is the one that figures.json has a
// digest of, in every browser; and a page drawn twice is the same to the pixel. Pixels of one machine say nothing of another's
// fonts, so no picture is kept. ACCEPT_FIGURES=1 writes the digests anew.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { open, own, viewer } from "./viewer.mjs";

const FILE = new URL("figures.json", import.meta.url);
const WIDTHS = [1000, 340];
const TRACES = ["03-quinn.sqlog", "ietf-simulator.sqlog", "prespec-quinn.qlog.js"];

/** The SVG of each figure, by its section, at both widths. */
async function drawn(page) {
  await page.waitForFunction(() => [...document.querySelectorAll("#traces .plot")].every(({ figure }) => !figure.spec.pending));
  for (const details of await page.locator(".multiplexing summary").all()) await details.click();
  await page.waitForFunction(() => [...document.querySelectorAll(".multiplexing")].every((view) => /No packet/.test(view.textContent) || view.querySelector(".plot")?.figure));
  const all = await page.evaluate((widths) => [...document.querySelectorAll("#traces .plot")].flatMap(({ figure }, i, plots) => widths.map((width) => {
    const { holder } = figure;
    holder.style.width = `${width}px`;
    figure.show(...figure.spec.whole);
    figure.draw();
    // Names of clips count the figures of the page.
    const markup = figure.panels.map(({ picture }) => picture.outerHTML).join("\n").replace(/clip-\d+-/g, "clip-");
    holder.style.width = "";
    const section = holder.closest("section").querySelector("h2").textContent;
    return [`${section}${holder.closest(".multiplexing") ? ", multiplexing" : ""} at ${width}`, markup];
  })), WIDTHS);
  return new Map(all);
}

const files = () => TRACES.map(own);
const digest = (text) => createHash("sha256").update(text).digest("hex").slice(0, 16);

test("every figure draws what it drew", () => viewer({}, async (page) => {
  await open(page, files());
  const all = await drawn(page);
  const digests = Object.fromEntries([...all].map(([name, markup]) => [name, digest(markup)]));
  if (process.env.ACCEPT_FIGURES) writeFileSync(FILE, `${JSON.stringify(digests, null, 2)}\n`);
  const expected = JSON.parse(readFileSync(FILE, "utf8"));
  assert.deepEqual(digests, expected, "figures draw otherwise; where that is meant, ACCEPT_FIGURES=1 writes figures.json anew");
}));

test("a page that is drawn twice is the same to the pixel", () => viewer({}, async (page) => {
  const picture = async () => {
    await open(page, files());
    await page.waitForFunction(() => [...document.querySelectorAll("#traces .plot")].every(({ figure }) => !figure.spec.pending));
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
