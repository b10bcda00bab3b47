// The page: a matrix of who is harmed and who does it, for a place and a measure, which zooms; a sentence for each controller.

const METRICS = {};
const all = JSON.parse(await unpackedText("harm"));
const MEASURES = ["goodput", "delay"];
const SIDE = 11;
const MARGIN = 92;

/** From white over yellow to red; what has more than alone is blue. */
function colour(percent) {
  if (percent === undefined) return "#8883";
  const share = Math.max(-1, Math.min(1, percent / 100));
  return share < 0 ? `hsl(210 60% ${95 + 30 * share}%)` : `hsl(${50 - 45 * share} 85% ${95 - 42 * share}%)`;
}

const sizeOf = (stack) => MARGIN + stack.controllers.length * SIDE;

function matrixOf(stack, place, measure) {
  const names = stack.controllers;
  const size = sizeOf(stack);
  const bound = stack.bounds[place]?.[measure];
  const parts = [];
  names.forEach((name, at) => {
    const middle = MARGIN + (at + 0.5) * SIDE;
    parts.push(svg("text", { x: MARGIN - 3, y: middle + 2.5, "text-anchor": "end" }, name));
    parts.push(svg("text", { transform: `translate(${middle + 2.5} ${MARGIN - 3}) rotate(-90)` }, name));
  });
  stack.harm[place].forEach((row, to) => row.forEach((harm, by) => {
    const value = harm?.[measure];
    const [x, y] = [MARGIN + by * SIDE, MARGIN + to * SIDE];
    const beyond = value !== undefined && bound !== undefined && value > bound + 5;
    const title = `${names[by]} to ${names[to]}: ${value === undefined ? "not run" : `${value} %`}`;
    parts.push(svg("rect", { x, y, width: SIDE, height: SIDE, fill: colour(value), class: beyond ? "beyond" : "" }, svg("title", {}, title)));
    if (value !== undefined) parts.push(svg("text", { class: "number", x: x + SIDE / 2, y: y + SIDE / 2 + 1.6 }, value));
  }));
  const label = `Harm to ${MEASURES[measure]} at ${all.places[place]}, rows are harmed by columns`;
  return svg("svg", { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": label }, ...parts);
}

function sectionOf(stack) {
  const id = `of-${stack.stack}`.replace(/[^A-Za-z0-9-]/g, "_");
  const state = { place: 0, measure: 0, zoom: 100 };
  const map = el("div", { class: "harm-map", tabindex: "0", role: "region", "aria-label": `Matrix: ${stack.stack}` });
  const facts = el("p", { class: "hint" });
  // Few controllers fill no window: a field is 36 pixels wide at most, unless zoomed.
  const zoom = () => { map.firstElementChild.style.width = `min(${state.zoom}%, ${Math.round(0.36 * state.zoom / SIDE * sizeOf(stack))}px)`; };
  const draw = () => {
    map.replaceChildren(matrixOf(stack, state.place, state.measure));
    const bound = stack.bounds[state.place]?.[state.measure];
    facts.textContent = bound === undefined ? `Between ${stack.against} not all was run there.` : `${bound} % is the most that ${stack.against} do to each other and their like there; framed is what is more by over 5.`;
    zoom();
  };
  const choose = (label, words, key) => {
    const options = words.map((word, at) => el("option", { value: at }, word));
    return el("label", {}, `${label} `, el("select", { onchange: (event) => { state[key] = Number(event.target.value); draw(); } }, ...options));
  };
  const slider = el("input", { type: "range", min: 50, max: 400, value: 100, oninput: (event) => { state.zoom = event.target.value; zoom(); } });
  draw();
  const rows = stack.controllers.map((name, at) => ({ name, sentence: stack.sentences[at] }));
  const columns = [wordColumn("Controller", (row) => row.name, { header: true }), wordColumn("Safe to deploy?", (row) => row.sentence, { className: "words" })];
  return el("section", { id, "aria-labelledby": `${id}-title` },
    el("h2", { id: `${id}-title`, style: "text-transform: none" }, stack.stack),
    el("div", { class: "chooser" }, choose("Place", all.places, "place"), choose("Harm to", MEASURES, "measure"), el("label", {}, "Zoom ", slider)),
    facts, map, sortableTable({ caption: `Sentences: ${stack.stack}`, columns, rows }));
}

function start() {
  document.getElementById("facts").textContent = [plural(all.stacks[0].controllers.length, "controller"), plural(all.places.length, "place"), `windlass ${all.windlass}`, `code ${all.code}`].join(" · ");
  document.getElementById("content").append(
    el("p", { class: "hint" }, "Percent of its goodput that a flow (row) loses beside one of another controller (column), or of its RTT that is added: (solo − with) / solo, and (with − solo) / with. "
      + "Two flows, 50 ms. Blue is what has more than alone."),
    ...all.stacks.map(sectionOf));
  document.getElementById("contents").append(...all.stacks.map((stack) => el("a", { href: `#of-${stack.stack}`.replace(/[^A-Za-z0-9#-]/g, "_") }, stack.stack)));
  theme.start();
}

start();
