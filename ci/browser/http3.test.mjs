// Chromium and quiche with our controller, a real network's width apart: Chromium downloads
// and uploads over HTTP/3 through the userspace link, and what each side logged agrees.
//
// SERVER is the example quiche-http3, WINDLASS the command line; LOGS, if set, a directory
// for the traces.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createHash, randomBytes, X509Certificate } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const { SERVER, WINDLASS, LOGS } = process.env;
const CONTROLLER = "tcp-k:k=8";
const BYTES = 5_000_000;
const RTT_MS = 40;
const LINK = `
description = "20 Mbit/s both ways, ${RTT_MS} ms, a tenth of a BDP of buffer"
duration_s = 600
sample_ms = 1000
[dumbbell]
rate_mbps = 20
rtt_ms = ${RTT_MS}
buffer_bdp = 0.1
[dumbbell.back]
rate_mbps = 20
buffer_bdp = 0.1
[[flow]]
controller = "reno"
`;

const work = mkdtempSync(join(tmpdir(), "windlass-http3-"));
const at = (...names) => join(work, ...names);
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
const film = randomBytes(BYTES);
const running = [];

/** Starts a program and gives its lines as they come. */
function start(program, args) {
  const child = spawn(program, args, { cwd: work, stdio: ["ignore", "pipe", "pipe"] });
  running.push(child);
  const lines = [];
  const waiting = [];
  let ended = false;
  const look = () => {
    for (const wait of [...waiting]) {
      const found = lines.map((line) => wait.pattern.exec(line)).find(Boolean);
      if (!found && !ended) continue;
      waiting.splice(waiting.indexOf(wait), 1);
      if (found) wait.resolve(found);
      else wait.reject(new Error(`${program} ended without ${wait.pattern}:\n${lines.join("\n")}`));
    }
  };
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on("line", (line) => { lines.push(line); look(); });
  }
  const closed = new Promise((resolve) => child.on("close", () => { ended = true; look(); resolve(lines); }));
  const line = (pattern) => new Promise((resolve, reject) => { waiting.push({ pattern, resolve, reject }); look(); });
  return { line, closed, interrupt: () => child.kill("SIGINT") };
}

function windlass(...args) {
  const done = spawnSync(WINDLASS, args, { encoding: "utf8", maxBuffer: 1 << 30 });
  assert.equal(done.status, 0, `windlass ${args.join(" ")}: ${done.stderr}`);
  return done.stdout;
}

/** The records of a JSON text sequence. */
const records = (path) => readFileSync(path, "utf8").split("\x1e").filter((text) => text.trim()).map((text) => JSON.parse(text));
const only = (directory) => {
  const names = readdirSync(directory);
  assert.equal(names.length, 1, names.join(" "));
  return join(directory, names[0]);
};
/** Each value that differs from the one before it. */
const changes = (values) => values.filter((value, i) => i === 0 || value !== values[i - 1]);

let got;
let carried;
before(async () => {
  mkdirSync(at("served"));
  mkdirSync(at("qlog"));
  writeFileSync(at("served", "index.html"), "<!doctype html><title>A page</title><p>Nothing here.");
  writeFileSync(at("served", "film"), film);
  writeFileSync(at("link.toml"), LINK);
  writeFileSync(at("cc.toml"), `controller = "tcp-k"\n[parameters]\nk = 8\n[recording]\ndirectory = "recorded"\nsteps = true\n`);
  const server = start(SERVER, ["--config", at("cc.toml"), "--qlog", at("qlog"), "127.0.0.1:0", at("served"), at("keys")]);
  const [, there] = await server.line(/^serving .* on (\S+)$/);
  const link = start(WINDLASS, ["link", at("link.toml"), "--to", there, "--json"]);
  const [, here] = await link.line(/^(\S+) leads to /);

  const key = new X509Certificate(readFileSync(at("keys", "certificate.der"))).publicKey.export({ type: "spki", format: "der" });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
      "--disable-sync", "--enable-quic", `--origin-to-force-quic-on=${here}`,
      `--ignore-certificate-errors-spki-list=${createHash("sha256").update(key).digest("base64")}`,
      `--log-net-log=${at("netlog.json")}`, "--net-log-capture-mode=Default"],
  });
  try {
    const page = await browser.newPage();
    const response = await page.goto(`https://${here}/`, { waitUntil: "load" });
    assert.equal(response.status(), 200);
    got = await page.evaluate(async (bytes) => {
      const hex = async (body) => [...new Uint8Array(await crypto.subtle.digest("SHA-256", body))]
        .map((byte) => byte.toString(16).padStart(2, "0")).join("");
      const film = await (await fetch("/film")).arrayBuffer();
      const body = new Uint8Array(bytes);
      for (let i = 0; i < bytes; i += 65_536) crypto.getRandomValues(body.subarray(i, i + 65_536));
      const upload = await (await fetch("/upload", { method: "POST", body })).json();
      const outside = await fetch("/%2e%2e/cc.toml");
      return {
        film: { bytes: film.byteLength, sha256: await hex(film) },
        upload, sent: await hex(body), outside: outside.status,
        protocols: [...new Set(performance.getEntriesByType("resource").map((entry) => entry.nextHopProtocol))],
      };
    }, BYTES);
  } finally {
    // Leaves the connection open, so that Chromium logs its own counts.
    await browser.close();
  }
  await server.line(/packets lost, round trip/);
  link.interrupt();
  carried = JSON.parse((await link.closed).at(-1));
  if (LOGS) {
    mkdirSync(LOGS, { recursive: true });
    copyFileSync(at("netlog.json"), join(LOGS, "chromium.netlog.json"));
    copyFileSync(only(at("qlog")), join(LOGS, "quiche.sqlog"));
    copyFileSync(only(at("recorded")), join(LOGS, "recorder.sqlog"));
  }
}, { timeout: 180_000 });
after(() => {
  for (const child of running) child.kill();
  rmSync(work, { recursive: true, force: true });
});

test("5 MB arrive whole each way, over HTTP/3", () => {
  assert.deepEqual(got.film, { bytes: BYTES, sha256: sha256(film) });
  assert.deepEqual(got.upload, { bytes: BYTES, sha256: got.sent });
  assert.deepEqual(got.protocols, ["h3"]);
  assert.equal(got.outside, 404);
  assert.equal(carried.clients, 1);
  const forwarded = carried.queues.map((queue) => queue.packets_forwarded);
  assert.equal(forwarded.length, 2);
  assert.ok(forwarded.every((packets) => packets > BYTES / 1500), forwarded.join(" "));
});

test("quiche logs the windows our controller decides, all of them", () => {
  const [, ...steps] = records(only(at("recorded")));
  assert.equal(steps.find((step) => step.name === "windlass:started").data.controller, CONTROLLER);
  const decided = steps.map((step) => step.data?.decision?.cwnd).filter((cwnd) => cwnd !== undefined);
  const logged = records(only(at("qlog"))).map((event) => event.data?.congestion_window).filter((cwnd) => cwnd !== undefined);
  const windows = changes(logged);
  assert.ok(windows.length > 50 && decided.length > 1000, `${windows.length} windows, ${decided.length} decisions`);
  assert.deepEqual(windows, changes(decided));
});

test("Chromium's network log, converted, has what Chromium counted", () => {
  const netlog = JSON.parse(readFileSync(at("netlog.json"), "utf8"));
  // A list of states, one for each set of sessions the browser keeps apart.
  const sessions = netlog.polledData.flatMap((state) => state.quicInfo.sessions);
  assert.equal(sessions.length, 1);
  const [session] = sessions;
  assert.ok(session.packets_sent > BYTES / 1500 && session.packets_received > BYTES / 1500, JSON.stringify(session));
  windlass("qlog", "convert", "--to", "ietf", "--out", at("client.sqlog"), at("netlog.json"));
  const events = records(at("client.sqlog")).slice(1);
  const count = (name) => events.filter((event) => event.name === `quic:${name}`).length;
  const types = Object.fromEntries(Object.entries(netlog.constants.logEventTypes).map(([name, type]) => [type, name]));
  const logged = (name) => netlog.events.filter((event) => types[event.type] === `QUIC_SESSION_${name}`).length;
  // The packet that closes the connection leaves after Chromium logged its totals, and it
  // counts datagrams, not packets, as received.
  assert.equal(count("packet_sent") - logged("CONNECTION_CLOSE_FRAME_SENT"), session.packets_sent, "sent");
  assert.equal(count("packet_lost"), session.packets_lost, "lost");
  const together = logged("UNAUTHENTICATED_PACKET_HEADER_RECEIVED") - logged("PACKET_RECEIVED");
  assert.equal(count("packet_received") - together, session.packets_received, "received");
  const { checks, bad_records: bad } = JSON.parse(windlass("qlog", "info", "--json", at("netlog.json"))).contents;
  assert.equal(bad, 0);
  assert.deepEqual(checks.map((check) => check.counter), ["packets_sent", "packets_received", "packets_lost"]);
  for (const check of checks) assert.equal(check.counted, check.reported, JSON.stringify(check));
});

test("the round trip Chromium saw is the one the link made", () => {
  const [metrics] = windlass("qlog", "metrics", "--format", "json", at("client.sqlog")).trim().split("\n").map((line) => JSON.parse(line));
  const { forth, back } = carried.transit_ms;
  assert.ok(forth + back >= RTT_MS, JSON.stringify(carried.transit_ms));
  // The smallest: a busy browser notices packets late, which is in the others.
  const { min } = metrics.measures.rtt;
  assert.ok(min >= RTT_MS - 1 && min <= forth + back + 2, `${JSON.stringify(metrics.measures.rtt)}, the link ${forth} + ${back} ms`);
});
