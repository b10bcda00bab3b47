// The page: two views, one of traces that are opened and one of scenarios that are run.

/** The view that the address names. */
const viewOf = (hash) => (hash.startsWith("#playground") || hash.startsWith(SCENARIO_LINK) ? "playground" : "traces");

async function follow() {
  const view = viewOf(location.hash);
  const changed = document.body.dataset.view !== view;
  document.body.dataset.view = view;
  drawContents();
  const text = await scenarioOf(location.hash);
  if (location.hash.startsWith(SCENARIO_LINK) && text === null) {
    field("play-status").textContent = "the link carries no scenario that could be read";
  } else if (text !== null && (text !== field("scenario").value || changed)) {
    // Who follows a link has not seen what it runs.
    setScenario(text);
    field("play-status").textContent = "a scenario from a link; Run runs it";
  } else if (view === "playground" && changed && !playground.series) play();
}

async function start() {
  const content = document.getElementById("content");
  content.append(
    el("div", { id: "traces", class: "of-traces" }, openSection(), el("div", { id: "list" }), el("div", { id: "together" }), el("div", { id: "sections" })),
    el("div", { id: "playground", class: "of-playground" }, playgroundSection()));
  setScenario(scenarioText(DEFAULT_SCENARIO));
  theme.start();
  figures.start();
  try {
    await program.load();
    await loadCatalogue();
  } catch (error) {
    content.prepend(el("p", { class: "note" }, `The page’s program cannot run here: ${error.message}. It needs WebAssembly and workers, which every current browser has.`));
    return;
  }
  document.getElementById("facts").textContent = `Reads traces and runs scenarios on this machine; nothing is uploaded. windlass ${playground.catalogue.windlass}.`;
  addEventListener("hashchange", follow);
  document.documentElement.dataset.ready = "yes";
  follow();
  openShared();
}

loaded().then(start);
