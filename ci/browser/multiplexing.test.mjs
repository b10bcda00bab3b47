// Streams over time and what waited for earlier data, without a browser.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

const { multiplexed, priorityWords, priorityUpdates } = createRequire(import.meta.url)("../../harness/cli/src/report/traces/js/multiplexing.js");

/** Packets as `decodedPackets` gives them, of `[time, sent, [[stream, offset, length, fin], …], acknowledged after s]`. */
function columns(rows) {
  const all = rows.flatMap(([, , streams]) => streams);
  const first = new Uint32Array(rows.length + 1);
  rows.forEach(([, , streams], i) => { first[i + 1] = first[i] + streams.length; });
  return {
    length: rows.length, first, time: Float64Array.from(rows, ([time]) => time), flags: Uint8Array.from(rows, ([, sent]) => 6 + Number(sent)),
    acked: Float64Array.from(rows, ([, , , after]) => (after ? Math.round(after * 1e9) + 1 : 0)),
    stream: Float64Array.from(all, ([id]) => id), offset: Float64Array.from(all, ([, offset]) => offset), bytes: Float64Array.from(all, ([, , length, fin]) => 2 * length + Number(Boolean(fin))),
  };
}
const of = ({ streams }, id) => streams.find((stream) => stream.id === id);

test("data behind a gap waits until the gap is filled, and bytes that come again are no new ones", () => {
  const got = multiplexed(columns([
    [1, false, [[0, 0, 100]]], [2, false, [[0, 200, 100], [4, 0, 50]]], [3, false, [[0, 250, 100]]], [4, false, [[0, 400, 10]]], [5, false, [[0, 100, 100]]], [6, false, [[0, 350, 50, true], [0, 0, 100]]],
  ]), 0, 10);
  assert.deepEqual(got.waiting, [[2, 3, 4, 5, 6], [100, 150, 160, 10, 0]]);
  const { bytes, again, most, waited, whole, blocked } = of(got, 0);
  assert.deepEqual([bytes, again, most, waited, whole], [560, 150, 160, 4, true]);
  assert.deepEqual(blocked, [[2, 6], [1, 0]]);
  assert.deepEqual([of(got, 4).most, of(got, 4).whole], [0, false]);
});

test("of what was sent, acknowledgements tell what the peer has", () => {
  const packets = columns([[1, true, [[0, 0, 10]], 5], [2, true, [[0, 10, 10]], 1], [3, true, [[0, 20, 10]]], [4, true, [[0, 20, 10]], 1]]);
  const got = multiplexed(packets, 1, 10);
  assert.deepEqual(got.waiting, [[3, 5, 6], [10, 20, 0]]);
  assert.deepEqual(of(got, 0).bytes, 40);
  assert.deepEqual(multiplexed(packets, 0, 10).streams, []);
});

test("it is told whose data came when, and when none did; a trace may begin within a stream", () => {
  const got = multiplexed(columns([[1, false, [[4, 900, 10]]], [1.1, false, [[4, 910, 10]]], [1.2, false, [[8, 0, 10]]], [3, false, [[4, 920, 10]]]]), 0, 0.5);
  assert.deepEqual(got.order.map((all) => all.map((value) => Number(value.toFixed(6)))), [[1, 1.2, 1.7, 3, 3.5], [0, 1, -1, 0, -1]]);
  assert.deepEqual(got.waiting, [[], []]);
});

/** A random number generator of 32 bits. */
const random = (seed) => () => { seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0; return seed / 2 ** 32; };

test("what waits is what a byte by byte count says, whatever comes in whichever order", () => {
  const next = random(7);
  for (let round = 0; round < 300; round += 1) {
    const rows = Array.from({ length: 40 }, (_, i) => [i, false, [[0, i ? Math.floor(next() * 60) : 0, Math.floor(next() * 12)]]]);
    const got = multiplexed(columns(rows), 0, 1);
    const there = new Set();
    const expected = rows.map(([, , [[, offset, length]]]) => {
      for (let byte = offset; byte < offset + length; byte += 1) there.add(byte);
      let whole = 0;
      while (there.has(whole)) whole += 1;
      return there.size - whole;
    });
    let at = -1;
    expected.forEach((waits, time) => {
      while (got.waiting[0][at + 1] <= time) at += 1;
      assert.equal(got.waiting[1][at] ?? 0, waits, `round ${round}, packet ${time}`);
    });
  }
});

test("priorities of a request are told with when they were updated", () => {
  assert.equal(priorityWords(undefined), "–");
  assert.equal(priorityWords({ priority: null, priority_updates: [] }), "–");
  assert.equal(priorityWords({ priority: "u=1", priority_updates: [[0.5, "u=3, i"], [1, ""]] }), "u=1, then u=3, i at 0.5000 s, then default at 1.0000 s");
  assert.deepEqual(priorityUpdates([{ priority_updates: [[2, "u=1"]] }, { priority_updates: [[1, "u=2"], [3, "u=4"]] }]), [[1, 2, 3], [1, 2, 3]]);
});
