// Views in addresses, without a browser.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { test } from "node:test";

const { viewsText, viewsOf } = createRequire(import.meta.url)("../../harness/cli/src/report/traces/js/address.js");

test("what is written is read again", () => {
  const views = [
    { trace: "a b&c=#d", t: [0.1, 2.25], query: "lost and (stream=4 or size>1200)", row: 17, hide: ["ssthresh", "latest_rtt"] },
    { trace: "öther", t: null, query: null, row: 0, hide: [] },
  ];
  const text = viewsText(views);
  assert.match(text, /^#view\?[\w.+%&=*-]*$/);
  assert.deepEqual([...viewsOf(text)], [["a b&c=#d", views[0]], ["öther", { trace: "öther", row: 0 }]]);
});

test("what a stranger writes is bounded, and what cannot be read is left out", () => {
  assert.equal(viewsOf("#trace-1").size, 0);
  assert.equal(viewsOf(`#view?trace=a&query=${"x".repeat(20_000)}`).size, 0);
  assert.equal(viewsOf(`#view?${"trace=a&".repeat(10)}`).size, 1);
  assert.equal(viewsOf(`#view?${Array.from({ length: 500 }, (_, i) => `trace=${i}`).join("&")}`).size, 64);
  for (const wrong of ["t=1", "t=3..2", "t=..", "t=1..Infinity", "t=a..b", "row=-1", "row=1e9", "row=x", "other=1", "__proto__=1"]) {
    const [[, view]] = viewsOf(`#view?trace=a&${wrong}`);
    assert.deepEqual(Object.keys(view), ["trace"], wrong);
  }
  assert.equal(viewsOf("#view?t=1..2&row=4").size, 0, "nothing before a trace");
});
