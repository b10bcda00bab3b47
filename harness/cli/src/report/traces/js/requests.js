// HTTP/3 requests as a waterfall: when each was sent, waited for its response, and received it.

/** Requests that are shown at once, at most. */
const REQUEST_ROWS = 200;

/** The parts of a request's time: from and to, each the time of one of `RequestInfo` in Rust. */
const REQUEST_PARTS = [
  { name: "request", colour: "line-5", from: ({ start_s: start }) => start, to: ({ sent_s: sent }) => sent },
  { name: "waiting", colour: "line-8", from: ({ start_s: start, sent_s: sent }) => sent ?? start, to: ({ response_s: response }) => response },
  { name: "response", colour: "line-3", from: ({ response_s: response }) => response, to: ({ end_s: end }) => end },
];

/** When the last that is told of a request was. */
const requestEnd = ({ start_s: start, sent_s: sent, response_s: response, end_s: end }) => Math.max(start, sent ?? start, response ?? start, end ?? start);

/** The bar of a request in the times shown. */
function requestBar(request, [from, to]) {
  const share = (time) => 100 * Math.min(1, Math.max(0, (time - from) / (to - from)));
  const parts = REQUEST_PARTS.flatMap((part) => {
    const [begin, end] = [part.from(request), part.to(request)];
    if (begin === null || end === null || !(end >= begin) || end < from || begin > to) return [];
    const made = el("span", { class: "part" });
    made.style.setProperty("left", `${share(begin)}%`);
    made.style.setProperty("width", `${share(end) - share(begin)}%`);
    made.style.setProperty("background", paint(part.colour));
    return [made];
  });
  return el("td", { class: "waterfall", "aria-hidden": "true" }, ...parts);
}

/** The requests in the times shown. */
function requestsTable(trace, figure) {
  const summary = el("summary");
  const details = el("details", { class: "more requests", open: true }, summary);
  const [body, count] = [el("tbody"), el("p", { class: "hint" })];
  const milliseconds = (from, to) => (from === null || to === null ? "–" : ((to - from) * 1e3).toFixed(2));
  const bytes = (value) => (value === null ? "–" : grouped.format(value));
  const row = (request, digits) => {
    const { stream, method, path, authority, status, start_s: start, sent_s: sent, response_s: response, request_bytes: up, response_bytes: down, complete } = request;
    const name = `${method} ${path || "–"}`;
    const cells = [String(stream), status ?? "–", start.toFixed(digits), milliseconds(sent ?? start, response), `${milliseconds(start, response === null ? null : requestEnd(request))}${complete || response === null ? "" : " …"}`, bytes(up), bytes(down)];
    return el("tr", {}, el("th", { scope: "row", title: authority ? `${name} at ${authority}` : name }, el("span", { class: "request" }, name)), requestBar(request, figure.view),
      ...cells.map((text) => el("td", { class: "number" }, text)));
  };
  const fill = () => {
    // A trace that grows may tell of its first request later.
    details.hidden = !trace.requests.length;
    summary.textContent = `HTTP/3 requests (${grouped.format(trace.requests.length)})`;
    if (!details.open || details.hidden) return;
    const [from, to] = figure.view;
    const seen = trace.requests.filter((request) => request.start_s <= to && requestEnd(request) >= from);
    body.replaceChildren(...seen.slice(0, REQUEST_ROWS).map((request) => row(request, Math.max(4, timeDigits(to - from)))));
    count.textContent = [
      `${plural(seen.length, "request")} in the times shown${seen.length > REQUEST_ROWS ? `, the first ${REQUEST_ROWS} are listed: zoom in for the others` : ""}`,
      ...(trace.requests_left_out ? [`${plural(trace.requests_left_out, "later request")} of the connection are not on this page`] : []),
    ].join("; ") + ".";
  };
  const heads = [["Request", ""], ["Over the times shown", ""], ["Stream", "number"], ["Status", "number"], ["At, s", "number"], ["Waited, ms", "number"], ["In all, ms", "number"], ["Bytes sent", "number"], ["Bytes of response", "number"]];
  const legend = el("ul", { class: "legend", "aria-hidden": "true" }, ...REQUEST_PARTS.map(({ name, colour }) => el("li", {}, sample({ colour, kind: "patch" }), name)));
  details.append(legend, count, el("div", { class: "table", role: "region", tabindex: "0", "aria-label": `HTTP/3 requests of ${trace.name}` },
    el("table", {}, el("caption", { class: "visually-hidden" }, `HTTP/3 requests of ${trace.name} in the times shown`),
      el("thead", {}, el("tr", {}, ...heads.map(([head, kind]) => el("th", { scope: "col", class: `${kind} plain`, ...(head === "Over the times shown" ? { "aria-hidden": "true" } : {}) }, head)))), body)));
  details.addEventListener("toggle", fill);
  for (const event of ["ranged", "told"]) figure.holder.addEventListener(event, fill);
  fill();
  return details;
}
