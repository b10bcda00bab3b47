// Which controllers and stacks the plots show. A controller keeps its colour slot for
// as long as it is plotted.

const selection = {
  slots: new Map(),
  stacks: new Set(),
  listeners: [],

  has: (controller) => selection.slots.has(controller),
  /** In the order of colours. */
  bySlot: (a, b) => selection.slots.get(a.controller) - selection.slots.get(b.controller),
  shows: (run) => selection.has(run.controller) && selection.stacks.has(run.stack),
  colour: (controller) => lineColour(selection.slots.get(controller)),

  plot(controller, on) {
    if (on && !selection.has(controller)) {
      const taken = new Set(selection.slots.values());
      let slot = 0;
      while (taken.has(slot)) slot += 1;
      selection.slots.set(controller, slot);
    } else if (!on) {
      selection.slots.delete(controller);
    }
  },

  set(controllers) {
    for (const controller of [...selection.slots.keys()]) if (!controllers.includes(controller)) selection.plot(controller, false);
    controllers.forEach((controller) => selection.plot(controller, true));
    selection.changed();
  },

  changed: () => selection.listeners.forEach((listener) => listener()),

  /** The best of a stack, and the two that every reader knows. */
  readable(best = 3) {
    const stack = results.stacks[0];
    // Equal scores come from equal runs: one of them is enough.
    const ranked = results.ranking.filter((row) => row.stack === stack && row.rank !== null)
      .filter((row, i, rows) => i === 0 || row.score !== rows[i - 1].score).map((row) => row.controller);
    const known = ["reno", "cubic"].filter((name) => results.controllers.some((controller) => controller.name === name));
    const chosen = [...new Set([...ranked.slice(0, best), ...known])];
    return chosen.length ? chosen : results.controllers.slice(0, 5).map((controller) => controller.name);
  },

  start() {
    selection.stacks = new Set(results.stacks.slice(0, 1));
    selection.readable().forEach((controller) => selection.plot(controller, true));
  },
};

/** A checkbox that plots a controller, kept in step with all others for it. */
function plotBox(controller, where) {
  const box = el("input", {
    type: "checkbox", "data-controller": controller, "aria-label": `Plot ${called(controller)}${where}`,
    onchange: (event) => { selection.plot(controller, event.target.checked); selection.changed(); },
  });
  box.checked = selection.has(controller);
  return box;
}

/** Sets every checkbox and colour key on the page to what is plotted. */
function showSelection() {
  const colours = new Map([...selection.slots.keys()].map((controller) => [controller, selection.colour(controller)]));
  for (const box of document.querySelectorAll("input[data-controller]")) {
    const colour = colours.get(box.dataset.controller);
    box.checked = colour !== undefined;
    box.style.accentColor = colour ? paint(colour) : "";
    box.closest("tr")?.classList.toggle("plotted", box.checked);
  }
  for (const box of document.querySelectorAll("input[data-stack]")) box.checked = selection.stacks.has(box.dataset.stack);
  const names = [...selection.slots.keys()].map(called);
  const text = names.length > 4 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ") || "nothing";
  const on = results.stacks.length > 1 ? ` on ${[...selection.stacks].join(", ") || "no stack"}` : "";
  document.getElementById("plotted").textContent = `${text}${on}`;
}

/** The panel in which controllers and stacks are chosen. */
function selectionPanel() {
  const button = (label, controllers) =>
    el("button", { type: "button", onclick: () => { selection.set(controllers()); announce(`Plotted: ${label}`); } }, label);
  const stacks = results.stacks.map((stack) => el("label", {}, el("input", {
    type: "checkbox", "data-stack": stack,
    onchange: (event) => {
      if (event.target.checked) selection.stacks.add(stack); else selection.stacks.delete(stack);
      selection.changed();
    },
  }), stack));
  const controllers = results.controllers.map(({ name, summary }) =>
    el("label", { title: summary }, plotBox(name, ""), called(name)));
  return el("details", { class: "panel", id: "selection" },
    el("summary", {}, "Plots show ", el("strong", { id: "plotted" })),
    el("div", { class: "choices" },
      el("fieldset", {}, el("legend", {}, "Stacks"), ...stacks),
      el("fieldset", {}, el("legend", {}, "Controllers"),
        el("div", { class: "buttons" },
          button("Best three, Reno and Cubic", () => selection.readable()),
          button("Best eight", () => results.ranking.filter((row) => row.stack === results.stacks[0] && row.rank !== null)
            .slice(0, SLOTS).map((row) => row.controller)),
          button("None", () => [])),
        el("div", { class: "grid" }, ...controllers))));
}
