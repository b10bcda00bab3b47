// Events and endpoints as lists tell them, without a browser.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

const require = createRequire(import.meta.url);
const { eventWords } = require("../../harness/cli/src/report/traces/js/events.js");
const { addressesOf } = require("../../harness/cli/src/report/traces/js/endpoints.js");

test("the data of an event is told as keys and values, and as it stands where its end is missing", () => {
  assert.equal(eventWords('{"a":1,"b":"x","c":{"d":[1,null]},"e":null}'), 'a: 1, b: x, c: {"d":[1,null]}, e: null');
  assert.equal(eventWords("[1,2]"), "[1,2]");
  assert.equal(eventWords("{}"), "");
  assert.equal(eventWords('{"a":"cut'), '{"a":"cut …');
});

test("an address has what all its connections had, and paths of a connection count once", () => {
  const trace = (remotes, measures, path) => ({ path, endpoints: remotes.map((remote) => ({ remote })), measures });
  const found = addressesOf([
    trace(["a", "a", ""], { packets_sent: 5, bytes_sent: 500 }), trace(["a"], { packets_sent: 2, packets_received: 7, bytes_sent: 100, bytes_received: 900 }),
    trace(["b", "c"], { packets_sent: 1, bytes_sent: 10_000 }), trace(["a"], { packets_sent: 99 }, 1), trace([], { packets_sent: 9 }),
  ]);
  assert.deepEqual(found, [
    { address: "b, then c", connections: 1, sent: 1, received: 0, sentBytes: 10_000, receivedBytes: 0 },
    { address: "a", connections: 2, sent: 7, received: 7, sentBytes: 600, receivedBytes: 900 },
  ]);
});
