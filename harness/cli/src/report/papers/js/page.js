// The page: a guide, and for each experiment its tables and figures. The figures are drawn as the
// page has room, from the points that it holds.

const METRICS = {};
const paper = JSON.parse(await unpackedText("paper"));
const QUICK = "Quick run: a tenth of the document’s times. It shows that the experiments work; its numbers are not to be compared with the document.";

/** Four significant digits. */
function digits(value) {
  if (value === 0) return "0";
  const decimals = Math.min(6, Math.max(0, 4 - (Math.floor(Math.log10(Math.abs(value))) + 1)));
  return value.toFixed(decimals);
}

const plusMinus = (half) => (half === null || half === undefined ? "" : ` ± ${digits(half)}`);
const named = ({ id, unit }) => (unit ? `${id}, ${unit}` : id);

function cellsTable(experiment) {
  const ids = new Map();
  experiment.cells.forEach((cell) => cell.means.forEach((mean) => ids.set(mean.id, mean)));
  const of = (cell, id) => cell.means.find((mean) => mean.id === id);
  const numbers = [...ids.values()].map((mean) => ({
    label: mean.id, unit: mean.unit, numeric: true, better: "high",
    help: mean.repetitions > 1 ? "Mean over the repetitions ± half of its 95 % interval" : "Of one run",
    value: (cell) => of(cell, mean.id)?.mean,
    text: (cell) => { const found = of(cell, mean.id); return found ? digits(found.mean) + plusMinus(found.half_width) : "–"; },
  }));
  const columns = [wordColumn("Cell", (cell) => cell.cell, { header: true, className: "who" }), ...numbers];
  return sortableTable({ caption: `Cells of ${experiment.id}`, columns, rows: experiment.cells });
}

function derivedTable(experiment) {
  const columns = [
    wordColumn("Quantity", named, { header: true }), wordColumn("Of", (row) => row.of),
    { label: "Value", value: (row) => row.value, text: (row) => digits(row.value), numeric: true, better: "low" },
  ];
  return sortableTable({ caption: `What follows from the cells of ${experiment.id} together`, columns, rows: experiment.derived });
}

function comparisonTable(experiment) {
  const number = (label, value, text) => ({ label, value, text, numeric: true, better: "high" });
  const columns = [
    wordColumn("Cell", (row) => row.cell, { header: true }),
    wordColumn("Quantity", (row) => named({ id: row.quantity, unit: row.unit })),
    number("Published", (row) => row.published, (row) => digits(row.published)),
    number("Ours", (row) => row.ours, (row) => digits(row.ours) + plusMinus(row.half_width)),
    wordColumn("Has to be", (row) => row.rule),
    wordColumn("Is it?", (row) => (row.holds === null ? "" : row.holds ? "yes" : "NO")),
    wordColumn("From", (row) => row.source),
  ];
  return sortableTable({ caption: `Published values and ours, ${experiment.id}`, columns, rows: experiment.comparisons });
}

/** Lines over time: a figure that can be zoomed. */
function timeFigure(chart, caption) {
  const lines = chart.lines.map((line, i) => ({ key: String(i), name: line.name, kind: "straight", data: new Line(line.x, line.y),
    colour: lineColour(i), dash: Object.keys(DASHES)[Math.floor(i / SLOTS) % 4], width: 1.5, digits: 2 }));
  const end = Math.max(...chart.lines.flatMap(({ x }) => x.slice(-1)));
  const holder = figureHolder(`Chart of ${chart.title}`, caption);
  const figure = new Figure(holder, { file: chart.title, whole: [0, end], panels: [{ title: chart.y, unit: "", height: 240, zero: "auto", lines }] });
  return [el("div", { class: "tools" }, figure.controls()), holder];
}

/** Means of cells over a setting that is a number. */
function acrossChart(chart) {
  const holder = el("div", { class: "plot map", role: "group", "aria-roledescription": "chart", tabindex: "0",
    "aria-label": `Chart of ${chart.title}. Arrow keys go from point to point. The table above holds the numbers.` });
  const series = chart.lines.map((line, i) => ({
    name: line.name, colour: lineColour(i), dash: Object.keys(DASHES)[Math.floor(i / SLOTS) % 4], kind: "both",
    points: line.x.map((x, at) => {
      const [y, half] = [line.y[at], line.half_width[at]];
      return { x, y, low: half === null ? null : y - half, high: half === null ? null : y + half, size: 3.5, text: `${line.name} at ${tickText(x)}: ${digits(y)}${plusMinus(half)}` };
    }),
  }));
  new Chart(holder, () => ({ series, x: { title: chart.x }, y: { title: chart.y }, hint: "Point at a value, or use the arrow keys, to read it." }));
  return [holder];
}

function barsOf(chart) {
  const names = [...new Set(chart.groups.flatMap(({ bars }) => bars.map(([name]) => name)))];
  const groups = chart.groups.map(({ name, bars }) => [name, bars.map(([quantity, value, half]) =>
    ({ name: quantity, colour: lineColour(names.indexOf(quantity)), value, half, text: digits(value) + plusMinus(half) }))]);
  return [el("p", { class: "hint" }, chart.y), barList(chart.title, groups)];
}

function figure(chart, id) {
  const drawn = chart.groups.length ? barsOf(chart) : chart.lines.some((line) => line.over_time) ? timeFigure(chart, id) : acrossChart(chart);
  return el("figure", {}, el("figcaption", { id }, el("strong", {}, chart.title)), ...drawn);
}

function experimentSection(experiment) {
  const id = experiment.id.replace(/[^A-Za-z0-9-]/g, "_");
  const seeds = experiment.cells[0]?.seeds ?? [];
  const facts = [experiment.spec, `varied: ${experiment.varied}`, plural(experiment.cells.length, "cell"), plural(seeds.length, "repetition"), `code ${experiment.code}`];
  const scenario = experiment.cells[0]?.scenario ?? "";
  return el("section", { id, class: "paper", "data-label": experiment.id, "aria-labelledby": `${id}-title` },
    el("h2", { id: `${id}-title` }, `${experiment.id}: ${experiment.title}`),
    el("p", { class: "facts" }, facts.join(" · ")),
    ...(experiment.recovery?.length ? [el("p", { class: "facts" }, `recovery: ${experiment.recovery.join(", ")}: ${experiment.recovery_why}`)] : []),
    ...(paper.quick ? [el("p", { class: "note warning" }, QUICK)] : []),
    cellsTable(experiment),
    ...(experiment.derived.length ? [derivedTable(experiment)] : []),
    ...(experiment.comparisons.length ? [comparisonTable(experiment)] : []),
    ...experiment.figures.map((chart, i) => figure(chart, `${id}-figure-${i}`)),
    el("details", {}, el("summary", {}, "Scenario of the first cell"), el("pre", { class: "scenario" }, scenario)));
}

function answerText(answer) {
  if (!answer) return "not run";
  const holds = answer.holds === null ? "not known" : answer.holds ? "yes" : "no";
  return `${holds}: ${answer.evidence}`;
}

function claimsSection() {
  const real = paper.stacks.map((stack, i) => wordColumn(stack, (row) => answerText(row.answers[i])));
  const columns = [wordColumn("What the schemes are for", (row) => row.text, { header: true }), wordColumn("Experiment", (row) => row.experiment), ...real];
  return el("section", { id: "claims", "data-label": "Does it hold?", "aria-labelledby": "claims-title" }, el("h2", { id: "claims-title" }, "Does it hold?"),
    el("p", { class: "hint" }, "The specification holds what schemes are for and not what the document found. Each statement is answered by the runs of one experiment, in the simulator and, where a stack has the signals, on real stacks."),
    sortableTable({ caption: "Statements and answers", columns, rows: paper.claims }));
}

function absentSection() {
  const columns = [wordColumn("Experiment", (row) => row[0], { header: true }), wordColumn("What it is", (row) => row[1]), wordColumn("Why it is not here", (row) => row[2])];
  return el("section", { id: "absent", "data-label": "Not here", "aria-labelledby": "absent-title" }, el("h2", { id: "absent-title" }, "Not on this page"),
    sortableTable({ caption: "Experiments of the document that are not here", columns, rows: paper.absent }));
}

function start() {
  document.getElementById("facts").textContent = [paper.document, plural(paper.experiments.length, "experiment"), `windlass ${paper.windlass}`].join(" · ");
  const sections = [...(paper.claims.length ? [claimsSection()] : []), ...paper.experiments.map(experimentSection), ...(paper.absent.length ? [absentSection()] : [])];
  document.getElementById("content").append(
    ...(paper.quick ? [el("p", { class: "note warning" }, QUICK)] : []),
    ...paper.guide.map((text) => el("p", {}, text)), ...sections);
  document.getElementById("contents").append(...sections.map((section) => el("a", { href: `#${section.id}` }, section.dataset.label)));
  theme.start();
  figures.start();
}

start();
