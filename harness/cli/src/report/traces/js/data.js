// The traces that the page contains.

const { windlass, traces } = embedded("traces");

traces.forEach((trace, i) => {
  trace.id = `trace-${i}`;
  /** The trace's packets and lines, decoded once. */
  trace.loadPackets = async () => {
    if (!trace.packets) return null;
    trace.loadedPackets ??= unpacked(`packets-${i}`).then((bytes) => decodedPackets(bytes, trace.packets));
    return trace.loadedPackets;
  };
  if (trace.events_left_out) trace.loadEvents = heldEvents(async () => JSON.parse(await unpackedText(`events-${i}`)), trace.events_left_out);
  trace.load = () => { trace.loaded ??= unpacked(`lines-${i}`).then((bytes) => decodedLines(bytes, trace.lines)); return trace.loaded; };
});

/** Every trace is decoded while the page has nothing else to do: paper does not wait for lines. */
loaded().then(async () => {
  const idle = window.requestIdleCallback ?? setTimeout;
  for (const trace of traces) {
    await new Promise((resume) => { idle(resume); });
    await trace.load();
  }
  for (const figure of figures.all) await figure.fill?.();
  document.documentElement.dataset.loaded = "all";
});
