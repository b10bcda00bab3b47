// The ends of connections: addresses and their changes, the paths of packets, and what each address had in all.

/** A table of rows of texts under heads, numbers from the column `numbers` on. */
function plainTable(caption, heads, rows, numbers) {
  const kind = (i) => (i >= numbers ? "number" : null);
  return el("div", { class: "table", role: "region", tabindex: "0", "aria-label": caption }, el("table", {}, el("caption", { class: "visually-hidden" }, caption),
    el("thead", {}, el("tr", {}, ...heads.map((head, i) => el("th", { scope: "col", class: `${kind(i) ?? ""} plain` }, head)))),
    el("tbody", {}, ...rows.map((row) => el("tr", {}, ...row.map((text, i) => el(i ? "td" : "th", { scope: i ? null : "row", class: kind(i) }, text)))))));
}

/** Addresses and paths of a connection over time; hidden where a trace tells of neither. */
function endpointsTables(trace) {
  const summary = el("summary");
  const [details, body] = [el("details", { class: "more endpoints" }, summary), el("div")];
  const fill = () => {
    const { endpoints, paths } = trace;
    details.hidden = !endpoints.length && paths.length < 2;
    summary.textContent = `Endpoints and paths (${[...endpoints.length ? [`${grouped.format(endpoints.length)} address${endpoints.length === 1 ? "" : "es"}`] : [], ...paths.length ? [plural(paths.length, "path")] : []].join(", ")})`;
    const [changes, used] = [`Addresses of ${trace.name}`, `Paths of ${trace.name}`];
    const bytes = (sum, packets) => (sum || !packets ? grouped.format(sum) : "–");
    body.replaceChildren(
      ...(endpoints.length ? [plainTable(changes, ["From, s", "This end", "Other end", "By"], endpoints.map(({ time_s: time, local, remote, event }) => [time.toFixed(4), local || "–", remote || "–", event]), Infinity)] : []),
      ...(paths.length ? [plainTable(used, ["Path", "From, s", "To, s", "Packets sent", "Packets received", "Bytes sent", "Bytes received"], paths.map((path) => [path.name, path.from_s.toFixed(4), path.to_s.toFixed(4),
        grouped.format(path.sent), grouped.format(path.received), bytes(path.sent_bytes, path.sent), bytes(path.received_bytes, path.received)]), 1)] : []));
  };
  details.append(body);
  // A trace that grows may tell of an address later.
  trace.tellEndpoints = fill;
  fill();
  return details;
}

/** What each address of the other end had in all connections, the one with most bytes first: `[{ address, connections, sent, received, sentBytes, receivedBytes }, …]`. */
function addressesOf(traces) {
  const all = new Map();
  for (const trace of traces.filter(({ path }) => path === undefined)) {
    const remotes = [...new Set(trace.endpoints.map(({ remote }) => remote).filter(Boolean))];
    // What went to which of several is not told.
    const address = remotes.length > 1 ? remotes.join(", then ") : remotes[0];
    if (!address) continue;
    if (!all.has(address)) all.set(address, { address, connections: 0, sent: 0, received: 0, sentBytes: 0, receivedBytes: 0 });
    const sum = all.get(address);
    sum.connections += 1;
    for (const [key, name] of [["sent", "packets_sent"], ["received", "packets_received"], ["sentBytes", "bytes_sent"], ["receivedBytes", "bytes_received"]]) sum[key] += measure(trace, name) ?? 0;
  }
  return [...all.values()].sort((one, other) => other.sentBytes + other.receivedBytes - one.sentBytes - one.receivedBytes);
}

/** Those as a table; nothing where no trace tells of an address. */
function addressesTable(traces) {
  const rows = addressesOf(traces);
  if (!rows.length) return [];
  const number = (label, key) => ({ label, value: (row) => row[key], text: (row) => grouped.format(row[key]), numeric: true, better: "high" });
  return [el("details", { class: "more addresses" }, el("summary", {}, `Endpoints (${grouped.format(rows.length)})`), sortableTable({ caption: "Addresses of the other end, over all connections", rows, columns: [
    wordColumn("Address", ({ address }) => address, { header: true }), number("Connections", "connections"), number("Packets sent", "sent"), number("Packets received", "received"), number("Bytes sent", "sentBytes"), number("Bytes received", "receivedBytes")] }))];
}

if (typeof module !== "undefined") {
  globalThis.measure = (trace, name) => trace.measures[name] ?? null;
  module.exports = { addressesOf };
}
