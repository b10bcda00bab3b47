// Packets one by one: a list of those in the times shown, and lanes of the streams they carry.

/** Rows of the list, at most. */
const PACKET_ROWS = 300;

/** Streams that have a lane, at most. */
const STREAM_LANES = 16;

/** The words of packet `i`: time, direction, type, number, bytes, frames, what became of it. */
function packetWords(packets, i, digits) {
  const flags = packets.flags[i];
  const sent = flags % 2 === 1;
  const frames = packets.frameTypes.filter((name, bit) => name !== "stream" && Math.floor(packets.kinds[i] / 2 ** bit) % 2).map((name) => (name === "unknown" ? "other" : name.toUpperCase()));
  for (let at = packets.first[i]; at < packets.first[i + 1]; at += 1) {
    const [from, length] = [packets.offset[at], packets.bytes[at]];
    frames.push(`STREAM ${packets.stream[at]}: ${from} to ${from + Math.floor(length / 2)}${length % 2 ? ", FIN" : ""}`);
  }
  const fate = [];
  const when = (after) => `${(packets.time[i] + (after - 1) * 1e-9).toFixed(digits)} s`;
  if (packets.lost[i]) fate.push(`lost at ${when(packets.lost[i])}${packets.reason[i] ? ` (${words(packets.reasons[packets.reason[i] - 1])})` : ""}`);
  if (packets.acked[i]) fate.push(`acknowledged at ${when(packets.acked[i])}${packets.by[i] ? ` by packet ${packets.by[i] - 1}` : ""}`);
  return [
    packets.time[i].toFixed(digits), sent ? "sent" : "received", packets.types[Math.floor(flags / 2)],
    packets.number[i] ? String(packets.number[i] - 1) : "–", packets.size[i] ? String(packets.size[i] - 1) : "–",
    frames.join("; ") || "–", fate.join("; ") || (sent ? "–" : ""),
  ];
}

/** The first packet at `time` or later. */
function packetAt(packets, time) {
  let [low, high] = [0, packets.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (packets.time[middle] < time) low = middle + 1; else high = middle;
  }
  return low;
}

/** The packets in the times shown, those of a query. */
function packetsTable(trace, figure) {
  const details = el("details", { class: "more packets" }, el("summary", {}, "Packets in the times shown"));
  const body = el("tbody");
  const count = el("p", { class: "hint" });
  const finder = packetFinder(trace, figure, () => { first = 0; fill(); });
  trace.find = (text) => { details.open = true; return finder.ask(text); };
  const { selection } = trace;
  // The first row that is listed, of those in the times shown.
  let [turn, first, listed] = [0, 0, []];
  const earlier = el("button", { type: "button", onclick: () => { first = Math.max(0, first - PACKET_ROWS); fill(); } }, `${PACKET_ROWS} earlier`);
  const later = el("button", { type: "button", onclick: () => { first += PACKET_ROWS; fill(); } }, `${PACKET_ROWS} later`);
  /** Marks the row of the packet that is chosen, and has its list show it. */
  const mark = (shown) => {
    const chosen = listed.findIndex((i) => selection.is(shown, i));
    [...body.rows].forEach((row, at) => {
      if (at === chosen) row.setAttribute("aria-current", "true"); else row.removeAttribute("aria-current");
      row.tabIndex = at === Math.max(0, chosen) ? 0 : -1;
    });
    if (chosen < 0) return false;
    const [box, row] = [body.closest(".table"), body.rows[chosen]];
    if (row.offsetTop < box.scrollTop + 40 || row.offsetTop + row.offsetHeight > box.scrollTop + box.clientHeight) box.scrollTop = row.offsetTop - box.clientHeight / 2;
    return true;
  };
  const fill = async () => {
    if (!details.open) return;
    turn += 1;
    const mine = turn;
    const reading = (share) => { if (mine === turn) count.textContent = `Reading the packets of these times: ${Math.floor(100 * share)} %.`; };
    const packets = await trace.loadPackets(figure.view, reading).catch((error) => { count.textContent = `The packets cannot be read: ${error.message}.`; });
    if (!packets || mine !== turn) return;
    const [from, to] = figure.view;
    const found = finder.found(packets);
    const place = (time) => { const i = packetAt(packets, time); return found ? firstFound(found, i) : i; };
    const [begin, end] = [place(from), place(to + 1e-12)];
    if (first >= end - begin) first = 0;
    // What is chosen elsewhere comes into the list.
    if (selection.packets === packets && selection.fresh) {
      const chosen = (found ? firstFound(found, selection.index) : selection.index) - begin;
      if (chosen >= 0 && chosen < end - begin && (chosen < first || chosen >= first + PACKET_ROWS)) first = Math.max(0, chosen - PACKET_ROWS / 2);
    }
    const digits = Math.max(6, timeDigits(to - from));
    listed = Array.from({ length: Math.min(PACKET_ROWS, end - begin - first) }, (_, at) => (found ? found[begin + first + at] : begin + first + at));
    body.replaceChildren(...listed.map((i) => el("tr", { class: packets.lost[i] ? "lost" : null, onclick: () => selection.choose(packets, i) },
      ...packetWords(packets, i, digits).map((cell, column) => el(column === 0 ? "th" : "td", { scope: column === 0 ? "row" : null, class: column === 0 || column === 3 || column === 4 ? "number" : null }, cell)))));
    earlier.hidden = first === 0;
    later.hidden = first + listed.length >= end - begin;
    mark(packets);
    const { leftOut } = packets;
    const which = earlier.hidden ? `the first ${listed.length} are listed` : `${listed.length} from the ${grouped.format(first + 1)}th are listed`;
    count.textContent = [
      `${found ? `${grouped.format(end - begin)} of those that match lie in the times shown` : plural(end - begin, "packet")}${end - begin > listed.length ? `, ${which}: zoom in for the others` : ""}`,
      ...(leftOut && packets.time[packets.length - 1] < to ? [`the page holds the first ${plural(packets.length, "packet")} ${packets.part ? "of these times" : "of the connection"} and not the ${grouped.format(leftOut)} after them`] : []),
    ].join("; ") + ".";
  };
  selection.addEventListener("chosen", () => { if (details.open && !mark(selection.packets)) fill(); });
  body.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const row = step && body.rows[[...body.rows].indexOf(event.target) + step];
    if (!row) return;
    event.preventDefault();
    row.click();
    row.focus();
  });
  const heads = ["Time, s", "", "Type", "Number", "Bytes", "Frames", "Acknowledged or lost"];
  details.append(finder.element, count,
    el("div", { class: "table", role: "region", tabindex: "0", "aria-label": `Packets of ${trace.name}` },
      el("table", {}, el("caption", { class: "visually-hidden" }, `Packets of ${trace.name} in the times shown`),
        el("thead", {}, el("tr", {}, ...heads.map((head, i) => el("th", { scope: "col", class: i === 0 || i === 3 || i === 4 ? "number plain" : "plain" }, head || el("span", { class: "visually-hidden" }, "Direction"))))), body)),
    el("p", { class: "buttons" }, earlier, later));
  details.addEventListener("toggle", fill);
  for (const event of ["ranged", "told"]) figure.holder.addEventListener(event, () => { first = 0; fill(); });
  return details;
}

/** Lanes of the streams with most data: when data of each were sent, or at a receiver received. */
function streamLanes(packets) {
  packets.lanes ??= lanesOfStreams(packets);
  return packets.lanes;
}

function lanesOfStreams(packets) {
  const totals = new Map();
  for (let i = 0; i < packets.length; i += 1) {
    const sent = packets.flags[i] % 2;
    for (let at = packets.first[i]; at < packets.first[i + 1]; at += 1) {
      const id = packets.stream[at];
      let stream = totals.get(id);
      if (!stream) {
        stream = { id, from: packets.time[i], to: packets.time[i], bytes: [0, 0], times: [[], []], sums: [[], []] };
        totals.set(id, stream);
      }
      stream.to = packets.time[i];
      // A frame without data may still end the stream.
      stream.bytes[sent] += Math.max(1, Math.floor(packets.bytes[at] / 2));
      stream.times[sent].push(packets.time[i]);
      stream.sums[sent].push(stream.bytes[sent]);
    }
  }
  const all = [...totals.values()];
  const sum = (way) => all.reduce((whole, { bytes }) => whole + bytes[way], 0);
  const way = sum(1) >= sum(0) ? 1 : 0;
  const most = [...all].sort((a, b) => b.bytes[way] - a.bytes[way]).slice(0, STREAM_LANES).sort((a, b) => a.from - b.from || a.id - b.id);
  const lanes = most.map(({ id, from, to, times, sums }, i) => ({
    id, key: `stream ${id}`, name: `stream ${id}`, kind: "ticks", colour: lineColour(i), extent: [from, to], data: new Line(Float64Array.from(times[way]), Float64Array.from(sums[way])),
  }));
  return Object.assign(lanes, { sent: way === 1, more: all.length - most.length });
}
