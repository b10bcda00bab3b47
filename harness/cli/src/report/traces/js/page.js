// The page: a list of all traces, those that are shown over each other, and a section for each of them.

function start() {
  document.getElementById("facts").textContent = [plural(traces.filter(({ path }) => path === undefined).length, "connection"), ...[traces.filter(({ path }) => path !== undefined).length].filter(Boolean).map((paths) => plural(paths, "path")),
    plural(new Set(traces.map(({ file }) => file)).size, "file"), `windlass ${windlass}`].join(" · ");
  const load = async (all) => { for (const trace of all) trace.decoded = await trace.load(); };
  ends.all = () => traces;
  const [together, sections, hidden] = [el("div"), el("div"), new Set()];
  const place = () => {
    placeTogether(together, traces, hidden, load);
    placeSections(sections, traces);
    document.getElementById("contents").replaceChildren(...inOrder(traces).filter(choice.has).map((trace) => el("a", { href: `#${trace.id}` }, trace.name)));
  };
  // A link to a connection shows it.
  const follow = () => {
    const asked = traces.filter(({ id }) => `#${id}` === location.hash);
    if (!asked.length || choice.has(asked[0])) return;
    choice.set(asked, true);
    document.getElementById(asked[0].id).scrollIntoView();
  };
  // The first ones by their names are shown.
  inOrder(traces).forEach(choice.has);
  const columns = [
    ...(traces.some(({ vantage }) => vantage !== "unknown") ? [wordColumn("Seen at", (trace) => (trace.vantage === "unknown" ? "–" : trace.vantage))] : []),
    wordColumn("Controller", (trace) => trace.controller ?? "–"),
  ];
  // The trace itself, where the page was made to be shared.
  const shared = document.getElementById("shared") ? [el("button", { type: "button", onclick: async () => offer(embedded("shared-name"), await unpacked("shared"), "application/octet-stream") }, "Save the trace")] : [];
  document.getElementById("content").append(summarySection(traces, columns, shared), together, sections);
  place();
  choice.listeners.push(place);
  addEventListener("hashchange", follow);
  theme.start();
  figures.start();
  follow();
}

start();
