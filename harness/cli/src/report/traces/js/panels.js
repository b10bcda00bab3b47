// The panels of a trace: windows, delays, rates, data, and what happened, over one time axis.

/** Lines that are drawn, panel by panel, where the trace has them; what happened, a lane each, from the top: those that `always` are there say why they are empty. */
const { panels: TRACE_PANELS, lanes: LANES, untinted: UNTINTED } = SHOWN;

/** The colour of each of a trace's states. */
function stateColours(trace) {
  const { states, other_states: colours } = SHOWN;
  const others = trace.states.filter((name) => !states[name]);
  return trace.states.map((name) => states[name] ?? colours[others.indexOf(name) % colours.length]);
}

/** A trace's line `of` as a figure takes it; without `lines` its place is kept. */
function lineOf(trace, lines, { of, as, kind, ...style }) {
  const { label, scale } = QUANTITIES[of];
  const end = trace.duration_s;
  const data = lines?.get(of);
  return as ? { key: as, name: as, kind: "rate", data, scale: 8e-6, end, bin: (span) => binWidth(trace, span), ...style }
    : { key: of, name: label, kind: kind ?? "steps", data, scale, end, ...style };
}

/** The figure of a trace from its decoded lines, or, without them, its empty panels. */
function traceSpec(trace, lines, packets = null) {
  const has = (name) => trace.lines.some((line) => line.name === name);
  const lost = measure(trace, "packets_lost");
  const panels = TRACE_PANELS.map(({ lines: wanted, marked, ...panel }) => {
    const own = wanted.filter(({ of }) => has(of)).map((line) => ({ digits: panel.digits, ...lineOf(trace, lines, line) }));
    const on = own.find(({ key }) => key === "congestion_window") ?? own.at(-1);
    const marks = marked && has("lost") && on ? [{ key: "lost", name: `packet lost${lost ? ` (${grouped.format(lost)}${trace.losses === "inferred" ? ", inferred" : ""})` : ""}`, colour: "loss", data: lines?.get("lost"), on }] : [];
    return { ...panel, lines: own, marks };
  }).filter((panel) => panel.lines.length);
  const why = new Map(trace.empty);
  const named = { state: { colours: stateColours(trace), names: trace.states.map(stateWords) }, limited_by: { names: trace.limits.map((name) => `limited by ${name}`) } };
  const lanes = LANES.filter(({ of, always }) => has(of) || always && why.has(of)).map((lane) => (has(lane.of)
    ? { key: lane.of, ...lane, data: lines?.get(lane.of), ...named[lane.of] }
    : { key: lane.of, name: lane.name, kind: "none", note: why.get(lane.of) }));
  if (trace.found) lanes.push(trace.found.length ? { key: "found", name: "found", kind: "ticks", colour: "accent", data: trace.found } : { key: "found", name: "found", kind: "none", note: "no packet" });
  const patches = has("state") ? trace.states.map((name, i) => ({ name: stateWords(name), colour: stateColours(trace)[i] })) : [];
  const limits = LANES.find(({ of }) => of === "limited_by");
  if (has("limited_by")) patches.push(...trace.limits.map((name, i) => ({ name: `limited by ${name}`, colour: limits.colours[i] })));
  if (packets?.length && lines) panels.push(sequencePanel(trace, lines, packets, trace.other));
  else if (trace.packets?.packets && trace.loadPackets) panels.push({ title: "Sequence of packets", height: SEQUENCE_HEIGHT, draw: () => [] });
  if (lanes.length) panels.push({ title: "Events", lanes, patches });
  const streams = packets ? streamLanes(packets) : [];
  if (streams.length) {
    const more = streams.more ? `; ${plural(streams.more, "stream")} with less data are left out` : "";
    // Lanes that end there would look like streams that do.
    const until = packets.leftOut ? `; the page holds packets up to ${packets.time[packets.length - 1].toFixed(2)} s` : "";
    panels.push({ title: `Streams: ${streams.sent ? "data sent" : "data received"}, from the first packet of each to the last${more}${until}`, lanes: streams });
  }
  const tints = has("state") && lines ? { data: lines.get("state"), colours: trace.states.map((name, i) => (name === UNTINTED ? null : stateColours(trace)[i])) } : null;
  return { label: `Chart of ${trace.name}`, file: `${trace.name}-over-time`, whole: [0, trace.duration_s], panels, tints,
    pending: lines ? null : async () => { trace.other = await otherEnd(trace); return traceSpec(trace, await trace.load(), await trace.loadPackets?.()); } };
}
