// What figures draw, to the stroke: the SVG of every figure at two widths, of which a file holds digests. Pixels of one machine say nothing of another's
// fonts, so no picture is kept. ACCEPT_FIGURES=1 writes the digests anew.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

/** How wide figures are in windows of 1440 and of 390 pixels. */
const WIDTHS = [1312, 366];

/** The SVG of each figure within `scope`, by its section, at both widths. */
export async function drawn(page, scope) {
  const all = await page.evaluate(([widths, within]) => [...document.querySelectorAll(`${within} .plot`)].flatMap(({ figure }) => widths.map((width) => {
    const { holder } = figure;
    holder.style.width = `${width}px`;
    if (figure.spec.whole) figure.show(...figure.spec.whole);
    figure.draw();
    // Names of clips count the figures of the page.
    const markup = (figure.panels ?? [figure]).map(({ picture }) => picture.outerHTML).join("\n").replace(/clip-\d+-/g, "clip-");
    holder.style.width = "";
    const section = holder.closest("section");
    const nth = [...section.querySelectorAll("figure .plot")].indexOf(holder);
    const which = holder.closest(".multiplexing") ? ", multiplexing" : nth > 0 ? `, ${nth + 1}` : "";
    return [`${section.querySelector("h2").textContent}${which} at ${width}`, markup];
  })), [WIDTHS, scope]);
  assert.equal(new Map(all).size, all.length, "two figures of one name");
  return all;
}

/** That `all`, names and markup, are those that `file` has digests of. */
export function assertDrawn(file, all) {
  const digest = (text) => createHash("sha256").update(text).digest("hex").slice(0, 16);
  const digests = Object.fromEntries(all.map(([name, markup]) => [name, digest(markup)]));
  if (process.env.ACCEPT_FIGURES) writeFileSync(file, `${JSON.stringify(digests, null, 2)}\n`);
  assert.deepEqual(digests, JSON.parse(readFileSync(file, "utf8")), "figures draw otherwise; where that is meant, ACCEPT_FIGURES=1 writes the digests anew");
}
