// Multiplexing: whose data came when, either way, and what could not be delivered since earlier data of its stream was missing.

/** How long a stream's data is taken to go on after its last, where no round trip is told, s. */
const GOES_ON = 0.01;

/** Data of one stream as it comes. What is whole from the beginning on can be delivered, the rest waits (RFC 9000 §2.2). */
class Arrivals {
  constructor(next) {
    this.next = next;
    this.waiting = [];
    this.bytes = 0;
  }

  /** Takes the data from `from` to before `to`; how many bytes of it were there before. */
  take(from, to) {
    const start = Math.max(from, this.next);
    if (start >= to) return to - from;
    const { waiting } = this;
    const first = placeOf(waiting.length, (i) => waiting[i][1] < start);
    let [after, low, high, before] = [first, start, to, 0];
    for (; after < waiting.length && waiting[after][0] <= to; after += 1) {
      const [begin, end] = waiting[after];
      before += Math.max(0, Math.min(end, to) - Math.max(begin, start));
      [low, high] = [Math.min(low, begin), Math.max(high, end)];
      this.bytes -= end - begin;
    }
    if (low === this.next) {
      waiting.splice(first, after - first);
      this.next = high;
    } else {
      waiting.splice(first, after - first, [low, high]);
      this.bytes += high - low;
    }
    return before + start - from;
  }
}

/**
 * The data of one way: `streams`, each `{ id, from, to, bytes, again, most, waited, whole }` with its lines; `order`, whose data it was at a time, by the
 * place among `streams` and -1 where none went on for longer than `idle` s; `waiting`, bytes that could not be delivered. Of what was received
 * that is known; of what was sent as acknowledgements tell it.
 */
function multiplexed(packets, parity, idle) {
  const owner = new Uint32Array(packets.stream.length);
  const frames = [];
  for (let i = 0; i < packets.length; i += 1) {
    if ((packets.flags[i] & 1) !== parity) continue;
    for (let at = packets.first[i]; at < packets.first[i + 1]; at += 1) { frames.push(at); owner[at] = i; }
  }
  const streams = new Map();
  for (const at of frames) {
    const [id, time, from] = [packets.stream[at], packets.time[owner[at]], packets.offset[at]];
    if (!streams.has(id)) streams.set(id, { id, place: streams.size, from: time, to: time, bytes: 0, again: 0, least: from, most: 0, waited: 0, whole: false, times: [], sums: [], blocked: [[], []], since: null });
    const stream = streams.get(id);
    stream.to = time;
    stream.least = Math.min(stream.least, from);
    stream.whole ||= packets.bytes[at] % 2 === 1;
    stream.bytes += Math.floor(packets.bytes[at] / 2);
    stream.times.push(time);
    // A frame without data may still end the stream.
    stream.sums.push((stream.sums.at(-1) ?? 0) + Math.max(1, Math.floor(packets.bytes[at] / 2)));
  }
  const order = [[], []];
  const say = (time, place) => { if (order[1].at(-1) !== place) { order[0].push(time); order[1].push(place); } };
  frames.forEach((at, index) => {
    const time = packets.time[owner[at]];
    say(time, streams.get(packets.stream[at]).place);
    if (!(packets.time[owner[frames[index + 1]]] - time <= idle)) say(time + idle, -1);
  });
  // When data came, at the peer when the acknowledgement came back: a packet that is not acknowledged told of none.
  const cameAt = (at) => packets.time[owner[at]] + (parity ? (packets.acked[owner[at]] - 1) * 1e-9 : 0);
  const came = parity ? frames.filter((at) => packets.acked[owner[at]]).sort((one, other) => cameAt(one) - cameAt(other)) : frames;
  // A trace may begin in the middle of a stream.
  for (const stream of streams.values()) stream.arrivals = new Arrivals(stream.least);
  const waiting = [[], []];
  let all = 0;
  for (const at of came) {
    const time = cameAt(at);
    const stream = streams.get(packets.stream[at]);
    const { arrivals } = stream;
    const before = arrivals.bytes;
    stream.again += arrivals.take(packets.offset[at], packets.offset[at] + Math.floor(packets.bytes[at] / 2));
    if (arrivals.bytes === before) continue;
    stream.most = Math.max(stream.most, arrivals.bytes);
    all += arrivals.bytes - before;
    waiting[0].push(time);
    waiting[1].push(all);
    if ((before > 0) === (arrivals.bytes > 0)) continue;
    if (arrivals.bytes) stream.since = time; else { stream.waited += time - stream.since; stream.since = null; }
    stream.blocked[0].push(time);
    stream.blocked[1].push(Number(arrivals.bytes > 0));
  }
  // What still waits at the end waited until then.
  const last = packets.length ? packets.time[packets.length - 1] : 0;
  for (const stream of streams.values()) if (stream.since !== null) stream.waited += Math.max(0, last - stream.since);
  return { streams: [...streams.values()], order, waiting };
}

/** The priority of a request, and those that updated it with when (RFC 9218 §7). */
function priorityWords(request) {
  const updates = (request?.priority_updates ?? []).map(([time, value]) => `${value || "default"} at ${time.toFixed(4)} s`);
  return [...(request?.priority != null ? [request.priority] : []), ...updates].join(", then ") || "–";
}

/** How many updates of priorities there were so far, over time. */
function priorityUpdates(requests) {
  const times = requests.flatMap(({ priority_updates: updates }) => updates.map(([time]) => time)).sort((a, b) => a - b);
  return [times, times.map((_, i) => i + 1)];
}

/** What is said of either way. */
const WAYS = [
  { parity: 0, title: "Data received: of which stream, and when", waiting: "Received and not deliverable, kB", key: "received" },
  { parity: 1, title: "Data sent: of which stream, and when", waiting: "Acknowledged and not deliverable at the peer, kB", key: "sent" },
];

/** The figure of a trace's multiplexing, and the streams of either way. */
function multiplexingOf(trace, packets) {
  const line = ([times, values]) => new Line(Float64Array.from(times), Float64Array.from(values));
  const idle = (measure(trace, "rtt_min_ms") ?? GOES_ON * 1e3) * 1e-3;
  const panels = [];
  const rows = [];
  const updates = priorityUpdates(trace.requests);
  for (const { parity, title, waiting, key } of WAYS) {
    const { streams, order, waiting: bytes } = multiplexed(packets, parity, idle);
    if (!streams.length) continue;
    rows.push(...streams.map((stream) => ({ ...stream, way: key })));
    const shown = [...streams].sort((a, b) => b.bytes - a.bytes || a.place - b.place).slice(0, STREAM_LANES).sort((a, b) => a.place - b.place);
    const colours = streams.map(() => "ink-faint");
    shown.forEach(({ place }, i) => { colours[place] = lineColour(i); });
    const lanes = [
      { key: `${key} order`, name: "data of", kind: "spans", data: line(order), colours, names: streams.map(({ id }) => `${key} of stream ${id}`) },
      ...shown.map(({ id, place, from, to, times, sums, blocked }) => ({
        key: `${key} ${id}`, name: `stream ${id}`, kind: "ticks", colour: colours[place], extent: [from, to], data: line([times, sums]), foot: blocked[0].length ? { key: "waits", data: line(blocked), colours: [null, "loss"], names: ["", "waits for earlier data"] } : null,
      })),
    ];
    if (!panels.length && updates[0].length) lanes.push({ key: "priority", name: "priorities", kind: "ticks", colour: "accent", data: line(updates) });
    const left = streams.length - shown.length;
    panels.push({ title: `${title}${left ? `; ${plural(left, "stream")} with less data have no lane` : ""}`, lanes, patches: bytes[0].length ? [{ name: "waits for earlier data", colour: "loss" }] : [] });
    if (bytes[0].length) panels.push({ title: waiting, unit: "kB", digits: 1, height: 90, zero: true, names: true, lines: [{ key: `${key} waiting`, name: "behind a gap", colour: "loss", width: 1.4, kind: "steps", data: line(bytes), scale: 1e-3, digits: 1 }] });
  }
  return { rows, spec: { file: `${trace.name}-multiplexing`, whole: [0, trace.duration_s], panels, tints: null, pending: null } };
}

/** The streams of a trace over time, either way, with their gaps; it shows the times that the trace's own figure does. */
function multiplexingView(trace, figure) {
  const details = el("details", { class: "more multiplexing" }, el("summary", {}, "Multiplexing: streams over time, and what waited for earlier data"));
  const [list, said] = [el("div"), el("p", { id: `${trace.id}-multiplexing`, class: "hint" })];
  let [own, packets, following] = [null, null, false];
  /** Whatever is done in one of the two figures is done in the other. */
  const follow = (act) => { if (own && !following) { following = true; act(); following = false; } };
  const table = (rows) => {
    const request = new Map(trace.requests.map((each) => [each.stream, each]));
    const number = (label, value, text) => ({ label, value, text, numeric: true, better: "high" });
    return sortableTable({ caption: `Streams of ${trace.name}`, rows, sortBy: "From, s", columns: [
      wordColumn("Stream", ({ id, way }) => `${id} ${way}`, { header: true }),
      wordColumn("Priority", ({ id }) => priorityWords(request.get(id))), wordColumn("Request", ({ id }) => { const asked = request.get(id); return asked ? `${asked.method} ${asked.path}` : "–"; }),
      number("From, s", ({ from }) => -from, ({ from }) => from.toFixed(4)), number("To, s", ({ to }) => to, ({ to, whole }) => `${to.toFixed(4)}${whole ? "" : " …"}`),
      number("Bytes", ({ bytes }) => bytes, ({ bytes }) => grouped.format(bytes)), number("Came again", ({ again }) => again, ({ again }) => grouped.format(again)),
      number("Waited, s", ({ waited }) => waited, ({ waited }) => waited.toFixed(4)), number("Waited at most, bytes", ({ most }) => most, ({ most }) => grouped.format(most)),
    ] });
  };
  const fill = async () => {
    if (!details.open) return;
    const held = await trace.loadPackets().catch(() => null);
    if (!held || held === packets) return;
    packets = held;
    const { rows, spec } = multiplexingOf(trace, packets);
    said.textContent = rows.length ? `Of what was sent, acknowledgements tell what the peer has. Bytes that came again are counted with those that came first.${packets.leftOut ? ` The page holds packets up to ${packets.time[packets.length - 1].toFixed(2)} s.` : ""}` : "No packet of this trace tells of data of streams.";
    if (!rows.length) return;
    if (own) own.set(spec);
    else {
      const holder = figureHolder(`Multiplexing of ${trace.name}: streams' data over time, either way`, said.id);
      said.before(holder);
      own = new Figure(holder, spec);
      holder.before(el("div", { class: "tools" }, own.controls()));
      holder.addEventListener("ranged", () => follow(() => figure.show(...own.view)));
      holder.addEventListener("read", () => follow(() => figure.showCursor(own.cursor)));
      holder.addEventListener("tapped", ({ detail }) => {
        const line = detail.line?.replace(/^(sent|received) (\d+)$/, "stream $2");
        trace.selection.choose(packets, packetNear(packets, detail.time, line, null));
      });
      own.show(...figure.view);
      own.showPicked(trace.selection.times());
    }
    list.replaceChildren(table(rows));
  };
  details.append(said, list);
  details.addEventListener("toggle", fill);
  figure.holder.addEventListener("ranged", () => follow(() => own.show(...figure.view)));
  figure.holder.addEventListener("read", () => follow(() => own.showCursor(figure.cursor)));
  trace.selection.addEventListener("chosen", () => own?.showPicked(trace.selection.times()));
  figure.holder.addEventListener("told", fill);
  return details;
}

if (typeof module !== "undefined") {
  globalThis.placeOf = require("./sequence.js").placeOf;
  module.exports = { multiplexed, priorityWords, priorityUpdates };
}
