// Packets over their bytes, without a browser.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

const { packetizationRows, partWords } = createRequire(import.meta.url)("../../harness/cli/src/report/traces/js/packetization.js");

const { packetStatistics } = createRequire(import.meta.url)("../../harness/cli/src/report/traces/js/statistics.js");
const { commonClock, timesThere } = createRequire(import.meta.url)("../../harness/cli/src/report/traces/js/ends.js");

const TYPES = ["initial", "handshake", "0RTT", "1RTT", "retry", "unknown"];
const FRAMES = ["padding", "ping", "ack", "crypto", "stream"];

/** Packets as `decodedPackets` gives them, of `[time, sent, type, size or null, frames, [[stream, offset, length, fin], …], lost]`. */
function columns(rows) {
  const all = rows.flatMap(([, , , , , streams = []]) => streams);
  const first = new Uint32Array(rows.length + 1);
  rows.forEach(([, , , , , streams = []], i) => { first[i + 1] = first[i] + streams.length; });
  return {
    length: rows.length, types: TYPES, frameTypes: FRAMES, first,
    time: Float64Array.from(rows, ([time]) => time), flags: Uint8Array.from(rows, ([, sent, type]) => 2 * TYPES.indexOf(type) + Number(sent)),
    size: Uint32Array.from(rows, ([, , , size]) => (size === null ? 0 : size + 1)), number: Float64Array.from(rows, (_, i) => i + 1), lost: Float64Array.from(rows, (row) => Number(Boolean(row[6]))),
    kinds: Uint32Array.from(rows, ([, , , , frames]) => frames.reduce((bits, name) => bits | 1 << FRAMES.indexOf(name), 0)),
    stream: Float64Array.from(all, ([id]) => id), offset: Float64Array.from(all, ([, offset]) => offset), bytes: Float64Array.from(all, ([, , length, fin]) => 2 * length + Number(Boolean(fin))),
  };
}

const PACKETS = columns([
  [0.1, true, "initial", 200, ["crypto"]],
  [0.1, true, "handshake", 900, ["crypto", "padding"]],
  [0.1, false, "1RTT", 50, ["ack"]],
  [0.2, true, "1RTT", 1200, ["stream", "ack"], [[4, 0, 700], [8, 500, 400, true]], true],
  [0.2, true, "1RTT", null, ["stream"], [[4, 700, 300]]],
]);
const rows = (start, count, parity) => packetizationRows(PACKETS, start, count, parity);
const of = (row, { parts }) => parts.filter((part) => part.row === row).map(({ from, to }) => [from, to]);

test("packets of one way stand beside each other, frames and data within them", () => {
  const all = rows(0, 10, 1);
  assert.equal(all.bytes, 200 + 900 + 1200 + 300);
  assert.deepEqual(of(1, all), [[0, 200], [200, 1100], [1100, 2300], [2300, 2600]]);
  // What is no stream's data comes first, and takes the rest of the packet.
  assert.deepEqual(of(2, all), [[0, 200], [200, 1100], [1100, 1200], [1200, 1900], [1900, 2300], [2300, 2600]]);
  assert.deepEqual(of(3, all), [[1200, 1900], [1900, 2300], [2300, 2600]]);
  assert.deepEqual(of(1, rows(0, 10, 0)), [[0, 50]]);
  assert.deepEqual(of(1, rows(3, 1, 1)), [[0, 1200]]);
});

test("packets with long headers and what follows them at the same time are one datagram", () => {
  assert.deepEqual(of(0, rows(0, 10, 1)), [[0, 1100], [1100, 2300], [2300, 2600]], "1-RTT packets are the last of theirs");
});

test("padding, losses and ends of streams are told", () => {
  const { parts } = rows(0, 10, 1);
  assert.deepEqual(parts.filter(({ row }) => row < 3).map((part) => partWords(PACKETS, part)), [
    "datagram of 2 packets, by their time", "packet 0, initial, 200 bytes", "packet 0: 200 bytes of headers and CRYPTO",
    "packet 1, handshake, 900 bytes", "packet 1: 900 bytes of headers and PADDING, CRYPTO: padded",
    "datagram of one packet", "packet 3, 1RTT, 1200 bytes, lost", "packet 3: 100 bytes of headers and ACK", "stream 4: 0 to 700", "stream 8: 500 to 900, FIN",
    "datagram of one packet", "packet 4, 1RTT, 300 bytes", "stream 4: 700 to 1000",
  ]);
});

test("frames, types, bytes and sizes are counted of each way, within the times", () => {
  const { frames, types, bytes, sizes } = packetStatistics(PACKETS, 0, 5);
  assert.deepEqual(frames, [["padding", 1, 0], ["ack", 1, 1], ["crypto", 2, 0], ["stream", 2, 0]]);
  assert.deepEqual(types, [["initial", 1, 0], ["handshake", 1, 0], ["1RTT", 2, 1]]);
  assert.deepEqual(bytes, [["initial", 200, 0], ["handshake", 900, 0], ["1RTT", 1200, 50]]);
  // From 50 to 1200 bytes; a packet of unknown size is in no row.
  assert.ok(sizes.length <= 12 && sizes[0][0] <= 50 && sizes.at(-1)[1] >= 1200, JSON.stringify(sizes));
  assert.equal(sizes.reduce((sum, [, , sent, received]) => sum + sent + received, 0), 4);
  assert.deepEqual(sizes.find(([low, high]) => low <= 900 && 900 <= high).slice(2), [1, 0]);
  assert.deepEqual(packetStatistics(PACKETS, 2, 3).types, [["1RTT", 0, 1]]);
  assert.deepEqual(packetStatistics(PACKETS, 4, 5).sizes, [], "nothing known of sizes");
  assert.deepEqual(packetStatistics(PACKETS, 0, 1).sizes, [[200, 200, 1, 0]]);
});

/** Packets of `[time, sent, type, number, lost after ns]`. */
const numbered = (rows) => ({
  ...columns(rows.map(([time, sent, type]) => [time, sent, type, 100, []])), number: Float64Array.from(rows, ([, , , number]) => number + 1), lost: Float64Array.from(rows, ([, , , , lost]) => (lost ? lost + 1 : 0)), leftOut: 0,
});

test("both ends of a connection are on one clock by their handshake, whose round trip bounds the doubt", () => {
  // The client's clock begins when it sends, the server's 5 s before; 20 ms either way, 10 ms at the server.
  const client = numbered([[0, true, "initial", 0], [0.05, false, "initial", 0], [0.06, true, "1RTT", 5, 60e6], [0.061, true, "1RTT", 6, 60e6], [0.07, true, "1RTT", 7], [0.2, false, "1RTT", 9]]);
  const server = numbered([[5.02, false, "initial", 0], [5.03, true, "initial", 0], [5.085, false, "1RTT", 6], [5.17, true, "1RTT", 9], [5.3, true, "1RTT", 10]]);
  const { shift, uncertainty } = commonClock(client, server);
  assert.ok(Math.abs(shift + 5) < 1e-9 && Math.abs(uncertainty - 0.02) < 1e-9, `${shift} ± ${uncertainty}`);
  const times = timesThere(client, server, shift);
  // Lost on the way; lost as was thought, and came all the same; not told of.
  assert.deepEqual([...times].map((time) => (Number.isFinite(time) ? Number(time.toFixed(6)) : time)), [0.02, 0.03, Infinity, 0.085, NaN, 0.17]);
  assert.deepEqual([...timesThere(server, client, -shift)].map((time) => (Number.isFinite(time) ? Number(time.toFixed(6)) : time)), [5, 5.05, 5.061, 5.2, NaN]);
  assert.equal(commonClock(client, numbered([[1, true, "1RTT", 1]])), null, "no handshake");
  // Numbers that are far apart are found, too.
  const [far, near] = [[[1, true, "1RTT", 4e15]], [[2, false, "1RTT", 4e15]]].map(numbered);
  assert.equal(timesThere(far, near, -0.5)[0], 1.5);
});
