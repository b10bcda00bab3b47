// The playground: a scenario, run in the packet simulator by the program, drawn while it runs.

Object.assign(METRICS, {
  flow_goodput_mbps: { label: "Goodput", unit: "Mbit/s", digits: 3, better: "high", help: "Application bytes delivered over the time the flow was active" },
  flow_rtt_mean_ms: { label: "RTT mean", unit: "ms", digits: 2, better: "low", help: "Mean of the RTT samples" },
  flow_rtt_p95_ms: METRICS.rtt_p95_ms,
  flow_rtt_min_ms: METRICS.rtt_min_ms,
  flow_packets_sent: { label: "Sent", unit: "packets", digits: 0, better: "high", help: "Packets sent, retransmissions included" },
  flow_packets_lost: { label: "Lost", unit: "packets", digits: 0, better: "low", help: "Packets the sender declared lost" },
  flow_packets_marked: { label: "Marked", unit: "packets", digits: 0, better: "low", help: "Packets received with a CE mark" },
  flow_congestion_events: { label: "Responses", digits: 0, better: "low", help: "Entries into recovery" },
  flow_cwnd_mean_packets: { label: "Window", unit: "packets", digits: 1, better: "high", help: "Time-weighted mean of the congestion window" },
  queue_utilisation: { label: "Used", unit: "%", digits: 1, scale: 100, better: "high", help: "Bits sent over bits that could have been sent" },
  queue_mean_packets: { label: "Mean", unit: "packets", digits: 1, better: "low", help: "Time-weighted mean of waiting packets" },
  queue_max_packets: { label: "Most", unit: "packets", digits: 0, better: "low", help: "Most packets that ever waited" },
  queue_packets_dropped: { label: "Dropped", unit: "packets", digits: 0, better: "low", help: "For lack of room or by queue management" },
  queue_packets_marked: { label: "Marked", unit: "packets", digits: 0, better: "low", help: "Packets that got a CE mark" },
});

const playground = { state: structuredClone(DEFAULT_SCENARIO), run: null, figure: null, catalogue: null, series: null };

/** The figure's panels, from the columns of points so far. */
function playgroundSpec({ duration, flows, queues }) {
  const style = (i) => ({ colour: lineColour(i), dash: Object.keys(DASHES)[Math.floor(i / SLOTS) % 4], width: 1.6 });
  const of = (list, key, unit) => list.map((one, i) => ({ key: `${i}`, name: one.name, kind: "straight", data: lineFrom(one, key), end: duration, unit, ...style(i) }));
  const several = queues.length > 1;
  return {
    file: "playground-over-time", whole: [0, duration], pending: null, tints: null,
    panels: [
      { title: "Goodput, Mbit/s", unit: "Mbit/s", digits: 2, zero: true, lines: of(flows, "goodput_mbps") },
      { title: "Congestion window, packets", unit: "", digits: 1, zero: true, names: false, lines: of(flows, "cwnd_packets") },
      { title: "Round-trip time, ms", unit: "ms", digits: 1, zero: "auto", names: false, lines: of(flows, "rtt_ms") },
      { title: several ? "Queues, packets" : "Queue, packets", unit: "", digits: 0, zero: true, ...(several ? {} : { names: false }),
        lines: queues.map((queue, i) => ({ key: `queue ${i}`, name: queue.name, kind: "straight", data: lineFrom(queue, "packets"), end: duration, colour: several ? lineColour(i) : "line-8", width: 1.4 })) },
    ].filter(({ lines }) => lines.length),
  };
}

/** A column of points as a line; what has no value is left out. */
function lineFrom(columns, key) {
  const [times, values] = [[], []];
  (columns[key] ?? []).forEach((value, i) => { if (value !== null) { times.push(columns.time_s[i]); values.push(value); } });
  return new Line(Float64Array.from(times), Float64Array.from(values));
}

function appendColumns(columns, more) {
  for (const [key, values] of Object.entries(more)) (columns[key] ??= []).push(...values);
}

/** Runs the scenario in the text field. */
function play() {
  playground.run?.stop();
  delete document.documentElement.dataset.played;
  const text = field("scenario").value;
  const started = performance.now();
  const status = field("play-status");
  field("problems").replaceChildren();
  field("play").textContent = "Stop";
  status.textContent = "running";
  linkOf(text).then((link) => {
    history.replaceState(null, "", link);
    field("link").href = link;
  });
  let problems = null;
  const run = program.run(["scenario"], new Blob([text]), {
    onMessage(message) {
      if (playground.run !== run) return;
      const { kind } = message;
      if (kind === "problems") ({ problems } = message);
      else if (kind === "started") begin(message);
      else if (kind === "points") {
        message.flows.forEach((points, i) => appendColumns(playground.series.flows[i], points));
        message.queues.forEach((points, i) => appendColumns(playground.series.queues[i], points));
        status.textContent = `${message.now_s.toFixed(1)} of ${playground.series.duration} s`;
        redraw();
      } else if (kind === "outcome") {
        finish(message.outcome);
        status.textContent = `${playground.series.duration} s of virtual time in ${((performance.now() - started) / 1000).toFixed(2)} s`;
      }
    },
  });
  playground.run = run;
  run.done.catch((error) => ({ code: 1, stderr: error.message })).then((done) => {
    if (playground.run !== run) return;
    playground.run = null;
    field("play").textContent = "Run";
    if (!done) status.textContent = "stopped";
    else if (done.code === 0) document.documentElement.dataset.played = String(Math.round(performance.now() - started));
    else {
      status.textContent = "this scenario cannot be run";
      const list = problems ?? [{ line: null, message: done.stderr }];
      field("problems").replaceChildren(...list.map(({ line, message, help }) => el("li", {}, line ? `Line ${line}: ` : "", message, help ? ` (${help})` : "")));
    }
    announce(status.textContent);
  });
}

function begin({ duration_s: duration, flows, queues }) {
  playground.series = { duration, flows: flows.map(([name, controller]) => ({ name, controller })), queues: queues.map((name) => ({ name })) };
  const holder = field("play-figure");
  if (playground.figure) playground.figure.set(playgroundSpec(playground.series));
  else {
    playground.figure = new Figure(holder, playgroundSpec(playground.series));
    field("play-tools").replaceChildren(playground.figure.controls());
  }
  playground.figure.showAll();
  field("outcome").replaceChildren();
}

/** Draws what there is, once a frame at most. */
function redraw() {
  if (playground.waiting) return;
  playground.waiting = true;
  requestAnimationFrame(() => {
    playground.waiting = false;
    const spec = playgroundSpec(playground.series);
    // The same lines in the same places: their data alone are new.
    playground.figure.spec.panels.forEach((panel, i) => panel.lines.forEach((line, j) => { line.data = spec.panels[i].lines[j].data; }));
    playground.figure.refresh();
  });
}

/** Shows the outcome: all flows, those that come and go by themselves too. */
function finish(outcome) {
  const { flows, queues } = outcome;
  playground.series = { duration: outcome.duration_s,
    flows: flows.map(({ name, controller, series }) => ({ name, controller, ...series })), queues: queues.map(({ name, series }) => ({ name, ...series })) };
  playground.figure.set(playgroundSpec(playground.series));
  const metrics = (prefix) => Object.keys(METRICS).filter((name) => name.startsWith(prefix)).map((name) => metricColumn(name, (row) => row[name.slice(prefix.length)]));
  const tables = [
    sortableTable({ caption: "Flows", rows: flows, columns: [wordColumn("Flow", ({ name }) => name, { header: true, className: "who" }),
      wordColumn("Controller", ({ controller }) => controller || "none"), ...metrics("flow_")] }),
    sortableTable({ caption: "Queues", rows: queues, columns: [wordColumn("Queue", ({ name }) => name, { header: true, className: "who" }), ...metrics("queue_")] }),
  ];
  field("outcome").replaceChildren(el("h3", {}, "Outcome"), el("p", { class: "hint" }, "The numbers of ", el("code", {}, "windlass run"), " with the same file."), ...tables,
    el("div", { class: "tools" }, el("button", { type: "button", onclick: openFlows }, "Open the flows as traces"),
      el("button", { type: "button", onclick: () => offer("outcome.json", `${JSON.stringify(outcome, null, 2)}\n`, "application/json") }, "Save the outcome (JSON)")));
}

/** Runs the scenario again, recorded as qlog, and opens what was recorded. */
function openFlows() {
  const files = [];
  const run = program.run(["record"], new Blob([field("scenario").value]), {
    onMessage: ({ kind, name }, data) => { if (kind === "trace") files.push(new File([data], name)); },
  });
  field("play-status").textContent = "recording";
  run.done.then((done) => {
    field("play-status").textContent = done?.code === 0 ? `${plural(files.length, "trace")} recorded` : "not recorded";
    if (done?.code !== 0) return;
    location.hash = "#traces";
    openFiles(files);
  });
}

const field = (id) => document.getElementById(id);

/** Puts `text` where scenarios are written; the form follows if it can. */
function setScenario(text) {
  field("scenario").value = text;
  const state = formOf(text);
  field("form").disabled = !state;
  field("form-note").textContent = state ? "" : "This scenario says more than the form can; it is edited as a file. ";
  field("as-file").open ||= !state;
  if (state) { playground.state = state; fillForm(); }
}

/** Makes the file of what the form says. */
function formChanged() {
  const state = playground.state;
  state.duration_s = Number(field("duration_s").value) || 1;
  for (const { key } of PATH) state.path[key] = Number(field(key).value) || 0;
  state.queue = field("queue").value;
  state.flows = [...document.querySelectorAll("#flows .flow")].map((row) => ({ controller: row.querySelector(".controller").value.trim(), start_s: Number(row.querySelector(".start").value) || 0 }));
  field("scenario").value = scenarioText(state);
  field("example").value = "";
}

function fillForm() {
  const { duration_s: duration, path, queue, flows } = playground.state;
  field("duration_s").value = duration;
  for (const { key } of PATH) field(key).value = path[key];
  field("queue").value = queue;
  field("flows").replaceChildren(...flows.map(({ controller, start_s: start }, i) => el("div", { class: "flow", role: "group", "aria-label": `Flow ${i + 1}` },
    el("label", {}, "Controller ", el("input", { class: "controller", list: "controllers", value: controller, spellcheck: "false", autocomplete: "off", onchange: formChanged })),
    el("label", {}, "from ", el("input", { class: "start", type: "number", min: 0, step: "any", value: start, onchange: formChanged }), " s"),
    el("button", { type: "button", "aria-label": `Remove flow ${i + 1}`, disabled: flows.length < 2, onclick: () => { flows.splice(i, 1); fillForm(); formChanged(); field("add-flow").focus(); } }, "Remove"))));
}

/** Puts `text` on the clipboard; where the browser forbids it, selects it for the user to copy. */
async function copy(text, what, shown) {
  try {
    await navigator.clipboard.writeText(text);
    announce(`${what} copied`);
    field("play-status").textContent = `${what} copied`;
  } catch {
    shown?.select?.();
    field("play-status").textContent = `the browser forbids copying: ${what.toLowerCase()} is selected`;
  }
}

function playgroundSection() {
  const number = ({ key, label, unit, min, max }) => el("label", {}, `${label} `, el("input", { type: "number", id: key, min, max, step: "any", onchange: formChanged }), ` ${unit}`);
  const option = (value, text) => el("option", { value }, text);
  const scenario = el("textarea", { id: "scenario", rows: 16, spellcheck: "false", "aria-label": "Scenario file, TOML", onchange: () => { setScenario(scenario.value); } });
  const holder = figureHolder("Chart of the run: goodput, congestion window, round-trip time and queue over time", "play-caption");
  holder.id = "play-figure";
  return el("section", { id: "playground-section", "aria-labelledby": "playground-title" }, el("h2", { id: "playground-title" }, "Playground"),
    el("p", { class: "facts" }, "The packet simulator and all controllers, in this page: choose a path and flows and see what they do to each other."),
    el("div", { class: "setup" },
      el("label", {}, "Example ", el("select", { id: "example", onchange: chooseExample }, option("", "–"))),
      el("fieldset", { id: "form" },
        el("fieldset", { class: "settings" }, el("legend", {}, "Path"), ...PATH.map(number),
          el("label", {}, "Queue ", el("select", { id: "queue", onchange: formChanged }, ...Object.entries(QUEUES).map(([value, text]) => option(value, text)))),
          number({ key: "duration_s", label: "for", unit: "s", min: 1, max: 100000 })),
        el("fieldset", { class: "settings" }, el("legend", {}, "Flows"), el("div", { id: "flows" }),
          el("button", { type: "button", id: "add-flow", onclick: () => { playground.state.flows.push({ controller: "cubic", start_s: 0 }); fillForm(); formChanged(); } }, "Add a flow"))),
      el("datalist", { id: "controllers" }),
      el("details", { class: "more", id: "as-file" }, el("summary", {}, "The scenario as a file (TOML)"), el("span", { id: "form-note", class: "hint" }), scenario),
      el("div", { class: "buttons" },
        el("button", { type: "button", id: "play", class: "primary", onclick: () => (playground.run ? playground.run.stop() : play()) }, "Run"),
        el("button", { type: "button", onclick: () => copy(scenario.value, "Scenario", (field("as-file").open = true, scenario)) }, "Copy as TOML"),
        el("button", { type: "button", onclick: async () => { const address = new URL(await linkOf(scenario.value), location.href).href; copy(address, "Link"); } }, "Copy link"),
        el("a", { id: "link", href: "#playground" }, "Link to this scenario"),
        el("span", { id: "play-status", class: "hint" }))),
    el("ul", { id: "problems", class: "problems", "aria-label": "Problems" }),
    el("div", { class: "tools", id: "play-tools" }),
    el("figure", {}, holder, el("figcaption", { id: "play-caption", class: "hint" }, "Points are as far apart as sample_ms of the scenario says, by default a 500th of the run: means since the point before, the window and the queue as they are.")),
    el("div", { id: "outcome" }));
}

function chooseExample() {
  const { scenarios } = playground.catalogue;
  const chosen = scenarios.find(({ name }) => name === field("example").value);
  setScenario(chosen ? chosen.text : scenarioText(DEFAULT_SCENARIO));
  play();
}

/** Gets what can be chosen from. */
function loadCatalogue() {
  const run = program.run(["catalogue"], new Blob([]), { onMessage: (message) => {
    playground.catalogue = message;
    field("controllers").replaceChildren(...message.controllers.map(({ name, text }) => el("option", { value: name }, text)));
    field("example").append(...message.scenarios.map(({ name }) => el("option", { value: name }, name.replaceAll("-", " "))));
  } });
  return run.done;
}
