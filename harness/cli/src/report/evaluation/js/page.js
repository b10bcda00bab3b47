// The page: what was run, the ranking, a section per scenario.

const manyRuns = results.controllers.length * results.stacks.length > 1;

function facts() {
  const count = (status) => results.runs.filter((run) => run.status === status).length;
  const [done, unsupported, failed] = ["done", "unsupported", "failed"].map(count);
  return [
    ...(results.controllers[0]?.name === "" ? [] : [plural(results.controllers.length, "controller")]), plural(results.scenarios.length, "scenario"),
    `on ${results.stacks.join(" and ")}`, `${plural(done, "run")}`,
    ...(unsupported ? [`${unsupported} not possible`] : []), ...(failed ? [`${failed} failed`] : []),
    `seed ${results.seed}`, `windlass ${results.windlass}`,
  ].join(" · ");
}

const plotColumn = (where) => ({
  name: "Plotted", className: "pick", make: (row) => plotBox(row.controller, where),
});
const controllerColumn = wordColumn("Controller", (row) => called(row.controller), { header: true, className: "who" });
const stackColumn = wordColumn("Stack", (row) => row.stack);

function rankingSection() {
  const metrics = ["score", "utilisation", "rtt_ratio", "rtt_p95_ratio", "loss", "fairness"];
  const columns = [
    plotColumn(""),
    { label: "Rank", value: (row) => row.rank, text: (row) => row.rank ?? "–", numeric: true, better: "low",
      help: "Place among the controllers of the same stack" },
    controllerColumn, stackColumn,
    ...metrics.map((metric) => metricColumn(metric)),
    { label: "Runs", value: (row) => row.runs_done, text: (row) => `${row.runs_done} of ${row.runs_planned}`, numeric: true, better: "high",
      help: "Runs done, of those asked for" },
    wordColumn("Collapses", (row) => (row.collapses ?? []).join("; "), { className: "reason", help: "Scenarios with more than a tenth lost or less than a tenth of the link used" }),
  ];
  const partly = results.ranking.filter((row) => row.runs_done > 0 && row.reasons.length > 0);
  const map = el("div", { class: "plot map", role: "group", "aria-roledescription": "chart", tabindex: "0", "aria-label":
    "Map of all controllers: mean round-trip time over base against mean utilisation. Arrow keys go from one to the next. The table holds the same numbers." });
  new Chart(map, mapSpec);
  return el("section", { id: "ranking", "aria-labelledby": "ranking-title" },
    el("h2", { id: "ranking-title" }, "Ranking"),
    el("p", {}, "The score of a run is ", el("strong", {}, "100 × utilisation × (1 − loss) × fairness × base RTT ÷ mean RTT"),
      ": a sender that fills the link, adds no delay, loses nothing and shares evenly gets 100. A row is the mean over all scenarios; ",
      "ranks are among controllers of the same stack, and only for those that ran every scenario. ",
      "One that collapses in a scenario, with more than a tenth lost or less than a tenth of the link used, ranks behind all that do not."),
    sortableTable({ caption: "Ranking", columns, rows: results.ranking, sortBy: "Rank",
      note: (row) => (row.runs_done === 0 ? row.reasons.join("; ") : null) }),
    ...(partly.length ? [el("p", { class: "hint" }, "Runs that are missing: ", partly.map((row) =>
      `${called(row.controller)} on ${row.stack}: ${row.reasons.join("; ")}`).join(". "))] : []),
    el("h3", {}, "Delay against utilisation"),
    el("p", { class: "hint" }, "Means over all scenarios. Up and to the left is better. Coloured points are the plotted controllers."),
    map);
}

function flowsTable(scene) {
  const rows = results.runs.filter((run) => run.scenario === scene.name).flatMap((run) =>
    run.flows.length ? run.flows.map((flow) => ({ controller: run.controller, stack: run.stack, run, flow })) :
      [{ controller: run.controller, stack: run.stack, run, flow: null }]);
  const several = rows.some((row) => row.run.flows.length > 1);
  // Of uncontrolled traffic only the goodput is meaningful.
  const measured = (row) => (row.flow?.controller ? row.flow : null);
  const of = (metric) => metricColumn(metric, (row) => (metric === "goodput_mbps" ? row.flow : measured(row))?.[metric] ?? null);
  const ofRun = (metric) => metricColumn(metric, (row) => row.run.metrics?.[metric] ?? null);
  const loss = metricColumn("loss", (row) => (measured(row)?.packets_sent ? row.flow.packets_lost / row.flow.packets_sent : null));
  const own = wordColumn("Controller", (row) => row.controller || row.flow?.controller || "–", { header: true, className: "who" });
  const columns = [
    ...(manyRuns ? [plotColumn(` in ${scene.name}`)] : []), own, stackColumn,
    ...(several ? [wordColumn("Flow", (row) => (row.flow ? flowName(row) : ""))] : []),
    ofRun("score"), of("goodput_mbps"), of("rtt_mean_ms"), of("rtt_p95_ms"), loss,
    ...(rows.some((row) => row.flow?.packets_marked) ? [of("packets_marked")] : []),
    of("cwnd_mean_packets"), of("congestion_events"), ofRun("utilisation"),
    ...(several ? [ofRun("fairness")] : []),
  ];
  return sortableTable({ caption: `Flows of ${scene.name}`, columns, rows, sortBy: manyRuns ? "Score" : undefined,
    note: (row) => row.run.reason });
}

function flowName({ run, flow }) {
  const other = run.controller && flow.controller !== run.controller;
  return other ? `${flow.name} (${flow.controller || "uncontrolled"})` : flow.name;
}

/** What came of frames, objects and videos; of a column that says nothing there is none. */
function applicationTables(scene) {
  const flows = doneRuns(scene.name).flatMap((run) =>
    run.flows.map((flow) => ({ controller: run.controller || flow.controller, stack: run.stack, flow })));
  const share = (frames, name) => (frames.written ? frames[name] / frames.written : null);
  const rows = (key, values) => flows.filter((row) => row.flow[key]).map((row) => ({ ...row, values: values(row.flow[key]) }));
  const table = (caption, all, metrics) => {
    if (!all.length) return [];
    const kept = metrics.filter((metric) => all.some((row) => row.values[metric] != null));
    const columns = [controllerColumn, stackColumn, wordColumn("Flow", (row) => row.flow.name),
      ...kept.map((metric) => metricColumn(metric, (row) => row.values[metric] ?? null))];
    return [el("h3", {}, caption), sortableTable({ caption: `${caption} of ${scene.name}`, columns, rows: all, sortBy: undefined })];
  };
  const metrics = ["written", "delivered", "late", "delay_median_ms", "delay_p95_ms", "delay_p99_ms", "encoded_mbps",
    "groups", "groups_dropped", "dropped"];
  const frames = rows("frames", (each) => ({ ...each, ...each.objects, delivered: share(each, "delivered"), late: share(each, "late") }));
  return [
    ...table(frames.some((row) => row.flow.frames.objects) ? "Frames and objects" : "Frames", frames, metrics),
    ...table("Videos", rows("video", (each) => each), ["startup_s", "stalls", "stalled_s", "switches", "rate_mbps"]),
  ];
}

function queuesTable(scene) {
  const rows = doneRuns(scene.name).flatMap((run) =>
    run.queues.map((queue) => ({ controller: run.controller, stack: run.stack, queue })));
  const metrics = ["limit_packets", "packets_forwarded", "packets_dropped", "packets_lost_at_random", "packets_marked",
    "utilisation", "mean_packets", "max_packets"];
  const columns = [controllerColumn, stackColumn, wordColumn("Queue", (row) => row.queue.name),
    ...metrics.map((metric) => metricColumn(metric, (row) => row.queue[metric]))];
  return el("details", { class: "more" }, el("summary", {}, "Queues"),
    sortableTable({ caption: `Queues of ${scene.name}`, columns, rows, sortBy: undefined }));
}

/** What the colours and dashes of a scenario's plots mean. */
function fillLegend(legend, scene) {
  const entry = (name, colour, dash) => el("li", {}, sample({ colour, dash }), name);
  const runs = shownRuns(scene.name);
  const [run] = runs;
  if (runs.length === 1 && run.flows.length > 1) {
    legend.replaceChildren(...run.flows.map((flow, i) => entry(flowName({ run, flow }), lineColour(i))));
    return;
  }
  legend.replaceChildren(...runs.map((each) =>
    entry(whose(each), selection.colour(each.controller), dashOf(each.stack))));
  if (runs.some((each) => each.flows.length > 1)) legend.append(el("li", { class: "hint" }, "thin: further flows"));
  if (!runs.length) legend.append(el("li", { class: "hint" }, "Nothing is plotted: tick controllers in a table or in “Plots show”."));
}

function scenarioSection(scene) {
  const title = `scenario-${scene.name}`;
  const caption = `${title}-caption`;
  const holder = figureHolder(`Window, round-trip time, goodput and queue over time in ${scene.name}`, caption);
  const figure = new Figure(holder, scenarioSpec(scene));
  const legend = el("ul", { class: "legend", "aria-label": "Lines" });
  fillLegend(legend, scene);
  selection.listeners.push(() => { fillLegend(legend, scene); figure.set(scenarioSpec(scene)); });
  return el("section", { id: scene.name, "aria-labelledby": title },
    el("h2", { id: title }, scene.name.replaceAll("-", " ")),
    el("p", {}, scene.summary),
    flowsTable(scene), ...applicationTables(scene), queuesTable(scene),
    el("div", { class: "tools" }, legend, figure.controls()),
    el("figure", {}, holder, el("figcaption", { id: caption, class: "visually-hidden" }, "The table above holds the means of the lines.")));
}

function start() {
  selection.start();
  document.getElementById("facts").textContent = facts();
  const content = document.getElementById("content");
  if (manyRuns) content.append(selectionPanel(), rankingSection());
  else content.append(el("div", { hidden: true }, selectionPanel()));
  results.scenarios.forEach((scene) => content.append(scenarioSection(scene)));
  document.getElementById("contents").append(
    ...(manyRuns ? [el("a", { href: "#ranking" }, "Ranking")] : []),
    ...results.scenarios.map((scene) => el("a", { href: `#${scene.name}` }, scene.name.replaceAll("-", " "))));
  selection.listeners.push(showSelection, () => document.querySelector(".map")?.figure.refresh());
  theme.start();
  showSelection();
  figures.start();
}

start();
