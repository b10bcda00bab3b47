// screenshot.mjs REPORT.html OUT.png: the picture of a report that stands in the README,
// its ranking beside the plots of one scenario.

import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [report, out] = process.argv.slice(2);
const SCENARIO = "halved-capacity";
const SIZE = { width: 880, height: 940 };

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic"],
});

async function half(colorScheme, prepare) {
  const page = await browser.newPage({ viewport: SIZE, colorScheme });
  await page.goto(pathToFileURL(report).href, { waitUntil: "load" });
  await prepare(page);
  await page.waitForTimeout(500);
  const png = await page.screenshot();
  await page.close();
  return `<img src="data:image/png;base64,${png.toString("base64")}">`;
}

const ranking = await half("light", (page) => page.waitForSelector("#ranking .panel-picture path"));
const plots = await half("dark", async (page) => {
  await page.locator(`#${SCENARIO} .tools`).evaluate((tools) => scrollTo(0, tools.getBoundingClientRect().top + scrollY - 95));
  await page.waitForSelector(`#${SCENARIO} .plot .panel-picture path`);
});
const both = await browser.newPage({ viewport: { width: 2 * SIZE.width, height: SIZE.height } });
await both.setContent(`<body style="margin:0;display:flex">${ranking}${plots}</body>`);
await both.screenshot({ path: out });
await browser.close();
