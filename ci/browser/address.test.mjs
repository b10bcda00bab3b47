// Views in addresses, without a browser.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

const { viewsText, viewsOf } = createRequire(import.meta.url)("../../harness/cli/src/report/traces/js/address.js");

test("what is written is read again", () => {
  const views = [
    { kind: "trace", name: "a b&c=#d", t: [0.1, 2.25], query: "lost and (stream=4 or size>1200)", row: 17, open: ["packets", "-requests"], hide: ["ssthresh", "latest_rtt"], wild: true, way: "received", beside: "64" },
    { kind: "trace", name: "öther", t: null, query: null, row: 0, hide: [] },
    { kind: "overlay", t: [1, 2], hide: ["a b&c=#d", "with, a comma"] },
    { kind: "compared", name: "öther", against: "a b&c=#d", from: "handshake", t: null, hide: ["difference smoothed_rtt"] },
  ];
  const text = viewsText(views, true);
  assert.match(text, /^#view\?[\w.+%&=*-]*$/);
  const { traces, overlay, compared, only } = viewsOf(text);
  assert.deepEqual([...traces.values()], [views[0], { kind: "trace", name: "öther", row: 0 }]);
  assert.deepEqual(overlay, { ...views[2], name: "" });
  assert.deepEqual(compared, { kind: "compared", name: "öther", against: "a b&c=#d", from: "handshake", hide: ["difference smoothed_rtt"] });
  assert.equal(only, true);
  assert.equal(viewsOf(viewsText(views)).only, false);
});

test("what a stranger writes is bounded, and what cannot be read is left out", () => {
  const count = (hash) => viewsOf(hash).traces.size;
  assert.equal(count("#trace-1"), 0);
  assert.equal(count(`#view?trace=a&query=${"x".repeat(20_000)}`), 0);
  assert.equal(count(`#view?${"trace=a&".repeat(10)}`), 1);
  assert.equal(count(`#view?${Array.from({ length: 500 }, (_, i) => `trace=${i}`).join("&")}`), 64);
  for (const wrong of ["t=1", "t=3..2", "t=..", "t=1..Infinity", "t=a..b", "row=-1", "row=1e9", "row=x", "way=up", "beside=1000", "beside=x", "other=1", "__proto__=1"]) {
    const [[, view]] = viewsOf(`#view?trace=a&${wrong}`).traces;
    assert.deepEqual(Object.keys(view), ["kind", "name"], wrong);
  }
  assert.equal(count("#view?t=1..2&row=4"), 0, "nothing before a trace");
});
