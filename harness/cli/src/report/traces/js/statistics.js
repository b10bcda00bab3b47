// Frames, types and sizes of packets in the times shown, counted.

/** Rows of a histogram of sizes, at most. */
const SIZE_ROWS = 12;

/** How many packets from `begin` to before `end` are of each type and have each frame, and their bytes: `{ types, frames, sizes }`, each entry `[name, sent, received]`. */
function packetStatistics(packets, begin, end) {
  const counts = (length) => [new Float64Array(length), new Float64Array(length)];
  const [types, frames, bytes] = [counts(packets.types.length), counts(packets.frameTypes.length), counts(packets.types.length)];
  let [least, most] = [Infinity, 0];
  for (let i = begin; i < end; i += 1) {
    const [way, type, size] = [packets.flags[i] % 2 ? 0 : 1, packets.flags[i] >> 1, packets.size[i]];
    types[way][type] += 1;
    for (let bits = packets.kinds[i]; bits; bits &= bits - 1) frames[way][31 - Math.clz32(bits & -bits)] += 1;
    if (!size) continue;
    bytes[way][type] += size - 1;
    least = Math.min(least, size - 1);
    most = Math.max(most, size - 1);
  }
  const named = (names, of) => names.map((name, i) => [name, of[0][i], of[1][i]]).filter(([, sent, received]) => sent || received);
  return { types: named(packets.types, types), bytes: named(packets.types, bytes), frames: named(packets.frameTypes, frames), sizes: sizeRows(packets, begin, end, least, most) };
}

/** A histogram of sizes between the least and the most: `[from, to, sent, received]` each. */
function sizeRows(packets, begin, end, least, most) {
  if (!(most >= least)) return [];
  const step = most - least < SIZE_ROWS ? 1 : [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000].find((width) => (most - least) / width < SIZE_ROWS - 1) ?? Math.ceil((most - least + 1) / SIZE_ROWS);
  const first = Math.floor(least / step);
  const rows = Array.from({ length: Math.floor(most / step) - first + 1 }, (_, i) => [(first + i) * step, (first + i + 1) * step - 1, 0, 0]);
  for (let i = begin; i < end; i += 1) {
    if (packets.size[i]) rows[Math.floor((packets.size[i] - 1) / step) - first][packets.flags[i] % 2 ? 2 : 3] += 1;
  }
  return rows;
}

/** Tables of frames, types and sizes in the times shown; each row asks the list of packets for what it counts. */
function statisticsTables(trace, figure) {
  const details = el("details", { class: "more statistics" }, el("summary", {}, "Frames and sizes in the times shown"));
  const body = el("div", { class: "beside" });
  let turn = 0;
  const table = (caption, head, rows) => {
    const most = Math.max(1, ...rows.flatMap(({ counts }) => counts));
    const cells = ({ counts }) => counts.map((count) => { const made = el("td", { class: "number bar-cell" }, grouped.format(count)); made.style.setProperty("--fill", `${100 * count / most}%`); return made; });
    return el("div", { class: "table", role: "region", tabindex: "0", "aria-label": caption }, el("table", {}, el("caption", { class: "visually-hidden" }, caption),
      el("thead", {}, el("tr", {}, ...[head, "Sent", "Received"].map((text, i) => el("th", { scope: "col", class: i ? "number plain" : "plain" }, text)))),
      el("tbody", {}, ...rows.map((row) => el("tr", {}, el("th", { scope: "row" }, row.query ? el("button", { type: "button", title: row.query, onclick: () => trace.find(row.query) }, row.name) : row.name), ...cells(row))))));
  };
  const fill = async () => {
    if (!details.open) return;
    turn += 1;
    const mine = turn;
    const packets = await trace.loadPackets(figure.view).catch(() => null);
    if (!packets || mine !== turn) return;
    const [from, to] = figure.view;
    const { types, bytes, frames, sizes } = packetStatistics(packets, packetAt(packets, from), packetAt(packets, to + 1e-12));
    const rows = (entries, query) => entries.map(([name, ...counts]) => ({ name, counts, query: query?.(name) }));
    body.replaceChildren(
      ...(frames.length ? [table("Packets with a frame", "Packets with", rows(frames, (name) => `frame=${name}`))] : []),
      table("Packets of a type", "Packets of type", rows(types, (name) => `type=${name}`)),
      ...(bytes.length ? [table("Bytes of packets of a type", "Bytes of type", rows(bytes))] : []),
      ...(sizes.length ? [table("Packets of a size", "Packets of bytes", sizes.map(([low, high, ...counts]) => ({ name: low === high ? String(low) : `${low} to ${high}`, counts, query: `size=${low}..${high}` })))] : []));
  };
  details.append(body);
  details.addEventListener("toggle", fill);
  for (const event of ["ranged", "told"]) figure.holder.addEventListener(event, fill);
  return details;
}

if (typeof module !== "undefined") module.exports = { packetStatistics };
