// The language of queries over packets, without a browser.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

const { parsedQuery, matchingPackets, firstFound, queryCompletions, queryNames } = createRequire(import.meta.url)("../../harness/cli/src/report/traces/js/query.js");

const TYPES = ["initial", "handshake", "0RTT", "1RTT", "retry", "unknown"];
const FRAMES = ["padding", "ping", "ack", "crypto", "stream", "max_data"];
const REASONS = ["reordering_threshold", "time_threshold"];

/** Packets as `decodedPackets` gives them, of `{ t, sent, type, pn, size, frames, streams: [[id, fin], …], lost: [ns, reason], acked: [ns, by] }`. */
function columns(rows) {
  const some = (of) => Float64Array.from(rows, of);
  const all = rows.flatMap(({ streams = [] }) => streams);
  const first = new Uint32Array(rows.length + 1);
  rows.forEach(({ streams = [] }, i) => { first[i + 1] = first[i] + streams.length; });
  return {
    length: rows.length, types: TYPES, frameTypes: FRAMES, reasons: REASONS, first,
    time: some(({ t }) => t), flags: Uint8Array.from(rows, ({ sent = true, type = "1RTT" }) => TYPES.indexOf(type) * 2 + Number(sent)),
    kinds: Uint32Array.from(rows, ({ frames = [] }) => frames.reduce((bits, name) => bits | 1 << FRAMES.indexOf(name), 0)),
    number: some(({ pn }) => (pn === undefined ? 0 : pn + 1)), size: some(({ size }) => (size === undefined ? 0 : size + 1)),
    lost: some(({ lost }) => (lost ? lost[0] + 1 : 0)), reason: some(({ lost }) => (lost?.[1] ? REASONS.indexOf(lost[1]) + 1 : 0)),
    acked: some(({ acked }) => (acked ? acked[0] + 1 : 0)), by: some(({ acked }) => (acked?.[1] === undefined ? 0 : acked[1] + 1)),
    stream: Float64Array.from(all, ([id]) => id), bytes: Float64Array.from(all, ([, fin]) => 200 + Number(Boolean(fin))),
  };
}

const PACKETS = columns([
  { t: 0, type: "initial", pn: 0, size: 1200, frames: ["crypto", "padding"], acked: [40e6, 0] },
  { t: 0.1, pn: 1500, size: 1252, frames: ["stream"], streams: [[4], [8, true]], lost: [60e6, "time_threshold"] },
  { t: 0.2, sent: false, pn: 7, size: 40, frames: ["ack"] },
  { t: 0.3, pn: 1501, size: 1252, frames: ["stream", "max_data"], streams: [[44]], lost: [30e6, "reordering_threshold"], acked: [50e6, 8] },
  { t: 0.4, pn: 15, frames: ["stream"], streams: [[4]], acked: [2e6, 9] },
]);
const names = queryNames(PACKETS);
const found = (text) => [...matchingPackets(parsedQuery(text, names), PACKETS)];
const mistake = (text) => {
  try { parsedQuery(text, names); } catch (error) { return [error.message, text.slice(error.from, error.to)]; }
  return assert.fail(`${text} is no mistake`);
};

test("a field is compared as a number, and not as a text", () => {
  assert.deepEqual(found("pn=1500"), [1]);
  assert.deepEqual(found("pn==15"), [4]);
  assert.deepEqual(found("stream=4"), [1, 4]);
  assert.deepEqual(found("size>1200"), [1, 3]);
  assert.deepEqual(found("size>=1200"), [0, 1, 3]);
  assert.deepEqual(found("size<100"), [2]);
  assert.deepEqual(found("pn=1500..1501"), [1, 3]);
  assert.deepEqual(found("t=0.1..0.2"), [1, 2]);
  assert.deepEqual(found("t=0.25.."), [3, 4]);
  assert.deepEqual(found("t=..0.05"), [0]);
  assert.deepEqual(found("stream=8,40..50"), [1, 3]);
  assert.deepEqual(found("stream>8"), [3]);
  assert.deepEqual(found("by=8"), [3]);
  assert.deepEqual(found("rtt=10..45"), [0]);
});

test("what is not logged is neither equal nor less nor more", () => {
  assert.ok(!found("size<9999").includes(4) && !found("size>0").includes(4));
  assert.deepEqual(found("not size>0"), [4]);
  assert.deepEqual(found("by<100"), [0, 3, 4]);
});

test("frames, types and reasons have names, whatever the case of their letters", () => {
  assert.deepEqual(found("frame=ack"), [2]);
  assert.deepEqual(found("FRAME=MAX_DATA"), [3]);
  assert.deepEqual(found("frame=maxdata,crypto"), [0, 3]);
  assert.deepEqual(found("type=1rtt sent"), [1, 3, 4]);
  assert.deepEqual(found("1RTT received"), [2]);
  assert.deepEqual(found("ack"), [2]);
  assert.deepEqual(found("reason=time-threshold"), [1]);
  assert.deepEqual(found("frame!=stream"), [0, 2]);
});

test("flags say what became of a packet", () => {
  assert.deepEqual(found("lost"), [1, 3]);
  assert.deepEqual(found("acked"), [0, 3, 4]);
  assert.deepEqual(found("spurious"), [3]);
  assert.deepEqual(found("fin"), [1]);
  assert.deepEqual(found("received"), [2]);
});

test("not binds closest, then and, then or; parentheses come first", () => {
  assert.deepEqual(found("lost or acked and size=1200"), [0, 1, 3]);
  assert.deepEqual(found("(lost or acked) and size=1200"), [0]);
  assert.deepEqual(found("not lost sent"), [0, 4]);
  assert.deepEqual(found("not (lost or received)"), [0, 4]);
  assert.deepEqual(found("lost && !spurious || pn=0"), [0, 1]);
  assert.deepEqual(found("not not lost"), [1, 3]);
  assert.deepEqual(found("  "), [0, 1, 2, 3, 4], "an empty query finds all");
});

test("a mistake is marked where it stands, and says what was expected", () => {
  assert.deepEqual(mistake("lost and pm=4")[1], "pm");
  assert.deepEqual(mistake("pn=4,x"), ["“x” is no number", "x"]);
  assert.deepEqual(mistake("t=3..2")[1], "3..2");
  assert.deepEqual(mistake("t=..")[1], "..");
  assert.deepEqual(mistake("pn=4,")[1], ",");
  assert.deepEqual(mistake("frame=akc")[1], "akc");
  assert.match(mistake("frame=akc")[0], /no frame of this trace is “akc”; there are padding, ping, ack/);
  assert.deepEqual(mistake("frame<ack")[1], "<");
  assert.deepEqual(mistake("pn<1..2")[1], "<1..2");
  assert.match(mistake("stream 4")[0], /stream wants a comparison: stream=4/);
  assert.deepEqual(mistake("lost 1500"), ["of which field is 1500? pn=1500, size=1500, stream=1500, t=1500", "1500"]);
  assert.deepEqual(mistake("(lost or sent"), ["this parenthesis is not closed", "("]);
  assert.deepEqual(mistake("lost)"), ["this parenthesis closes none", ")"]);
  assert.deepEqual(mistake("lost and"), ["“and” wants something behind it", "and"]);
  assert.deepEqual(mistake("pn="), ["pn= wants a value behind it", "pn="]);
  assert.deepEqual(mistake("or lost")[1], "or");
  assert.deepEqual(mistake("lost <b>")[1], "lost");
  assert.deepEqual(mistake("lost & sent")[1], "&");
  assert.deepEqual(mistake("hello")[1], "hello");
});

test("a query is bounded", () => {
  assert.match(mistake(`${"(".repeat(100)}lost`)[0], /too many parentheses/);
  assert.match(mistake("not ".repeat(400) + "lost")[0], /too many parentheses/);
  assert.match(mistake("lost ".repeat(1000))[0], /letters at most/);
  for (const text of ["constructor", "__proto__=1", "toString", "pn=1e999", "hasOwnProperty=4"]) {
    try { found(text); } catch (error) { assert.equal(error.name, "Error", text); assert.ok(error.to > error.from, text); }
  }
});

test("words are completed, and names of the trace behind a field", () => {
  const words = (text) => queryCompletions(text, text.length, names, [4, 8, 44]).map(([whole]) => whole);
  assert.deepEqual(words("fr"), ["frame="]);
  assert.deepEqual(words("lost and fr"), ["lost and frame="]);
  assert.deepEqual(words("frame=m"), ["frame=max_data"]);
  assert.deepEqual(words("frame=ack,st"), ["frame=ack,stream"]);
  assert.deepEqual(words("not (type=h"), ["not (type=handshake"]);
  assert.deepEqual(words("stream=4"), ["stream=44"]);
  assert.ok(words("").includes("pn=") && !words("").includes("and") && words("lost a").includes("lost and"));
  assert.deepEqual(words("pn=1"), []);
});

test("a million packets are answered as one by one", () => {
  const count = 1_000_000;
  const rows = columns(Array.from({ length: count }, (_, i) => ({ t: i * 1e-5, pn: i, size: 1200 + i % 53, sent: i % 3 > 0, frames: i % 3 ? ["stream"] : ["ack"], ...(i % 3 ? { streams: [[i % 7 * 4]] } : {}), ...(i % 100 === 1 ? { lost: [3e7, REASONS[i % 2]] } : {}) })));
  for (const [text, holds] of [["pn=765432", (i) => i === 765_432], ["stream=4", (i) => i % 3 > 0 && i % 7 === 1], ["lost and not frame=ack", (i) => i % 100 === 1 && i % 3 > 0], ["size>1250 or t=2.1..2.3", (i) => 1200 + i % 53 > 1250 || (i >= 210_000 && i <= 230_000)]]) {
    const tree = parsedQuery(text, names);
    matchingPackets(tree, rows);
    const began = process.cpuUsage();
    const matching = matchingPackets(tree, rows);
    console.log(`# ${text}: ${matching.length} of ${count} in ${(process.cpuUsage(began).user / 1000).toFixed(1)} ms`);
    let at = 0;
    for (let i = 0; i < count; i += 1) if (holds(i)) { assert.equal(matching[at], i, text); at += 1; }
    assert.equal(at, matching.length, text);
  }
  assert.equal(firstFound(Uint32Array.of(3, 9, 20), 9), 1);
  assert.equal(firstFound(Uint32Array.of(3, 9, 20), 21), 3);
});
