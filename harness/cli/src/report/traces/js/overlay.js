// Traces over one time axis, each from its own beginning.

/** Panels of an overlay: the first quantity of `of` that a trace has. */
const OVERLAY = [
  { title: "Congestion window, kB", unit: "kB", digits: 1, zero: true, of: ["congestion_window"] },
  { title: "Bytes in flight, kB", unit: "kB", digits: 1, zero: true, of: ["bytes_in_flight"] },
  { title: "Round-trip time, ms", unit: "ms", digits: 2, zero: "auto", of: ["smoothed_rtt", "latest_rtt"] },
  { title: "Goodput, or throughput, Mbit/s", unit: "Mbit/s", digits: 2, zero: true, of: ["delivered", "sent"], rate: true },
];

/** The figure of those of `traces` that are `shown`, each `{ trace, lines, name, colour, … }`: its decoded lines, what it is called, how its lines are drawn. */
function overlaySpec(traces, shown) {
  const quantityOf = (trace, of) => of.find((name) => trace.lines.some((line) => line.name === name));
  const panels = OVERLAY.filter(({ of }) => traces.some((trace) => quantityOf(trace, of))).map(({ of, rate, ...panel }) => ({
    ...panel, names: false,
    lines: shown.flatMap(({ trace, lines, name, ...style }) => {
      const quantity = quantityOf(trace, of);
      if (!quantity) return [];
      const sampled = quantity === "latest_rtt" ? { kind: "samples" } : {};
      const line = lineOf(trace, lines, { of: quantity, ...(rate ? { as: quantity } : {}), ...sampled, ...style });
      return [{ ...line, key: `${traces.indexOf(trace)} ${quantity}`, quantity, name, digits: panel.digits }];
    }),
  }));
  return { whole: [0, Math.max(...traces.map((trace) => trace.duration_s))], panels, pending: null };
}
