// The list of connections: sorted, filtered, and which of them are shown below.

/** Connections that are shown without being asked for, at most. */
const SHOWN_AT_FIRST = 8;

/** Connections in the order of their names, numbers in them by value. */
const inOrder = (all) => [...all].sort((one, other) => NATURAL.compare(one.name, other.name));

/** Which connections have a section and a line in the overlay. */
const choice = {
  shown: new Map(),
  listeners: [],

  /** Whether `trace` is shown: the first few and those of the address are, until someone says otherwise. */
  has({ id, name }) {
    if (!choice.shown.has(id)) choice.shown.set(id, address.asked.has(name) || [...choice.shown.values()].filter(Boolean).length < SHOWN_AT_FIRST);
    return choice.shown.get(id);
  },

  set(all, shown) {
    for (const { id } of all) choice.shown.set(id, shown);
    for (const listener of choice.listeners) listener();
  },

  /** Forgets connections that are gone. */
  forget(all) { for (const { id } of all) choice.shown.delete(id); },
};

/** The table of all connections with what each measures; `columns` beside the names and measures, `tools` above. */
function summarySection(traces, columns, tools = []) {
  const many = traces.length > 1;
  const box = (trace) => el("input", { type: "checkbox", "data-trace": trace.id, "aria-label": `Show ${trace.name}`, onchange: (event) => choice.set([trace], event.target.checked) });
  const open = (trace) => () => { if (!choice.has(trace)) choice.set([trace], true); };
  const names = Object.keys(METRICS).filter((name) => traces.some((trace) => measure(trace, name) !== null));
  const table = sortableTable({ caption: "Summary", rows: inOrder(traces), sortBy: "Trace", columns: [
    wordColumn("Trace", (trace) => trace.name, { header: true, className: "who", link: (trace) => [`#${trace.id}`, open(trace)] }),
    ...(many ? [{ name: "Shown", className: "pick", make: box }] : []),
    ...columns,
    ...names.map((name) => metricColumn(name, (trace) => measure(trace, name))),
  ] });
  const boxes = () => [...table.querySelectorAll(".pick input")];
  const listed = () => boxes().filter((each) => !each.closest("tr").hidden).map((each) => traces.find(({ id }) => id === each.dataset.trace));
  const said = el("span", { class: "hint", role: "status" });
  const tell = () => {
    if (!said.isConnected && said.textContent) return;
    for (const each of boxes()) each.checked = choice.has(traces.find(({ id }) => id === each.dataset.trace));
    said.textContent = `${grouped.format(traces.filter(choice.has).length)} of ${plural(traces.length, "connection")} are shown below: choose in the list.`;
  };
  const all = (shown, text) => el("button", { type: "button", onclick: () => choice.set(shown ? listed() : traces, shown) }, text);
  if (many) {
    tell();
    choice.listeners = [...choice.listeners.filter((listener) => listener.of !== "summary"), Object.assign(tell, { of: "summary" })];
  }
  return el("section", { id: "summary", "aria-labelledby": "summary-title" }, el("h2", { id: "summary-title" }, "Summary"),
    el("div", { class: "tools" }, ...(many ? [said, el("span", { class: "buttons" }, all(true, "Show all that are listed"), all(false, "Show none"))] : []), ...tools),
    table);
}

/** Puts the sections of those of `traces` that are shown into `container`, in order; each is built when it is first shown. */
function placeSections(container, traces, build = traceSection) {
  const wanted = inOrder(traces).filter(choice.has);
  const present = new Map([...container.children].map((section) => [section.id, section]));
  for (const [id, section] of present) {
    if (wanted.some((trace) => trace.id === id)) continue;
    for (const { figure } of section.querySelectorAll(".plot")) figures.remove(figure);
    section.remove();
  }
  let next = container.firstElementChild;
  for (const trace of wanted) {
    const section = present.get(trace.id) ?? build(trace);
    if (section === next) next = section.nextElementSibling;
    else container.insertBefore(section, next);
  }
}

/** Draws those of `traces` that are shown over each other in `container`, in the times that were shown before. */
function placeTogether(container, traces, hidden, load = null) {
  const [before, ...rest] = [...container.querySelectorAll(".plot")].map(({ figure }) => figure);
  rest.forEach(figures.remove);
  const view = before && (before.view[0] !== before.spec.whole[0] || before.view[1] !== before.spec.whole[1]) ? before.view : null;
  if (before) figures.remove(before);
  const drawable = inOrder(traces).filter((trace) => choice.has(trace) && trace.duration_s > 0 && trace.lines.length);
  container.replaceChildren(...(drawable.length > 1 ? [togetherSection(drawable, hidden, load), compareSection(drawable)] : []));
  if (view) container.querySelector(".plot")?.figure.show(...view);
}
