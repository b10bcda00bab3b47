// Traces that the user opens: each is read by the program in a worker, and shown as far as it is read.

/** Points of a line of one trace at most, and of a line of all traces together. */
const MOST_POINTS = 2 ** 19;
const MOST_POINTS_OF_ALL = 2 ** 21;
/** Packets of one file at most, of all files together, and of some times of a connection that are read at once. */
const MOST_PACKETS = 2 ** 21;
const MOST_PACKETS_OF_ALL = 2 ** 22;
const MOST_PACKETS_AGAIN = 2 ** 16;
/** How long a figure rests before packets of its times are read, ms. */
const REST = 250;

const opened = { files: [], numbers: 0, hidden: new Set() };

const size = (bytes) => (bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toLocaleString("en", { maximumFractionDigits: bytes < 1e7 ? 1 : 0 })} MB`);
/** A text of the program, what stands between backticks in it as code. */
const withCode = (text) => text.split("\x60").map((part, i) => (i % 2 ? el("code", {}, part) : part));
const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

/** The connections of all files, as far as they are read. */
const allTraces = () => opened.files.flatMap(({ traces }) => traces);

ends.all = () => readTraces();

/** Opens files, one after the other or several at once, as many as there are workers. */
function openFiles(files) {
  const share = (most, ofAll) => Math.max(4096, Math.min(most, Math.floor(ofAll / (opened.files.length + files.length || 1))));
  for (const file of inOrder(files)) openFile(file, share(MOST_POINTS, MOST_POINTS_OF_ALL), share(MOST_PACKETS, MOST_PACKETS_OF_ALL));
  if (files.length) announce(`Reading ${plural(files.length, "file")}`);
}

function openFile(file, points, packets) {
  const entry = { file, id: opened.numbers += 1, traces: [], metrics: [], packets: [], started: performance.now(), memory: 0, figures: 0, first: null };
  entry.bar = el("progress", { max: Math.max(1, file.size), value: 0, "aria-label": `Reading ${file.name}` });
  entry.status = el("span", { class: "status" }, "waiting");
  entry.stop = el("button", { type: "button", "aria-label": `Stop reading ${file.name}`, onclick: () => entry.run.stop() }, "Stop");
  entry.row = el("li", {}, el("strong", {}, file.name), " ", el("small", {}, size(file.size)), entry.bar, entry.status, entry.stop,
    el("button", { type: "button", "aria-label": `Remove ${file.name}`, onclick: () => closeFile(entry) }, "Remove"));
  entry.sections = el("div", { class: "file" });
  opened.files.push(entry);
  document.getElementById("files").append(entry.row);
  document.getElementById("sections").append(entry.sections);
  entry.run = program.run(["trace", file.name, String(points), String(packets)], file, {
    onMessage: (message, data) => {
      if (message.kind === "packets") entry.packets[message.connection] = { info: message.info, data };
      else showRead(entry, message, data);
    },
    onProgress: ({ read }) => {
      entry.bar.value = read;
      entry.status.textContent = `${Math.floor(100 * read / Math.max(1, file.size))} %, ${seconds(performance.now() - entry.started)}`;
    },
  });
  entry.run.done.then((done) => finishFile(entry, done), (error) => finishFile(entry, { code: 1, stderr: error.message, memory: 0 }));
}

/** Takes the connections that the program writes, some of them before the file is read to its end. */
function showRead(entry, { complete, connections, metrics, doubts, ...facts }, data) {
  entry.first ??= performance.now() - entry.started;
  entry.figures = data.byteLength + entry.packets.reduce((sum, packets) => sum + (packets?.data.byteLength ?? 0), 0);
  entry.metrics = metrics;
  entry.facts = complete ? facts : null;
  entry.doubts = doubts ?? [];
  let at = 0;
  const numbers = (count) => { const array = new Float64Array(data, at, count); at += 8 * count; return array; };
  const base = entry.file.name.replace(/(\.gz|\.zst)$/, "").replace(/(\.sqlog|\.qlog|\.netlog)?(\.json|\.js)?$/, "") || entry.file.name;
  const namesakes = opened.files.filter((other) => other !== entry && other.base === base).length;
  entry.base ??= base;
  entry.suffix ??= namesakes ? ` (${namesakes + 1})` : "";
  entry.traces = connections.map((about, i) => {
    const lines = new Map(about.lines.map(({ name, points }) => [name, new Line(numbers(points), numbers(points))]));
    const part = connections.length === 1 ? "" : `#${about.group || i + 1}`;
    return { ...about, id: `trace-${entry.id}-${i}`, name: `${base}${entry.suffix}${part}`, lines: about.lines, load: async () => lines, decoded: lines,
      ...(about.packets ? { loadPackets: packetLoader(entry, about, entry.packets[i]) } : {}), ...(about.path === undefined ? { loadEvents: eventLoader(entry, about) } : {}) };
  });
  drawSections(entry, complete);
  document.documentElement.dataset.first ??= String(Math.round(entry.first));
}

/**
 * A function that gives the packets of a connection: the first ones, which are held, or those in the times `view`,
 * read from the file again; null if others are asked for meanwhile. Calls `reading(share)`, 0 to 1, on the way.
 */
function packetLoader(entry, { trace, group, packets: info }, { data }) {
  let [held, part, run, asked] = [null, null, null, 0];
  const covers = (packets, [from, to]) => from >= packets.from - 1e-9 && to <= packets.to && (!packets.leftOut || packets.time[packets.length - 1] > to);
  return async (view = null, reading = () => {}) => {
    held ??= decodedPackets(new Uint8Array(data), info).then((packets) => Object.assign(packets, { from: 0, to: Infinity }));
    const first = await held;
    if (!view) return first;
    asked += 1;
    const mine = asked;
    run?.stop();
    run = null;
    if (covers(first, view)) return first;
    if (part && covers(part, view)) return part;
    reading(0);
    await new Promise((resume) => { setTimeout(resume, REST); });
    if (mine !== asked) return null;
    const [from, to] = [Math.floor(view[0] * 1e9), Math.ceil(view[1] * 1e9) + 1];
    let found = null;
    run = program.run(["packets", String(trace), group, String(from), String(to), String(MOST_PACKETS_AGAIN)], entry.file, {
      onMessage: (message, bytes) => { found = decodedPackets(new Uint8Array(bytes), message.info); },
      onProgress: ({ read, size: whole }) => reading(read / Math.max(1, whole)),
    });
    const done = await run.done;
    if (mine !== asked || !done) return null;
    if (done.code !== 0 || !found) throw new Error(done.stderr || "the program failed");
    part = Object.assign(await found, { from: from * 1e-9, to: to * 1e-9, part: true });
    return part;
  };
}

/**
 * A function that reads the file again for the events of a connection in the times `view` that have all `words`, `most` of them,
 * those of packets where `packets` says so; null if others are asked for meanwhile. Calls `reading(share)`, 0 to 1, on the way.
 */
function eventLoader(entry, { trace, group }) {
  let [run, asked] = [null, 0];
  return async (view, { words, packets, most }, reading) => {
    asked += 1;
    const mine = asked;
    run?.stop();
    reading(0);
    const [from, to] = [Math.floor(view[0] * 1e9), Math.ceil(view[1] * 1e9) + 1];
    let found = null;
    run = program.run(["events", String(trace), group, String(from), String(to), String(most), packets ? "all" : "no-packets", words], entry.file, {
      onMessage: (message, bytes) => { found = { rows: JSON.parse(new TextDecoder().decode(bytes)), leftOut: message.left_out }; },
      onProgress: ({ read, size: whole }) => reading(read / Math.max(1, whole)),
    });
    const done = await run.done;
    if (mine !== asked || !done) return null;
    if (done.code !== 0 || !found) throw new Error(done.stderr || "the program failed");
    return found;
  };
}

/** Makes the sections of a file anew; a figure keeps the times it shows. */
function drawSections(entry, complete) {
  const before = new Map();
  for (const { figure } of entry.sections.querySelectorAll(".plot")) {
    const { view, spec: { whole } } = figure;
    if (view[0] !== whole[0] || view[1] !== whole[1]) before.set(figure.holder.closest("section").id, view);
    figures.remove(figure);
  }
  entry.build = (trace) => {
    const section = traceSection(trace);
    if (!complete) section.querySelector("h2").after(el("p", { class: "note partial" }, "The beginning; the rest is being read."));
    const figure = section.querySelector(".plot")?.figure;
    // What the address says comes first, and again when more is read.
    if (before.has(trace.id) && !address.asked.has(trace.name)) figure?.show(...before.get(trace.id));
    // Paper does not wait for what is drawn on sight.
    figure?.fill();
    return section;
  };
  entry.sections.replaceChildren();
  inOrder(entry.traces).forEach(choice.has);
  placeSections(entry.sections, entry.traces, entry.build);
  drawContents();
}

/** Shows the connections that are chosen now. */
function drawChosen() {
  for (const entry of opened.files) if (entry.build) placeSections(entry.sections, entry.traces, entry.build);
  drawOverEachOther();
  drawContents();
}
choice.listeners.push(drawChosen);

/** Draws those that are shown over each other. */
function drawOverEachOther() {
  const together = document.getElementById("together");
  placeTogether(together, readTraces(), opened.hidden);
  // Paper does not wait for what is drawn on sight.
  for (const { figure } of together.querySelectorAll(".plot")) figure.fill();
}

/** The connections of files that are read to their end. */
const readTraces = () => opened.files.filter(({ facts }) => facts).flatMap((entry) => entry.traces);

function finishFile(entry, done) {
  if (!opened.files.includes(entry)) return;
  entry.stop.remove();
  entry.bar.remove();
  const took = performance.now() - entry.started;
  entry.memory = done?.memory ?? 0;
  if (!done) {
    entry.status.textContent = entry.traces.length ? "stopped: the beginning is shown" : "stopped";
    for (const note of entry.sections.querySelectorAll(".partial")) note.textContent = "The beginning: reading was stopped.";
  } else if (done.code !== 0) {
    entry.row.classList.add("failed");
    entry.status.replaceChildren(...withCode(done.stderr || "the program failed"));
  } else {
    const { events, framing, schema_version: version } = entry.facts;
    entry.status.textContent = [`${plural(events, "event")} in ${seconds(took)}`, [framing, version].filter(Boolean).join(", "),
      `memory: ${size(entry.memory)} to read, ${size(entry.figures)} for figures`].join(" · ");
    const share = el("button", { type: "button", "aria-label": `Save ${entry.file.name} as a page to share`, onclick: () => sharePage(entry, share) }, "Save as a page");
    entry.row.lastElementChild.before(share);
    entry.row.append(...entry.doubts.map((doubt) => el("p", { class: "note" }, ...withCode(`${doubt[0].toUpperCase()}${doubt.slice(1)}.`))));
  }
  announce(`${entry.file.name}: ${entry.status.textContent}`);
  drawOtherEnds(entry);
  drawTogether();
}

function closeFile(entry) {
  const next = entry.row.nextElementSibling ?? entry.row.previousElementSibling;
  opened.files = opened.files.filter((other) => other !== entry);
  entry.run.stop();
  for (const { figure } of entry.sections.querySelectorAll(".plot")) figures.remove(figure);
  choice.forget(entry.traces);
  entry.row.remove();
  entry.sections.remove();
  (next?.querySelector("button:last-of-type") ?? document.getElementById("choose")).focus();
  announce(`${entry.file.name} removed`);
  drawOtherEnds(entry);
  drawTogether();
}

/** Draws anew what has its other end in a file that came or went. */
function drawOtherEnds(entry) {
  const groups = new Set(entry.traces.map(({ group }) => group).filter(Boolean));
  const all = readTraces();
  for (const trace of all) {
    if (groups.has(trace.group) && (trace.other || all.some((other) => other !== trace && other.group === trace.group && other.vantage !== trace.vantage))) trace.update?.();
  }
}

/** The links at the top. */
function drawContents() {
  const views = [["#traces", "Traces"], ["#playground", "Playground"]].map(([href, text]) =>
    el("a", { href, class: "view", ...(href.slice(1) === document.body.dataset.view ? { "aria-current": "page" } : {}) }, text));
  const traces = document.body.dataset.view === "traces" ? inOrder(allTraces()).filter(choice.has) : [];
  document.getElementById("contents").replaceChildren(...views, ...traces.map(({ id, name }) => el("a", { href: `#${id}` }, name)));
}

/** Draws the summary of all traces, and those that are shown over each other. */
function drawTogether() {
  const traces = readTraces();
  document.getElementById("list").replaceChildren(...(traces.length ? [openedSummary(traces)] : []));
  drawOverEachOther();
  const entries = opened.files.filter(({ memory }) => memory);
  const sum = (of) => entries.reduce((all, entry) => all + of(entry), 0);
  document.getElementById("memory").textContent = entries.length > 1
    ? `All: ${plural(sum(({ facts }) => facts?.events ?? 0), "event")}, ${size(sum(({ figures }) => figures))} in memory for figures; readers give theirs back.` : "";
  drawContents();
}

function openedSummary(traces) {
  const save = () => offer("measures.jsonl", opened.files.flatMap(({ metrics }) => metrics.map((line) => `${line}\n`)).join(""), "application/jsonl");
  return summarySection(traces, [wordColumn("Controller", (trace) => trace.controller ?? "–")],
    [el("span", { class: "hint" }, "The numbers of ", el("code", {}, "windlass qlog metrics"), "."), el("button", { type: "button", onclick: save }, "Save all measures (JSON)")]);
}

/** The part of the page where traces are opened. */
function openSection() {
  const input = el("input", { type: "file", multiple: true, id: "choose", class: "visually-hidden", onchange: () => { openFiles([...input.files]); input.value = ""; } });
  const zone = el("section", { id: "open", "aria-labelledby": "open-title" }, el("h2", { id: "open-title", class: "visually-hidden" }, "Open traces"),
    el("div", { class: "drop" },
      el("p", {}, el("strong", {}, "Drop traces here"), " or ", input, el("label", { for: "choose" }, "Choose files")),
      el("p", { class: "hint" }, "qlog of any schema version, also of QUIC stacks that write their own; Chromium’s network logs; plain, gzip or Zstandard. Several are overlaid. ",
        "They are read on this machine: the page cannot send anything anywhere."),
      ...(address.asked.size ? [el("p", { class: "note" }, `The address is a view of ${[...address.asked.keys()].join(", ")}: open it here to see that.`)] : [])),
    el("ul", { id: "files", class: "files", "aria-label": "Files" }), el("p", { id: "memory", class: "hint" }),
    el("p", { class: "sharing hint" }, el("label", {}, el("input", { type: "checkbox", id: "pseudonyms", checked: true }), " Pages to share have pseudonyms for connection ids, addresses and host names, and no bytes of the wire; paths of requests stay.")));
  let depth = 0;
  const mark = () => document.body.classList.toggle("dropping", depth > 0);
  const files = (event) => [...event.dataTransfer?.types ?? []].includes("Files");
  addEventListener("dragenter", (event) => { if (files(event)) { depth += 1; mark(); } });
  addEventListener("dragleave", (event) => { if (files(event)) { depth = Math.max(0, depth - 1); mark(); } });
  addEventListener("dragover", (event) => { if (files(event)) event.preventDefault(); });
  addEventListener("drop", (event) => {
    depth = 0;
    mark();
    if (!files(event)) return;
    event.preventDefault();
    if (document.body.dataset.view !== "traces") location.hash = "#traces";
    openFiles([...event.dataTransfer.files]);
  });
  return zone;
}
