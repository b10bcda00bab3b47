// The page: differences, the traces overlaid, and what each trace measures.

const percentage = Number((100 * comparison.confidence).toPrecision(6));

/** Digits that a measure is shown with. */
const digitsOf = (metric) => METRICS[metric]?.digits ?? 3;
const signed = (value, digits) => (value > 0 ? "+" : "") + value.toFixed(digits);

function differencesSection() {
  // What no group ever had is not worth a row.
  const any = (metric) => comparison.rows.some((row) => row.metric === metric && row.mean !== 0);
  const rows = comparison.rows.filter((row) => METRICS[row.metric] && row.metric !== "duration_s" && any(row.metric));
  const number = (label, value, text, help) => ({ label, value, text, help, numeric: true, better: "high" });
  const columnsOf = [
    wordColumn("Measure", (row) => { const { label, unit } = METRICS[row.metric]; return unit ? `${label}, ${unit}` : label; }, { header: true }),
    wordColumn("Group", (row) => row.group, { className: "who" }),
    number("Runs", (row) => row.repetitions, (row) => String(row.repetitions), "Repetitions that have the measure"),
    number("Mean", (row) => row.mean, (row) => row.mean.toFixed(digitsOf(row.metric)), "Mean over the repetitions"),
    number("Deviation", (row) => row.deviation, (row) => (row.deviation === null ? "–" : row.deviation.toFixed(digitsOf(row.metric))), "Standard deviation of the repetitions"),
    number("Difference", (row) => row.difference?.absolute, (row) => (row.difference ? signed(row.difference.absolute, digitsOf(row.metric)) : row.group === comparison.baseline ? "baseline" : "–"),
      `Mean less that of ${comparison.baseline}`),
    number("%", (row) => row.difference?.percent, (row) => (row.difference?.percent == null ? "–" : signed(row.difference.percent, 1)), "The difference as a share of the baseline's mean"),
    number(`${percentage} % interval`, (row) => row.difference?.interval?.[0],
      (row) => (row.difference?.interval ? row.difference.interval.map((end) => signed(end, digitsOf(row.metric))).join(" … ") : "–"),
      "Welch's t interval of the difference"),
  ];
  const single = comparison.rows.some((row) => row.repetitions === 1);
  const holder = el("div", { class: "plot map", role: "group", "aria-roledescription": "chart", tabindex: "0", "aria-label":
    `Differences to ${comparison.baseline} in percent, with their intervals. Arrow keys go from one to the next. The table above holds the same numbers.` });
  new Chart(holder, differenceSpec);
  return el("section", { id: "differences", "aria-labelledby": "differences-title" },
    el("h2", { id: "differences-title" }, "Differences"),
    el("p", {}, "Groups are measured against ", el("strong", {}, comparison.baseline), `. Intervals are Welch’s t at ${percentage} %: an interval without 0 `,
      "is a difference that repetitions with other seeds would hardly undo. Of twenty measures one is expected to show such a difference by chance."),
    ...(single ? [el("p", { class: "note" }, "Of groups with one repetition no interval can be given: repeat the runs with other seeds.")] : []),
    sortableTable({ caption: "Differences", columns: columnsOf, rows }),
    el("h3", {}, "Differences in percent"), holder);
}

function overlaySection() {
  const holder = figureHolder("Chart of all traces: window, bytes in flight, round-trip time and rate over time", "overlay-caption");
  const figure = new Figure(holder, comparedSpec(null));
  const show = async () => figure.set(comparedSpec(await Promise.all(traces.map((trace) => trace.load()))));
  const legend = el("ul", { class: "legend", "aria-label": "Groups" }, ...comparison.groups.map((group) => {
    const button = el("button", { type: "button", class: "toggle", "data-line": group, "aria-pressed": "true", onclick: () => {
      if (!hiddenGroups.delete(group)) hiddenGroups.add(group);
      button.setAttribute("aria-pressed", String(!hiddenGroups.has(group)));
      show();
      announce(`${group} ${hiddenGroups.has(group) ? "hidden" : "shown"}`);
    } }, sample({ colour: groupColour(group) }), group);
    return el("li", {}, button);
  }));
  return el("section", { id: "overlay", "aria-labelledby": "overlay-title" },
    el("h2", { id: "overlay-title" }, "Over time"),
    el("div", { class: "tools" }, legend, figure.controls()),
    el("figure", {}, holder, el("figcaption", { id: "overlay-caption", class: "hint" },
      `${plural(traces.length, "trace")} in ${plural(comparison.groups.length, "group")} by ${by}, each from its own beginning. The table below holds what each measures.`)));
}

function tracesSection() {
  const shownColumns = Object.keys(METRICS).filter((name) => traces.some((trace) => measure(trace, name) !== null));
  const columnsOf = [
    wordColumn("Group", (trace) => trace.group_shown, { header: true, className: "who" }), wordColumn("Trace", (trace) => trace.name),
    ...shownColumns.map((name) => metricColumn(name, (trace) => measure(trace, name))),
  ];
  return el("section", { id: "each", "aria-labelledby": "each-title" }, el("h2", { id: "each-title" }, "Traces"),
    sortableTable({ caption: "Traces", columns: columnsOf, rows: traces }));
}

function start() {
  document.getElementById("facts").textContent =
    [plural(comparison.groups.length, "group"), `by ${by}`, plural(traces.length, "trace"), `windlass ${windlass}`].join(" · ");
  document.getElementById("content").append(differencesSection(), overlaySection(), tracesSection());
  document.getElementById("contents").append(...[["differences", "Differences"], ["overlay", "Over time"], ["each", "Traces"]].map(([id, text]) => el("a", { href: `#${id}` }, text)));
  theme.start();
  figures.start();
}

start();
