// The traces that the page contains.

const { windlass, traces } = embedded("traces");

traces.forEach((trace, i) => {
  trace.id = `trace-${i}`;
  /** The trace's lines, decoded once. */
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
