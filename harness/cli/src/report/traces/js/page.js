// The page: a summary of all traces, and a section for each.

const columnsShown = Object.keys(METRICS).filter((name) => traces.some((trace) => measure(trace, name) !== null));

function summarySection() {
  const columns = [
    wordColumn("Trace", (trace) => trace.name, { header: true, className: "who" }),
    ...(traces.some(({ vantage }) => vantage !== "unknown") ? [wordColumn("Seen at", (trace) => (trace.vantage === "unknown" ? "–" : trace.vantage))] : []),
    wordColumn("Controller", (trace) => trace.controller ?? "–"),
    ...columnsShown.map((name) => metricColumn(name, (trace) => measure(trace, name))),
  ];
  return el("section", { id: "summary", "aria-labelledby": "summary-title" },
    el("h2", { id: "summary-title" }, "Summary"),
    sortableTable({ caption: "Summary", columns, rows: traces, link: (trace) => `#${trace.id}` }));
}

function start() {
  document.getElementById("facts").textContent = [plural(traces.filter(({ path }) => path === undefined).length, "connection"), ...[traces.filter(({ path }) => path !== undefined).length].filter(Boolean).map((paths) => plural(paths, "path")),
    plural(new Set(traces.map(({ file }) => file)).size, "file"), `windlass ${windlass}`].join(" · ");
  const content = document.getElementById("content");
  const drawable = traces.filter(({ duration_s: duration, lines }) => duration > 0 && lines.length);
  const load = async (all) => { for (const trace of all) trace.decoded = await trace.load(); };
  const together = drawable.length > 1 ? [togetherSection(drawable, new Set(), load)] : [];
  content.append(summarySection(), ...together, ...traces.map(traceSection));
  document.getElementById("contents").append(...traces.map((trace) => el("a", { href: `#${trace.id}` }, trace.name)));
  theme.start();
  figures.start();
}

start();
