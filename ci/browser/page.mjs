// Pages in a headless browser: opening them, and what must be true of every one.
//
// BROWSER is chromium, or firefox, which is driven over WebDriver BiDi as it is installed; WIDTH how wide its window is.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium, firefox } from "playwright-core";

export const FIREFOX = process.env.BROWSER === "firefox";
export const PHONE = { width: 390, height: 800 };
const DESKTOP = { width: Number(process.env.WIDTH ?? 1200), height: 1000 };

/** The colour schemes a page can be told of; Firefox's is light from its start. */
export const SCHEMES = FIREFOX ? ["light"] : ["light", "dark"];

/** Where Firefox saves files. */
export const downloads = FIREFOX ? mkdtempSync(join(tmpdir(), "windlass-downloads-")) : null;

let browser;
before(async () => {
  browser = FIREFOX ? await firefox.launch({
    channel: "moz-firefox", executablePath: process.env.FIREFOX ?? "/usr/bin/firefox-esr", downloadsPath: downloads,
    // The panel of downloads would take the keys.
    firefoxUserPrefs: { "browser.download.alwaysOpenPanel": false, "layout.css.prefers-color-scheme.content-override": 1, "general.smoothScroll": false },
  }) : await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
      "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
  });
});
after(async () => {
  await browser?.close();
  if (downloads) rmSync(downloads, { recursive: true });
});

/** Whether the browser draws the page: without a screen Chromium rarely stops, for good or for a while in which it loses clicks, and whatever waits for a frame waits for ever. */
const draws = (page) => page.evaluate(() => Promise.race([
  new Promise((resume) => { requestAnimationFrame(() => resume(true)); }),
  new Promise((resume) => { setTimeout(() => resume(false), 2000); }),
]));

/** Opens a file, or the page a command serves at `address`, at `hash`, after what `before` does to the page, waits for the element `ready`, hands the page to `body`, and fails on anything it complains of or asks for. Once more where the browser drew nothing. */
export async function inBrowser(options, body) {
  try {
    await once(options, body);
  } catch (error) {
    if (!error.undrawn) throw error;
    console.log(`# the browser no longer drew: ${error.message.split("\n")[0]}; once more`);
    await once(options, body);
  }
}

async function once({ file, address = pathToFileURL(file).href, hash = "", ready = "main tbody tr", before: prepare, ...options }, body) {
  const page = await browser.newPage({ viewport: DESKTOP, colorScheme: "light", ...options });
  // Beside other work a browser may take long; a page that does not come fails all the same.
  page.setDefaultTimeout(120_000);
  const complaints = [];
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    // A page that is served may ask its server for what is new.
    const asked = request.url().split("#")[0];
    if (asked !== address && !(address.startsWith("http:") && ["state?", "events?"].some((what) => asked.startsWith(address + what))) && !/^(data|blob):/.test(request.url())) complaints.push(`request: ${request.url()}`);
  });
  try {
    await prepare?.(page);
    await page.goto(address + hash, { waitUntil: "load" });
    await page.waitForSelector(ready, { state: "attached" });
    await body(page);
    assert.deepEqual(complaints, []);
  } catch (error) {
    error.undrawn = /not drawn anew/.test(error.message) || !(await draws(page).catch(() => true));
    throw error;
  } finally {
    await page.close();
  }
}

export async function shot(page, name) {
  if (!process.env.SHOTS) return;
  mkdirSync(process.env.SHOTS, { recursive: true });
  await page.screenshot({ path: join(process.env.SHOTS, `${name}.png`) });
}

/** The text packed in the element `id`. */
export const unpacked = (page, id) => page.evaluate(async (name) => {
  const bytes = Uint8Array.from(atob(document.getElementById(name).textContent), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
}, id);

/** How many figures of a page are not drawn. */
export const undrawn = (page) => page.locator(".plot").evaluateAll((all) => all.filter((plot) => !plot.querySelector(".panel-picture path")).length);

/** How many pixels a page is wider than the window. */
export const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Relative luminance of a colour of the page. */
const luminance = (page, property) => page.evaluate((name) => {
  const [r, g, b] = getComputedStyle(document.body)[name].match(/\d+/g).map((x) => {
    const c = x / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}, property);

/** That paper and ink are those of the scheme, and far enough apart. */
export async function assertReadable(page, colorScheme) {
  const [paper, ink] = [await luminance(page, "backgroundColor"), await luminance(page, "color")];
  assert.ok(colorScheme === "dark" ? paper < 0.05 : paper > 0.85, `background ${paper}`);
  assert.ok((Math.max(paper, ink) + 0.05) / (Math.min(paper, ink) + 0.05) > 7, "contrast");
}

/** That everything to be used or looked at has a name, and that the keyboard's first stop leads past the header. */
export async function assertNamed(page) {
  const nameless = await page.locator("button, input, select, [role=img], [role=group], [role=region], a, summary").evaluateAll((all) => {
    // `input.labels` looks through the whole page for each.
    const labels = new Map([...document.querySelectorAll("label")].reverse().map((label) => [label.control, label.textContent]));
    return all.filter((element) => {
      const label = element.getAttribute("aria-label") ?? "";
      const text = element.tagName === "INPUT" ? (labels.get(element) ?? "") : element.textContent;
      return !(label.trim() || (element.getAttribute("role") === null && text.trim()));
    }).map((element) => element.outerHTML.slice(0, 120));
  });
  assert.deepEqual(nameless, []);
  assert.equal(await page.locator("html").getAttribute("lang"), "en");
  assert.equal(await page.locator("th:not([scope])").count(), 0);
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute("href")), "#main");
}
