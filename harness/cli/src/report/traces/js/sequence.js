// The sequence diagram of a trace: packets as slanted lines between the two ends, over the time axis of all other panels.

/** Lines of one way closer than this are drawn as one band, pixels. */
const APART = 4;
/** Packets that are drawn one by one where so many of them would be in one band. */
const SINGLE = 2;
/** Bands outside the times shown whose lines reach into it, at most. */
const OUTSIDE = 300;
const SEQUENCE_HEIGHT = 130;
/** Where the two ends are, pixels from the top and from the bottom. */
const END_INSET = 8;
/** How dense a band is, by its share of the densest. */
const DENSITIES = [0.25, 0.45, 0.65, 0.85];

/** What the diagram is called at its top and at its bottom. */
const ENDS = { client: ["client", "server"], server: ["server", "client"] };

/** Half of the round trip at a time, s: what each way takes, as far as one end can tell. */
function oneWay(trace, lines) {
  const known = lines.get("smoothed_rtt") ?? lines.get("latest_rtt");
  const rest = (measure(trace, "rtt_min_ms") ?? 0) * 1e-3;
  return (time) => { const rtt = known?.at(time); return (rtt > 0 ? rtt * 1e-9 : rest) / 2; };
}

/** The panel of the sequence diagram. */
function sequencePanel(trace, lines, packets) {
  const delay = oneWay(trace, lines);
  const [, slowest] = extent((lines.get("smoothed_rtt") ?? lines.get("latest_rtt"))?.values ?? []) ?? [];
  const longest = Math.max(slowest ? slowest * 1e-9 : 0, (measure(trace, "rtt_min_ms") ?? 0) * 1e-3) / 2;
  const sent = (i) => packets.flags[i] % 2 === 1;
  const top = END_INSET;
  const bottom = (height) => height - END_INSET;
  /** A packet's line: it leaves one end and comes to the other, or is lost halfway. */
  const path = (figure, height, i) => {
    const [time, way] = [packets.time[i], delay(packets.time[i])];
    const x = (at) => tenth(figure.across(at));
    if (!sent(i)) return `M${x(time - way)} ${bottom(height)}L${x(time)} ${top}`;
    if (!packets.lost[i]) return `M${x(time)} ${top}L${x(time + way)} ${bottom(height)}`;
    const [left, y] = [x(time + way / 2), (top + bottom(height)) / 2];
    return `M${x(time)} ${top}L${left} ${y}M${left - 3} ${y - 3}l6 6m0 -6l-6 6`;
  };
  /** The band of the packets from one time to another. */
  const band = (figure, height, from, to, isSent) => {
    const way = delay(from);
    const [a, b] = [tenth(figure.across(from)), tenth(Math.max(figure.across(to), figure.across(from) + 1))];
    const shift = tenth(figure.across(from + way) - figure.across(from)) * (isSent ? 1 : -1);
    return `M${a} ${top}H${b}L${b + shift} ${bottom(height)}H${a + shift}Z`;
  };
  /** The packets whose lines may be seen, in groups: those of one way that lie closer than lines can be told apart. */
  const groups = (figure) => {
    const [from, to] = figure.view;
    const perPixel = (to - from) / figure.columns;
    const [inside, outside] = [APART * perPixel, Math.max(APART * perPixel, longest / OUTSIDE)];
    const [begin, end] = [packetAt(packets, from - longest), packetAt(packets, to + longest)];
    const found = [];
    for (const parity of [1, 0]) {
      let [key, latest] = [null, null];
      for (let i = begin; i < end; i += 1) {
        if (packets.flags[i] % 2 !== parity) continue;
        const time = packets.time[i];
        const within = time >= from && time <= to;
        const place = Math.floor((time - from) / (within ? inside : outside)) + (within ? 0.5 : 0);
        if (place !== key) {
          latest = { parity, members: [], count: 0, losses: 0, lost: -1, from: time, to: time };
          found.push(latest);
          key = place;
        }
        latest.count += 1;
        latest.to = time;
        if (latest.members.length < SINGLE) latest.members.push(i);
        if (packets.lost[i]) { latest.losses += 1; latest.lost = i; }
      }
    }
    return found;
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
        put(`${colour} band ${Math.min(DENSITIES.length - 1, Math.floor(DENSITIES.length * count / most))}`, band(figure, height, from, to, parity === 1));
        // A loss is never hidden by what surrounds it.
        if (losses) put("loss line", path(figure, height, lost));
      }
    }
    figure.drawn.push({ panel: title, key: "sequence", kind: "sequence", groups: found.length, packets: found.reduce((sum, { count }) => sum + count, 0), single, losses: found.reduce((sum, { losses }) => sum + losses, 0) });
    const [left, right] = [figure.left, figure.left + figure.columns];
    const clip = `sequence-${trace.id}`;
    const [here, there] = ENDS[trace.vantage] ?? ["here", "peer"];
    const shapes = [...paths].sort(([one], [other]) => one.startsWith("loss") - other.startsWith("loss")).map(([key, d]) => {
      const [colour, kind, density] = key.split(" ");
      return kind === "line" ? svg("path", { class: "line", d, style: `stroke:${paint(colour)}`, "stroke-width": colour === "loss" ? 1.5 : 1, "data-line": "sequence" })
        : svg("path", { d, style: `fill:${paint(colour)}`, opacity: DENSITIES[density], "data-line": "sequence" });
    });
    return [
      svg("clipPath", { id: clip }, svg("rect", { x: left, y: 0, width: figure.columns, height })),
      svg("g", { "clip-path": `url(#${clip})` }, ...shapes),
      svg("path", { class: "frame", d: `M${left} ${top}H${right}M${left} ${bottom(height)}H${right}` }),
      svg("text", { x: left - 6, y: top + 4, "text-anchor": "end" }, here), svg("text", { x: left - 6, y: bottom(height) + 4, "text-anchor": "end" }, there),
    ];
  };
  /** The packet whose line is nearest to a place in the panel. */
  const packetNearLine = (figure, { time, y }, height) => {
    const share = Math.min(1, Math.max(0, (y - top) / (bottom(height) - top)));
    const way = delay(time);
    let [best, distance] = [null, Infinity];
    for (const parity of [1, 0]) {
      const when = parity ? time - share * way : time + share * way;
      const [after, before] = [packetAt(packets, when), packetAt(packets, when) - 1];
      const next = (i, step) => { let at = i; while (at >= 0 && at < packets.length && packets.flags[at] % 2 !== parity) at += step; return at; };
      for (const i of [next(after, 1), next(before, -1)]) {
        const far = Math.abs(packets.time[i] - when);
        if (far < distance) [best, distance] = [i, far];
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
    return path(figure, height, index) + (acked === null ? "" : `M${tenth(figure.across(acked - delay(acked)))} ${bottom(height)}L${tenth(figure.across(acked))} ${top}`);
  };
  /** Every packet in the times shown: its line's name, when it left and came, its number. */
  function* rows({ view: [from, to] }) {
    for (let i = packetAt(packets, from); i < packets.length && packets.time[i] <= to; i += 1) {
      const [time, way] = [packets.time[i], delay(packets.time[i])];
      yield [packets.lost[i] ? "lost" : sent(i) ? "sent" : "received", sent(i) ? time : time - way, sent(i) ? time + way : time, packets.number[i] ? packets.number[i] - 1 : null];
    }
  }
  const title = `Sequence of packets${longest ? ", as if each way took half the smoothed round trip" : ""}`;
  const patches = [{ name: "sent", colour: "line-1" }, { name: "received", colour: "line-3" }, { name: "lost", colour: "loss" }];
  return { title, height: SEQUENCE_HEIGHT, draw, pick, rows, packetNear: packetNearLine, patches };
}
