// Packetization: the packets of one way beside each other over their bytes, as datagrams, packets, frames and streams' data.

/** Packets that are beside each other: what can be chosen, and at first. */
const PACKETS_BESIDE = [8, 16, 32, 64, 128];
const BESIDE_AT_FIRST = 16;

/** Bytes a datagram has at most: what is logged at one time beyond that is no one datagram (RFC 768). */
const DATAGRAM = 65_535;

const ROW_HEIGHT = 22;
const ROW_NAMES = ["datagrams", "packets", "frames", "streams"];

/**
 * Packets of one way from the `start`th on, `count` at most, as rows over bytes: of each datagram, packet, frame and stream's data
 * `{ row, from, to, packet, … }`, bytes from the first one. Packets of unknown size have the size of their data.
 */
function packetizationRows(packets, start, count, parity) {
  const parts = [];
  let [at, datagram] = [0, null];
  for (let i = start, seen = 0; i < packets.length && seen < count; i += 1) {
    if (packets.flags[i] % 2 !== parity) continue;
    seen += 1;
    let data = 0;
    for (let frame = packets.first[i]; frame < packets.first[i + 1]; frame += 1) data += Math.floor(packets.bytes[frame] / 2);
    const size = Math.max(packets.size[i] ? packets.size[i] - 1 : 0, data);
    const long = packets.types[packets.flags[i] >> 1] !== "1RTT";
    // Packets with long headers go before others in one datagram (RFC 9000 §12.2); traces tell it by their time alone.
    if (datagram?.open && datagram.time === packets.time[i] && at + size - datagram.from <= DATAGRAM) datagram.packets += 1;
    else {
      datagram = { row: 0, from: at, packet: i, packets: 1, time: packets.time[i] };
      parts.push(datagram);
    }
    datagram.to = at + size;
    datagram.open = long;
    parts.push({ row: 1, from: at, to: at + size, packet: i, lost: packets.lost[i] > 0 });
    const others = packets.frameTypes.filter((name, bit) => name !== "stream" && packets.kinds[i] >>> bit & 1);
    const rest = size - data;
    if (rest > 0) parts.push({ row: 2, from: at, to: at + rest, packet: i, others, padding: others.includes("padding") });
    let place = at + rest;
    for (let frame = packets.first[i]; frame < packets.first[i + 1]; frame += 1) {
      const [id, offset, length, fin] = [packets.stream[frame], packets.offset[frame], Math.floor(packets.bytes[frame] / 2), packets.bytes[frame] % 2 === 1];
      for (const row of [2, 3]) parts.push({ row, from: place, to: place + length, packet: i, stream: id, offset, length, fin });
      place += length;
    }
    at += size;
  }
  return { parts, bytes: at };
}

/** What a part is, in words. */
function partWords(packets, part) {
  const { row, packet, stream } = part;
  const number = packets.number[packet] ? packets.number[packet] - 1 : "–";
  if (row === 0) return part.packets > 1 ? `datagram of ${part.packets} packets, by their time` : "datagram of one packet";
  if (row === 1) return `packet ${number}, ${packets.types[packets.flags[packet] >> 1]}, ${part.to - part.from} bytes${part.lost ? ", lost" : ""}`;
  if (stream !== undefined) return `stream ${stream}: ${part.offset} to ${part.offset + part.length}${part.fin ? ", FIN" : ""}`;
  return `packet ${number}: ${part.to - part.from} bytes of headers${part.others.length ? ` and ${part.others.map((name) => name.toUpperCase()).join(", ")}` : ""}${part.padding ? ": padded" : ""}`;
}

/** The packets of one way from the times shown, or from the one that is chosen, over their bytes. */
function packetizationView(trace, figure) {
  const { selection } = trace;
  const details = el("details", { class: "more packetization" }, el("summary", {}, "Packetization: the bytes of packets from the times shown"));
  const picture = svg("svg", { class: "panel-picture", role: "img", "aria-label": `Packetization of ${trace.name}: the list of packets holds the same` });
  const [readout, box] = [el("p", { class: "readout", role: "status" }), el("div", { class: "table", role: "region", tabindex: "0", "aria-label": "Packets over their bytes; arrow keys choose the one before or after" }, picture)];
  let [held, beside, start, parity, chosenWay, turn, drawn] = [null, BESIDE_AT_FIRST, null, null, null, 0, []];
  const choice = (label, options, value, set) => el("label", {}, `${label} `, el("select", { onchange: (event) => { set(event.target.value); fill(); } }, ...options.map(([key, text]) => el("option", { value: key, selected: key === value }, text))));
  /** Which way more data goes. */
  const mostly = () => { let sum = 0; for (let i = 0; i < held.length; i += 1) sum += (held.flags[i] % 2 ? 1 : -1) * held.size[i]; return sum >= 0 ? 1 : 0; };
  const fill = async () => {
    if (!details.open) return;
    turn += 1;
    const mine = turn;
    const packets = await trace.loadPackets(figure.view).catch(() => null);
    if (!packets || mine !== turn) return;
    held = packets;
    parity ??= mostly();
    ways.value = String(parity);
    start ??= packetAt(held, figure.view[0]);
    const { parts, bytes } = packetizationRows(held, start, beside, parity);
    drawn = parts;
    const [left, width] = [76, Math.max(320, box.clientWidth - 2)];
    const across = (byte) => left + (width - left - 6) * byte / Math.max(1, bytes);
    const height = ROW_NAMES.length * ROW_HEIGHT + 26;
    const order = [...new Set(parts.filter(({ stream }) => stream !== undefined).map(({ stream }) => stream))].sort((a, b) => a - b);
    const shapes = parts.map((part, index) => {
      const [x, end] = [tenth(across(part.from)), tenth(across(part.to))];
      const colour = part.lost ? "loss" : part.row === 0 ? "line-8" : part.row === 1 ? "line-1" : part.stream === undefined ? "line-5" : part.row === 2 ? "line-3" : lineColour(order.indexOf(part.stream));
      const shape = svg("rect", { x, y: 4 + part.row * ROW_HEIGHT, width: Math.max(0.8, end - x - 0.8), height: ROW_HEIGHT - 5, style: `fill:${paint(colour)}`, "data-part": index, class: selection.is(held, part.packet) ? "part chosen-part" : "part" });
      if (part.padding) shape.setAttribute("opacity", 0.5);
      shape.append(svg("title", {}, partWords(held, part)));
      return shape;
    });
    const texts = parts.filter(({ row, from, to }) => row === 1 && across(to) - across(from) > 34).map((part) => svg("text", { class: "in-part", x: tenth((across(part.from) + across(part.to)) / 2), y: ROW_HEIGHT + 16, "text-anchor": "middle" }, held.number[part.packet] ? held.number[part.packet] - 1 : "–"));
    const marks = ticks(0, bytes, Math.max(2, width / 120)).filter((value) => value <= bytes);
    setSize(picture, width, height);
    picture.replaceChildren(...ROW_NAMES.map((name, row) => svg("text", { x: left - 6, y: row * ROW_HEIGHT + 16, "text-anchor": "end" }, name)), ...shapes, ...texts,
      ...marks.map((value) => svg("text", { x: tenth(Math.min(across(value), width - 40)), y: height - 6, "text-anchor": "middle" }, `${tickText(value, marks.step)}${value === 0 ? " bytes" : ""}`)));
    const first = parts.find(({ row }) => row === 1);
    start = first?.packet ?? start;
    const coalesced = parts.filter(({ row, packets: count }) => row === 0 && count > 1).length;
    readout.textContent = first ? `${plural(parts.filter(({ row }) => row === 1).length, "packet")} ${parity ? "sent" : "received"} from ${held.time[first.packet].toFixed(6)} s on, ${grouped.format(bytes)} bytes${coalesced ? `, ${plural(coalesced, "datagram")} of several packets` : ""}.` : "No packet of that way from here on.";
  };
  /** Goes on by as many packets of the way as are shown. */
  const go = (step) => {
    if (!held) return;
    let [at, left] = [start ?? 0, beside];
    while (left > 0 && at + step >= 0 && at + step < held.length) { at += step; if (held.flags[at] % 2 === parity) left -= 1; }
    start = at;
    fill();
  };
  picture.addEventListener("click", ({ target }) => { const part = drawn[target.dataset?.part]; if (part) selection.choose(held, part.packet); });
  box.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const shown = drawn.filter(({ row }) => row === 1).map(({ packet }) => packet);
    const at = shown.findIndex((packet) => selection.is(held, packet));
    const next = shown[at < 0 ? 0 : at + step];
    if (next === undefined) go(step); else selection.choose(held, next);
  });
  selection.addEventListener("chosen", () => {
    const { packets, index } = selection;
    // What is chosen elsewhere is shown here.
    if (packets && !drawn.some(({ row, packet }) => row === 1 && packet === index && held === packets)) [start, parity] = [index, packets.flags[index] % 2];
    fill();
  });
  figure.holder.addEventListener("ranged", () => { if (!selection.packets || drawn.every(({ packet }) => packet !== selection.index)) start = null; fill(); });
  details.addEventListener("toggle", fill);
  const set = () => details.dispatchEvent(new Event("set"));
  const waysLabel = choice("Packets", [["1", "sent"], ["0", "received"]], "1", (way) => { parity = chosenWay = Number(way); set(); });
  const atOnceLabel = choice("at once", PACKETS_BESIDE.map((count) => [String(count), String(count)]), String(BESIDE_AT_FIRST), (count) => { beside = Number(count); set(); });
  const [ways, atOnce] = [waysLabel, atOnceLabel].map((label) => label.querySelector("select"));
  /** What someone chose, for the address, and the way back. */
  details.told = () => ({ way: chosenWay === null ? null : ["received", "sent"][chosenWay], beside: beside === BESIDE_AT_FIRST ? null : beside });
  details.tell = ({ way, beside: count }) => {
    if (way) parity = chosenWay = Number(way === "sent");
    if (PACKETS_BESIDE.includes(Number(count))) { beside = Number(count); atOnce.value = count; }
    fill();
  };
  details.append(el("div", { class: "tools" }, el("span", { class: "choices-of-two" }, waysLabel, atOnceLabel),
  el("span", { class: "buttons" }, el("button", { type: "button", onclick: () => go(-1) }, "Packets before"), el("button", { type: "button", onclick: () => go(1) }, "Packets after"))), box, readout);
  return details;
}

if (typeof module !== "undefined") module.exports = { packetizationRows, partWords };
