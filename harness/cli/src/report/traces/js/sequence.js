// The sequence diagram of a trace: packets as slanted lines between the two ends, over the time axis of all other panels.

/** Lines of one way closer than this are drawn as one band, pixels. */
const APART = 4;
/** Packets that are drawn one by one where so many of them would be in one band. */
const SINGLE = 2;
/** Bands outside the times shown whose lines reach into it, at most. */
const OUTSIDE = 300;
/** Packets of one way, before and after, that may be the nearest to a place. */
const NEAR = 200;
const SEQUENCE_HEIGHT = 130;
/** Where the two ends are, pixels from the top and from the bottom. */
const END_INSET = 8;
/** How dense a band is, by its share of the densest. */
const DENSITIES = [0.25, 0.45, 0.65, 0.85];

/** The first of `length` numbers of which `before` is not true; it is true of those up to there. */
function placeOf(length, before) {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (before(middle)) low = middle + 1; else high = middle;
  }
  return low;
}

/** The packets received and those sent: their rows, and those of them that were lost. Groups of a million are found by search, not one by one. */
function waysOf(packets) {
  packets.ways ??= [0, 1].map((parity) => {
    const rows = new Uint32Array(packets.length);
    let count = 0;
    for (let i = 0; i < packets.length; i += 1) if ((packets.flags[i] & 1) === parity) { rows[count] = i; count += 1; }
    return { rows: rows.slice(0, count), losses: rows.slice(0, count).filter((i) => packets.lost[i] > 0) };
  });
  return packets.ways;
}

/** What the diagram is called at its top and at its bottom. */
const ENDS = { client: ["client", "server"], server: ["server", "client"] };

/** Half of the round trip at a time, s: what each way takes, as far as one end can tell. */
function oneWay(trace, lines) {
  const known = lines.get("smoothed_rtt") ?? lines.get("latest_rtt");
  const rest = (measure(trace, "rtt_min_ms") ?? 0) * 1e-3;
  return (time) => { const rtt = known?.at(time); return (rtt > 0 ? rtt * 1e-9 : rest) / 2; };
}

/** The longest time between the two ends of a packet's line, s. */
function longestWay(trace, lines, packets, other) {
  const [, slowest] = extent((lines.get("smoothed_rtt") ?? lines.get("latest_rtt"))?.values ?? []) ?? [];
  let longest = Math.max(slowest ? slowest * 1e-9 : 0, (measure(trace, "rtt_min_ms") ?? 0) * 1e-3) / 2;
  if (other) {
    for (let i = 0; i < packets.length; i += 1) {
      const way = Math.abs(other.times[i] - packets.time[i]);
      if (way > longest && way < Infinity) longest = way;
    }
  }
  return longest;
}

/** The panel of the sequence diagram; `other` is the other end, as `otherEnd` gives it, or null. */
function sequencePanel(trace, lines, packets, other = null) {
  const delay = oneWay(trace, lines);
  const longest = longestWay(trace, lines, packets, other);
  /** Whether a packet came to the other end, as far as anyone tells. */
  const cut = (i) => (other && !Number.isNaN(other.times[i]) ? other.times[i] === Infinity : packets.lost[i] > 0);
  /** How much later than here a packet was at the other end, s; of one that was received less than 0. */
  const way = (i) => {
    const told = other ? other.times[i] - packets.time[i] : NaN;
    return Number.isFinite(told) ? told : delay(packets.time[i]) * (sent(i) ? 1 : -1);
  };
  const sent = (i) => packets.flags[i] % 2 === 1;
  const top = END_INSET;
  const bottom = (height) => height - END_INSET;
  /** A packet's line: it leaves one end and comes to the other, or is lost halfway. */
  const path = (figure, height, i) => {
    const [time, there] = [packets.time[i], packets.time[i] + way(i)];
    const x = (at) => tenth(figure.across(at));
    if (!cut(i)) return `M${x(time)} ${top}L${x(there)} ${bottom(height)}`;
    const [left, y] = [x((time + there) / 2), (top + bottom(height)) / 2];
    return `M${x(time)} ${top}L${left} ${y}M${left - 3} ${y - 3}l6 6m0 -6l-6 6`;
  };
  /** The band of the packets from one time to another, of which `i` is the first. */
  const band = (figure, height, from, to, i) => {
    const [a, b] = [tenth(figure.across(from)), tenth(Math.max(figure.across(to), figure.across(from) + 1))];
    const shift = tenth(figure.across(from + way(i)) - figure.across(from));
    return `M${a} ${top}H${b}L${tenth(b + shift)} ${bottom(height)}H${tenth(a + shift)}Z`;
  };
  /** The packets whose lines may be seen, in groups: those of one way that lie closer than lines can be told apart. */
  const groups = (figure) => {
    const [from, to] = figure.view;
    const perPixel = (to - from) / figure.columns;
    const [inside, outside] = [APART * perPixel, Math.max(APART * perPixel, longest / OUTSIDE)];
    const found = [];
    const { time: times } = packets;
    for (const [parity, { rows, losses }] of waysOf(packets).entries()) {
      const place = (some, time) => placeOf(some.length, (i) => times[some[i]] < time);
      const end = place(rows, to + longest);
      // Of the packets from `from` on, the first that is beyond the times shown.
      const beyond = placeOf(rows.length, (i) => times[rows[i]] <= to);
      for (let first = place(rows, from - longest), next; first < end; first = next) {
        const time = times[rows[first]];
        const width = time >= from && time <= to ? inside : outside;
        const stop = from + (Math.floor((time - from) / width) + 1) * width;
        next = Math.min(Math.max(first + 1, place(rows, time < from ? Math.min(stop, from) : stop)), time <= to ? beyond : end, end);
        const [lost, after] = [rows[first], rows[next - 1]].map((row, last) => placeOf(losses.length, (i) => losses[i] < row + last));
        found.push({ parity, count: next - first, members: [...rows.subarray(first, Math.min(next, first + SINGLE))], from: time, to: times[rows[next - 1]],
          losses: after - lost, lost: after > lost ? losses[after - 1] : -1 });
      }
    }
    return found;
  };
  /** The lines of what a query found, as far as they can be told apart. */
  const foundLines = (figure, height) => {
    const indices = trace.found?.indices ?? [];
    const [from, to] = figure.view;
    const apart = APART * (to - from) / figure.columns;
    const place = (time) => placeOf(indices.length, (i) => packets.time[indices[i]] < time);
    let d = "";
    for (let at = place(from - longest), end = place(to + longest); at < end; at = Math.max(at + 1, place(packets.time[indices[at]] + apart))) d += path(figure, height, indices[at]);
    return d;
  };
  const draw = (figure, height) => {
    const found = groups(figure);
    const most = Math.max(1, ...found.map(({ count }) => count));
    const paths = new Map();
    const put = (key, d) => paths.set(key, (paths.get(key) ?? "") + d);
    let single = 0;
    for (const { parity, members, count, losses, lost, from, to } of found) {
      const colour = parity ? "line-1" : "line-3";
      if (count <= SINGLE) {
        single += count;
        for (const i of members) put(packets.lost[i] ? "loss line" : `${colour} line`, path(figure, height, i));
      } else {
        put(`${colour} band ${Math.min(DENSITIES.length - 1, Math.floor(DENSITIES.length * count / most))}`, band(figure, height, from, to, members[0]));
        // A loss is never hidden by what surrounds it.
        if (losses) put("loss line", path(figure, height, lost));
      }
    }
    figure.drawn.push({ panel: title, key: "sequence", kind: "sequence", groups: found.length, packets: found.reduce((sum, { count }) => sum + count, 0), single, losses: found.reduce((sum, { losses }) => sum + losses, 0) });
    const asked = foundLines(figure, height);
    if (asked) {
      put("accent line", asked);
      figure.drawn.push({ panel: title, key: "found", kind: "found", lines: asked.match(/M[\d.-]+ 8L/g)?.length ?? 0 });
    }
    const [left, right] = [figure.left, figure.left + figure.columns];
    const clip = `sequence-${trace.id}`;
    const [here, there] = ENDS[trace.vantage] ?? ["here", "peer"];
    // By how much the two clocks may be apart.
    const doubt = other ? tenth(other.uncertainty / (figure.view[1] - figure.view[0]) * figure.columns) : 0;
    const middle = figure.left + figure.columns / 2;
    const whisker = doubt >= 1 ? [svg("path", { class: "doubt", d: `M${tenth(middle - doubt)} ${bottom(height) - 4}v8M${tenth(middle - doubt)} ${bottom(height)}H${tenth(middle + doubt)}M${tenth(middle + doubt)} ${bottom(height) - 4}v8` })] : [];
    const rank = (key) => ["loss", "accent"].indexOf(key.split(" ")[0]);
    const shapes = [...paths].sort(([one], [other]) => rank(one) - rank(other)).map(([key, d]) => {
      const [colour, kind, density] = key.split(" ");
      return kind === "line" ? svg("path", { class: "line", d, style: `stroke:${paint(colour)}`, "stroke-width": rank(key) < 0 ? 1 : 1.5, "data-line": "sequence" })
        : svg("path", { d, style: `fill:${paint(colour)}`, opacity: DENSITIES[density], "data-line": "sequence" });
    });
    return [
      svg("clipPath", { id: clip }, svg("rect", { x: left, y: 0, width: figure.columns, height })),
      svg("g", { "clip-path": `url(#${clip})` }, ...shapes, ...whisker),
      svg("path", { class: "frame", d: `M${left} ${top}H${right}M${left} ${bottom(height)}H${right}` }),
      svg("text", { x: left - 6, y: top + 4, "text-anchor": "end" }, here), svg("text", { x: left - 6, y: bottom(height) + 4, "text-anchor": "end" }, there),
    ];
  };
  /** The packet whose line is nearest to a place in the panel. */
  const packetNearLine = (figure, { time, y }, height) => {
    const share = Math.min(1, Math.max(0, (y - top) / (bottom(height) - top)));
    let [best, distance] = [null, Infinity];
    for (const parity of [1, 0]) {
      const about = packetAt(packets, time - share * delay(time) * (parity ? 1 : -1));
      for (const step of [1, -1]) {
        for (let [i, seen] = [step > 0 ? about : about - 1, 0]; i >= 0 && i < packets.length && seen < NEAR; i += step) {
          if (packets.flags[i] % 2 !== parity) continue;
          seen += 1;
          const far = Math.abs(packets.time[i] + share * way(i) - time);
          if (far < distance) [best, distance] = [i, far];
        }
      }
    }
    return best;
  };
  /** The lines of the packet that is chosen: there, and the acknowledgement's back. */
  const pick = (figure, height) => {
    const { selection } = trace;
    if (selection?.packets !== packets) return "";
    const { index } = selection;
    const acked = packets.acked[index] ? packets.time[index] + (packets.acked[index] - 1) * 1e-9 : null;
    const ack = acked === null ? -1 : packetAt(packets, acked - 1e-9);
    return path(figure, height, index) + (ack < 0 || ack >= packets.length ? "" : path(figure, height, ack));
  };
  /** Every packet in the times shown: its line's name, when it left and came, its number. */
  function* rows({ view: [from, to] }) {
    for (let i = packetAt(packets, from); i < packets.length && packets.time[i] <= to; i += 1) {
      const [time, there] = [packets.time[i], packets.time[i] + way(i)];
      yield [packets.lost[i] ? "lost" : sent(i) ? "sent" : "received", sent(i) ? time : there, sent(i) ? there : time, packets.number[i] ? packets.number[i] - 1 : null];
    }
  }
  const title = other ? `Sequence of packets at both ends, their clocks by the handshake ± ${(other.uncertainty * 1e3).toFixed(2)} ms`
    : `Sequence of packets${longest ? ", as if each way took half the smoothed round trip" : ""}`;
  const patches = [{ name: "sent", colour: "line-1" }, { name: "received", colour: "line-3" }, { name: "lost", colour: "loss" }];
  return { title, height: SEQUENCE_HEIGHT, draw, pick, rows, packetNear: packetNearLine, patches };
}

if (typeof module !== "undefined") module.exports = { placeOf };
