// Finding a packet: the field of queries, and the one packet that is chosen in everything a section shows.

/** How long a query over many packets rests before it is answered, ms. */
const TYPING = 80;

/** The packet of a trace that is chosen, in its figure and in its list alike. */
class Selection extends EventTarget {
  constructor() {
    super();
    [this.packets, this.index, this.fresh] = [null, -1, false];
  }

  is(packets, index) { return this.packets === packets && this.index === index; }

  /** Chooses a packet of `packets`, or with null none. */
  choose(packets, index = -1) {
    [this.packets, this.index, this.fresh] = [packets, index, true];
    this.dispatchEvent(new Event("chosen"));
  }

  /** When it was sent or received, and lost or acknowledged, s. */
  times() {
    if (!this.packets) return [];
    const { time, lost, acked } = this.packets;
    return [time[this.index], ...[lost, acked].filter((column) => column[this.index]).map((column) => time[this.index] + (column[this.index] - 1) * 1e-9)];
  }
}

/** The packet that stands for what was pressed at `time` on `line`: for a loss the one that was lost, for a stream one that carries it, else the nearest. */
function packetNear(packets, time, line, found) {
  const stream = /^stream (\d+)$/.exec(line ?? "");
  const tree = line === "lost" ? { kind: "flag", flag: "lost" } : stream ? { kind: "is", field: "stream", values: [[Number(stream[1]), Number(stream[1])]] } : null;
  const some = line === "found" ? found : tree && matchingPackets(tree, packets);
  if (some?.length) {
    const when = line === "lost" ? (i) => packets.time[i] + (packets.lost[i] - 1) * 1e-9 : (i) => packets.time[i];
    return some.reduce((best, i) => (Math.abs(when(i) - time) < Math.abs(when(best) - time) ? i : best));
  }
  const next = packetAt(packets, time);
  return next > 0 && (next === packets.length || time - packets.time[next - 1] < packets.time[next] - time) ? next - 1 : next;
}

/** Ties what is chosen to a figure, and says below it which packet that is. */
function chosenPacket(trace, figure) {
  const { selection } = trace;
  const text = el("span", { role: "status" });
  const line = el("p", { class: "chosen", hidden: true }, text, " ", el("button", { type: "button", "aria-label": "Choose no packet", onclick: () => selection.choose(null) }, "×"));
  figure.holder.addEventListener("tapped", async ({ detail }) => {
    // What a panel draws of its own are packets that are held.
    const own = detail.panel?.packetNear?.(figure, detail, figure.panels.find(({ panel }) => panel === detail.panel).height) ?? null;
    const packets = await trace.loadPackets(own === null ? figure.view : null).catch(() => null);
    if (packets?.length) selection.choose(packets, own ?? packetNear(packets, detail.time, detail.line, trace.found?.indices));
  });
  selection.addEventListener("chosen", () => {
    const { packets, index } = selection;
    line.hidden = !packets;
    figure.showPicked(selection.times());
    if (!packets) return;
    figure.reveal(packets.time[index]);
    const [time, way, type, number, bytes, frames, fate] = packetWords(packets, index, 6);
    text.textContent = [`Packet ${number}: ${way} at ${time} s`, type, ...(bytes === "–" ? [] : [`${bytes} bytes`]), ...[frames, fate].filter((words) => words && words !== "–")].join("; ");
  });
  return line;
}

/** How many of the packets `indices` there were so far, over time. */
function countOf(packets, indices) {
  const [times, counts] = [new Float64Array(indices.length), new Float64Array(indices.length)];
  for (let i = 0; i < indices.length; i += 1) {
    times[i] = packets.time[indices[i]];
    counts[i] = i + 1;
  }
  return Object.assign(new Line(times, counts), { indices });
}

/** The field of queries over all packets of a trace; calls `changed` when they have another answer. */
function packetFinder(trace, figure, changed) {
  const [marks, error, outcome] = [el("div", { class: "marks", "aria-hidden": "true" }), el("p", { class: "mistake", id: `${trace.id}-mistake`, hidden: true }), el("span", { class: "outcome", role: "status" })];
  const choices = el("datalist", { id: `${trace.id}-completions` });
  const input = el("input", { type: "search", spellcheck: "false", autocomplete: "off", autocapitalize: "off", list: choices.id, placeholder: "lost, stream=4, pn=1500, size>1200, t=2.1..2.3 …", "aria-describedby": error.id });
  let [tree, answers, waiting] = [null, new WeakMap(), null];
  /** The packets of `packets` that match, null where nothing is asked. */
  const found = (packets) => {
    if (!tree) return null;
    if (!answers.has(packets)) answers.set(packets, matchingPackets(tree, packets));
    return answers.get(packets);
  };
  /** Marks what is wrong where it stands. */
  const tell = (mistake) => {
    const text = input.value;
    marks.replaceChildren(...(mistake ? [text.slice(0, mistake.from), el("mark", {}, text.slice(mistake.from, mistake.to)), text.slice(mistake.to)] : []));
    error.hidden = !mistake;
    error.textContent = mistake ? `${mistake.message[0].toUpperCase()}${mistake.message.slice(1)}.` : "";
    input.setAttribute("aria-invalid", String(Boolean(mistake)));
    outcome.hidden = Boolean(mistake);
  };
  /** Answers what is asked: how many match, where they lie, and which are listed. */
  const answer = async () => {
    waiting = null;
    const held = await trace.loadPackets();
    try {
      tree = parsedQuery(input.value, queryNames(held));
    } catch (mistake) {
      if (!(mistake instanceof QueryError)) throw mistake;
      tell(mistake);
      return;
    }
    tell(null);
    answers = new WeakMap();
    const matching = found(held);
    const of = held.leftOut ? `the first ${plural(held.length, "packet")}` : plural(held.length, "packet");
    outcome.textContent = matching ? `${grouped.format(matching.length)} of ${of} match` : "";
    for (const button of [previous, next]) button.disabled = !matching?.length;
    trace.found = matching && countOf(held, matching);
    figure.set(traceSpec(trace, await trace.load(), held));
    figure.holder.dispatchEvent(new Event("queried"));
    changed();
  };
  const ask = () => {
    clearTimeout(waiting);
    if (trace.packets.packets > WITHOUT_PAUSE) waiting = setTimeout(answer, TYPING);
    else answer();
  };
  const complete = async () => {
    const held = await trace.loadPackets();
    const streams = streamLanes(held).map(({ id }) => id);
    const words = queryCompletions(input.value, input.selectionStart ?? input.value.length, queryNames(held), streams);
    choices.replaceChildren(...words.map(([value, help]) => el("option", { value, label: help || null })));
  };
  /** Chooses the next packet that matches, or the one before. */
  const step = async (by) => {
    if (waiting) { clearTimeout(waiting); await answer(); }
    const held = await trace.loadPackets();
    const matching = found(held);
    if (!matching?.length) return;
    const { selection } = trace;
    const from = selection.packets === held ? selection.index + Number(by > 0) : packetAt(held, selection.packets ? selection.times()[0] : figure.view[0]);
    const at = firstFound(matching, from) - Number(by < 0);
    selection.choose(held, matching[(at + matching.length) % matching.length]);
  };
  const previous = el("button", { type: "button", disabled: true, onclick: () => step(-1) }, "Previous match");
  const next = el("button", { type: "button", disabled: true, onclick: () => step(1) }, "Next match");
  input.addEventListener("input", () => { tell(null); ask(); complete(); });
  input.addEventListener("focus", complete);
  input.addEventListener("scroll", () => { marks.scrollLeft = input.scrollLeft; });
  input.addEventListener("keydown", (event) => { if (event.key === "Enter") step(event.shiftKey ? -1 : 1); });
  const fields = [...Object.keys(QUERY_NUMBERS), ...Object.keys(QUERY_NAMES)].join(", ");
  const element = el("div", { class: "finder" },
    el("div", { class: "tools" }, el("label", {}, "Find packets ", el("span", { class: "query" }, marks, input)), choices, el("span", { class: "buttons" }, previous, next), outcome),
    error, el("p", { class: "help" }, `Over the whole trace. Fields: ${fields}; =, !=, <, >, a..b and lists a,b. Also ${Object.keys(QUERY_FLAGS).join(", ")}; and, or, not, parentheses. Enter goes to the next match.`));
  trace.query = () => input.value;
  return { element, found, ask: (text) => { input.value = text; return answer(); } };
}
