// The list of connections: sorted, filtered, and which of them are shown below.

/** Connections that are shown without being asked for, at most. */
const SHOWN_AT_FIRST = 8;

/** Connections in the order of their names, numbers in them by value. */
const inOrder = (all) => [...all].sort((one, other) => NATURAL.compare(one.name, other.name));

/** Which connections have a section and a line in the overlay. */
const choice = {
  shown: new Map(),
  names: new Map(),
  /** Whether someone has chosen, here or where the address was made. */
  made: address.only,
  listeners: [],

  /** Whether `trace` is shown: the first few and those of the address are, until someone says otherwise. */
  has({ id, name }) {
    choice.names.set(id, name);
    if (!choice.shown.has(id)) choice.shown.set(id, address.asked.has(name) || (!address.only && [...choice.shown.values()].filter(Boolean).length < SHOWN_AT_FIRST));
    return choice.shown.get(id);
  },

  set(all, shown) {
    for (const { id } of all) choice.shown.set(id, shown);
    choice.made = true;
    choice.tell();
    address.changed();
  },

  tell() { for (const listener of choice.listeners) listener(); },

  /** Forgets connections that are gone. */
  forget(all) { for (const { id } of all) { choice.shown.delete(id); choice.names.delete(id); } },
};

address.chosen = () => (choice.made ? [...choice.names].filter(([id]) => choice.shown.get(id)).map(([, name]) => name) : null);
address.follow = () => {
  for (const [id, name] of choice.names) if (address.only || address.asked.has(name)) choice.shown.set(id, address.asked.has(name));
  choice.made = address.only;
  choice.tell();
};

/** What of the overlay and of two that are compared is not as at first, beside their figures: as `viewsText` takes it. */
const TOGETHER = {
  overlay: (traces, hidden) => { const hide = traces.filter(({ id }) => hidden.has(id)).map(({ name }) => name); return hide.length ? { hide } : null; },
  compared: (traces) => {
    const [name, against] = [compared.other, compared.one].map((id, i) => (traces.find((trace) => trace.id === id) ?? traces[1 - i]).name);
    return compared.one || compared.other || compared.by !== "start" ? { name, against, from: compared.by } : null;
  },
};

/** Takes over what the address says of `traces` that are drawn together. */
function takeAsked(traces, hidden) {
  const id = (name) => traces.find((trace) => trace.name === name)?.id ?? null;
  for (const name of address.overlay?.hide ?? []) if (id(name)) hidden.add(id(name));
  if (!address.compared) return;
  const { name, against, from } = address.compared;
  if (id(name) && id(against)) [compared.other, compared.one] = [id(name), id(against)];
  if (Object.hasOwn(ALIGNMENTS, from)) compared.by = from;
}

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
    table, ...addressesTable(traces));
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
  const before = Object.keys(TOGETHER).map((kind) => [kind, address[kind] ?? address.together.get(kind)?.()]);
  for (const { figure } of container.querySelectorAll(".plot")) figures.remove(figure);
  const drawable = inOrder(traces).filter((trace) => choice.has(trace) && trace.duration_s > 0 && trace.lines.length);
  takeAsked(drawable, hidden);
  container.replaceChildren(...(drawable.length > 1 ? [togetherSection(drawable, hidden, load), compareSection(drawable)] : []));
  if (drawable.length < 2) return;
  for (const [kind, view] of before) address.keepTogether(kind, container.querySelector(`#${kind} .plot`).figure, () => TOGETHER[kind](drawable, hidden), view);
}
