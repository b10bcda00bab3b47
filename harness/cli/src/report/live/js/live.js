// The page of traces that are being written: it asks the server it comes from for what is new.

/** Between two questions, ms. */
const PAUSE = 1000;

const traces = new Map();

/** A function that asks the server for events of the trace `id`. */
const eventsFrom = (id) => async ([from, to], { words, packets, most }) => {
  const answer = await fetch(`events?${new URLSearchParams({ trace: id, from, to, most, packets, words })}`);
  if (!answer.ok) throw new Error(await answer.text());
  const { rows, left_out: leftOut } = await answer.json();
  return { rows, leftOut };
};

/** Takes what is told of a trace: a section of its own when it is new, else its figure anew. */
async function take({ id, about, lines }) {
  const known = traces.get(id);
  const trace = known ?? { id: `trace-${id}` };
  Object.assign(trace, about);
  const bytes = await inflated(lines);
  trace.loaded = decodedLines(bytes, trace.lines);
  trace.load = () => trace.loaded;
  if (trace.path === undefined) trace.loadEvents ??= eventsFrom(id);
  if (known) {
    await trace.update();
    return;
  }
  traces.set(id, trace);
  trace.places = [traceSection(trace), el("a", { href: `#${trace.id}` }, trace.name)];
  document.getElementById("content").append(trace.places[0]);
  document.getElementById("contents").append(trace.places[1]);
}

/** Takes away the traces of which there is nothing any more. */
function keep(present) {
  for (const [id, { places }] of traces) {
    if (present.includes(id)) continue;
    for (const { figure } of places[0].querySelectorAll(".plot")) figures.remove(figure);
    for (const place of places) place.remove();
    traces.delete(id);
  }
}

async function follow() {
  const facts = document.getElementById("facts");
  let version = 0;
  for (;;) {
    try {
      const answer = await fetch(`state?after=${version}`);
      const state = await answer.json();
      for (const trace of state.traces) await take(trace);
      keep(state.present);
      version = state.version;
      facts.textContent = `${plural(traces.size, "connection")} · ${state.waiting ? state.waiting : "followed as they are written"} · windlass ${state.windlass}`;
      document.documentElement.dataset.version = version;
    } catch {
      facts.textContent = "The command that made this page has ended: what is shown does not change any more.";
      return;
    }
    await new Promise((resume) => { setTimeout(resume, PAUSE); });
  }
}

theme.start();
figures.start();
follow();
