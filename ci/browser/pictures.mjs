// pictures.mjs PAGE WINDLASS: the pictures of docs/questions, taken of the viewer PAGE at addresses that its readers can open, too. WINDLASS is the command
// that runs what the pages run; scenarios that a page holds are taken from it.

import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [page, windlass] = process.argv.slice(2);
const QUESTIONS = new URL("../../docs/questions/", import.meta.url);
const WIDTH = 860;

/** Each question: what is run, which of its traces are opened under which name, the view, and which panels of which section are shown. */
const PICTURES = [
  { question: "slow-at-loss", run: ["random-loss", "-c", "reno"], traces: { reno: "reno@sim/flow.sqlog" }, view: "trace=reno&t=2..6&query=lost", section: "#trace-1-0", panels: ["Window", "Round-trip", "Events"] },
  { question: "queue", run: ["deep-buffer", "-c", "cubic", "-c", "vegas"], traces: { cubic: "cubic@sim/flow.sqlog", vegas: "vegas@sim/flow.sqlog" }, view: "overlay", section: "#overlay", panels: ["Congestion window", "Round-trip"] },
  { question: "app-limited", scenario: 0, run: [], traces: { answer: "answer.sqlog", download: "download.sqlog" }, view: "trace=answer&hide=ssthresh", section: "#trace-1-0", panels: ["Window", "Events"] },
  { question: "fair-share", run: ["two-flows", "-c", "cubic"], traces: { first: "first.sqlog", second: "second.sqlog" }, view: "overlay", section: "#overlay", panels: ["Congestion window", "Goodput"] },
  { question: "pacing", scenario: 0, run: ["--stack", "sim", "--stack", "quinn"], traces: { sim: "@sim.sqlog|@sim/flow.sqlog", quinn: "@quinn.sqlog|@quinn/flow.sqlog" }, view: "trace=quinn&t=5..5.04&trace=sim&t=5..5.04", section: "#sections section", panels: ["Data in all", "Sequence of packets"] },
];

/** The `number`th scenario that a page holds. */
const scenarioOf = (question, number) => [...readFileSync(new URL(`${question}.md`, QUESTIONS), "utf8").matchAll(/```toml\n(.*?)```/gs)][number][1];

/** All files in a directory. */
const filesIn = (directory) => readdirSync(directory, { recursive: true }).map((name) => join(directory, name)).sort();

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-quic"] });
const work = mkdtempSync(join(tmpdir(), "windlass-pictures-"));
try {
  for (const { question, scenario, run, traces, view, section, panels } of PICTURES) {
    const [file, out] = [join(work, `${question}.toml`), join(work, question)];
    if (scenario !== undefined) writeFileSync(file, scenarioOf(question, scenario));
    const done = spawnSync(windlass, ["run", ...(scenario === undefined ? [] : [file]), ...run, "--out", out], { encoding: "utf8" });
    if (done.status !== 0) throw new Error(`${question}: ${done.stderr}`);
    const opened = Object.entries(traces).map(([name, ends]) => {
      const from = filesIn(out).find((path) => ends.split("|").some((end) => path.endsWith(end)));
      if (!from) throw new Error(`${question}: none of ${filesIn(out).join(" ")} ends with ${ends}`);
      const path = join(work, `${name}.sqlog`);
      copyFileSync(from, path);
      return path;
    });
    const shown = await browser.newPage({ viewport: { width: WIDTH, height: 1000 }, colorScheme: "light" });
    await shown.goto(`${pathToFileURL(page).href}#view?${view}`);
    await shown.waitForSelector("html[data-ready]", { state: "attached" });
    await shown.setInputFiles("#choose", opened);
    await shown.waitForFunction((count) => document.querySelectorAll("#files li").length === count && !document.querySelector("#files progress"), opened.length);
    // Only what the picture is of.
    await shown.evaluate((wanted) => {
      for (const part of document.querySelectorAll("header, #open, #list, #together > section, #sections section")) part.hidden = !part.matches(wanted);
    }, section);
    await shown.waitForTimeout(1500);
    const boxes = await shown.evaluate(([wanted, titles]) => [...document.querySelectorAll(wanted)].map((part) => {
      const { figure } = part.querySelector(".plot");
      figure.draw();
      // The last panel that is left has the times.
      const kept = figure.spec.panels.filter(({ title }) => titles.some((start) => title.startsWith(start)));
      figure.set({ ...figure.spec, panels: kept });
      figure.draw();
      for (const other of part.querySelectorAll(":scope > :not(h2, figure), figcaption, .chosen")) other.hidden = true;
      return part.getBoundingClientRect().height;
    }), [section, panels]);
    await shown.waitForTimeout(500);
    const area = await shown.evaluate((wanted) => {
      const all = [...document.querySelectorAll(wanted)].map((part) => part.getBoundingClientRect());
      return { x: 0, y: Math.max(0, scrollY + all[0].top), width: innerWidth, height: all.at(-1).bottom - all[0].top + 8 };
    }, section);
    await shown.screenshot({ path: new URL(`${question}.png`, QUESTIONS).pathname, clip: area, fullPage: true });
    console.log(`docs/questions/${question}.png: ${boxes.length} of ${opened.length}, ${Math.round(area.height)} pixels high`);
    await shown.close();
  }
} finally {
  rmSync(work, { recursive: true });
  await browser.close();
}
