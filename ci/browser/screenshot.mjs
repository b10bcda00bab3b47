// screenshot.mjs REPORT.html OUT.png: the picture of a report that stands in the README,
// its ranking beside the plots of one scenario. With a third argument, a picture, it fails
// where that one shows a page that looks otherwise; other digits and fonts may differ.

import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [report, out, committed] = process.argv.slice(2);
/** Share of the pixels of two pictures that may differ. */
const ALIKE = 0.05;
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
if (committed) {
  const sources = [out, committed].map((file) => `data:image/png;base64,${readFileSync(file).toString("base64")}`);
  const share = await both.evaluate(async (pictures) => {
    const pixels = await Promise.all(pictures.map(async (source) => {
      const picture = new Image();
      picture.src = source;
      await picture.decode();
      const canvas = Object.assign(document.createElement("canvas"), { width: picture.width, height: picture.height });
      const context = canvas.getContext("2d");
      context.drawImage(picture, 0, 0);
      return { size: `${picture.width} × ${picture.height}`, data: context.getImageData(0, 0, picture.width, picture.height).data };
    }));
    if (pixels[0].size !== pixels[1].size) return 1;
    let other = 0;
    for (let i = 0; i < pixels[0].data.length; i += 4) {
      other += [0, 1, 2].some((channel) => Math.abs(pixels[0].data[i + channel] - pixels[1].data[i + channel]) > 48);
    }
    return other * 4 / pixels[0].data.length;
  }, sources);
  console.log(`${(share * 100).toFixed(2)} % of the pixels differ from ${committed}`);
  if (share > ALIKE) {
    console.error(`${committed} shows another page: ci/picture makes it anew`);
    process.exitCode = 1;
  }
}
await browser.close();
