// Packets over their bytes, without a browser.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

const { packetizationRows, partWords } = createRequire(import.meta.url)("../../harness/cli/src/report/traces/js/packetization.js");

const { packetStatistics } = createRequire(import.meta.url)("../../harness/cli/src/report/traces/js/statistics.js");

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
