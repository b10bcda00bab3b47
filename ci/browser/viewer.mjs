// What tests of the page that reads traces share: opening it and files, traces, and what it offers to save.
//
// VIEWER is the page, WINDLASS the command line whose numbers it must show, TRACES directories of
// traces, separated by colons; SHOTS, if set, a directory for screenshots.

import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after } from "node:test";
import { downloads, inBrowser } from "./page.mjs";

const { VIEWER, WINDLASS, TRACES } = process.env;
const READY = "html[data-ready]";
export const viewer = (options, body) => inBrowser({ file: VIEWER, ready: READY, ...options }, body);
export const traces = TRACES.split(":").flatMap((directory) => readdirSync(directory).filter((name) => !name.endsWith(".md")).sort().map((name) => join(directory, name)))
  // As the page orders them.
  .sort((one, other) => new Intl.Collator("en", { numeric: true }).compare(basename(one), basename(other)));
export const own = (name) => traces.find((path) => basename(path) === name);
export const work = mkdtempSync(join(tmpdir(), "windlass-viewer-"));
after(() => rmSync(work, { recursive: true }));

export const windlass = (cwd, ...args) => spawnSync(WINDLASS, args, { cwd, encoding: "utf8", maxBuffer: 1 << 30 });

/** Opens files and waits until all are read. */
export async function open(page, files) {
  await page.setInputFiles("#choose", files);
  await page.waitForFunction((count) => document.querySelectorAll("#files li").length === count && !document.querySelector("#files progress"), files.length, { timeout: 300_000 });
}

/** Puts a value into a field, as if it were typed: Firefox's driver adds to what a field of numbers holds. */
export const enter = (field, text) => field.evaluate((element, value) => {
  element.value = value;
  for (const type of ["input", "change"]) element.dispatchEvent(new Event(type, { bubbles: true }));
}, text);

/** The text of the file that pressing a button offers. */
export const saved = async (page, button) => (await offered(page.getByRole("button", { name: button }))).bytes.toString("utf8");

/** How long a file may take to be saved, ms, and between two looks for it. */
const SAVED = 20_000;
const LOOK = 50;

/** The file that pressing a button offers: its name and bytes. */
export async function offered(button) {
  if (downloads) return saving(button);
  const [download] = await Promise.all([button.page().waitForEvent("download"), button.click()]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

/** The same where the driver does not tell of it: the file that comes to lie among the downloads. */
async function saving(button) {
  await button.click();
  for (let waited = 0; waited < SAVED; waited += LOOK) {
    await button.page().waitForTimeout(LOOK);
    const [name, ...others] = readdirSync(downloads);
    const bytes = name && !others.length ? readFileSync(join(downloads, name)) : "";
    if (!bytes.length || name.endsWith(".part")) continue;
    rmSync(join(downloads, name));
    return { name, bytes };
  }
  throw new Error(`nothing was saved: ${readdirSync(downloads)}`);
}

/** The processes that this one has begun, and theirs. */
function descendants() {
  const parents = readdirSync("/proc").filter((name) => /^\d+$/.test(name)).flatMap((name) => {
    try {
      return [[name, readFileSync(`/proc/${name}/stat`, "utf8").replace(/^.*\) . /s, "").split(" ")[0]]];
    } catch {
      return [];
    }
  });
  const of = (parent) => parents.filter(([, other]) => other === parent).flatMap(([name]) => [name, ...of(name)]);
  return of(String(process.pid));
}

/** Bytes of memory that the browser has, what several of its processes share counted once; null where the system does not tell. */
export function memoryOfBrowser() {
  if (!existsSync("/proc/self/smaps_rollup")) return null;
  return descendants().reduce((sum, name) => {
    try {
      return sum + 1024 * Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${name}/smaps_rollup`, "utf8"))?.[1] ?? 0);
    } catch {
      return sum;
    }
  }, 0);
}

/** The first figure of a section. */
export const figure = (page, section) => page.locator(`${section} .plot`).first();

/** A trace of `events`, each `[ms, name, data]`. */
export function written(name, vantage, events) {
  const header = { file_schema: "urn:ietf:params:qlog:file:sequential", serialization_format: "application/qlog+json-seq", trace: { vantage_point: { type: vantage } } };
  const path = join(work, name);
  writeFileSync(path, [header, ...events.map(([time, event, data]) => ({ time, name: event, data }))].map((record) => `\x1e${JSON.stringify(record)}\n`).join(""));
  return path;
}

export const packet = (number, frames = []) => ({ header: { packet_type: "1RTT", packet_number: number }, raw: { length: 1200 }, frames });

/** A trace of `count` packets sent, one a ms and each acknowledged 40 ms later but for every 100th, which is lost 60 ms later; packet 1500 carries stream 4 as every fourth does. */
export function findable(name, count) {
  const events = [];
  for (let i = 0; i < count; i += 1) {
    events.push([i, "quic:packet_sent", { ...packet(i, [{ frame_type: "stream", stream_id: 4 * (i % 4 === 0), offset: 600 * i, raw: { length: 600 } }]), raw: { length: 1000 + i % 300 } }]);
    if (i % 100 === 99) events.push([i + 60, "quic:packet_lost", { header: { packet_type: "1RTT", packet_number: i }, trigger: "time_threshold" }]);
    else events.push([i + 40, "quic:packet_received", { ...packet(i, [{ frame_type: "ack", acked_ranges: [[i]] }]), raw: { length: 40 } }]);
    events.push([i + 40, "quic:recovery_metrics_updated", { congestion_window: 20_000 + 10 * i, smoothed_rtt: 40 }]);
  }
  return written(name, "server", events.sort(([one], [other]) => one - other));
}
