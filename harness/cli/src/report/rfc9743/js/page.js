// The page: for each controller a matrix of criteria and paths, and a table of every answer.

const METRICS = {};
const all = JSON.parse(await unpackedText("rfc9743"));
const MARKS = { "met": "✓", "not met": "✗", "undecided": "?", "shown": "·", "not run": "–" };
const nameOf = (row) => (row.stack === "sim" ? row.controller : `${row.controller} on ${row.stack}`);
const idOf = (row) => `of-${row.stack}-${row.controller}`.replace(/[^A-Za-z0-9-]/g, "_");
const classOf = (word) => word.replace(" ", "-");
const count = (row, word) => row.answers.filter((one) => one.assessment === word).length;
const unique = (values) => [...new Set(values)];

function matrixOf(row) {
  const paths = unique(row.answers.map((one) => one.path));
  const at = new Map(row.answers.map((one) => [`${one.criterion} ${one.path}`, one]));
  const any = (key, name) => row.answers.find((one) => one[key] === name);
  const cell = (one) => (one
    ? el("td", { class: classOf(one.assessment), title: `${one.criterion} on ${one.path}: ${one.assessment}: ${one.text}` },
      el("span", { "aria-hidden": "true" }, MARKS[one.assessment]), el("span", { class: "visually-hidden" }, one.assessment))
    : el("td"));
  const heads = paths.map((path) => el("th", { scope: "col", title: any("path", path).path_about }, `${path} §${any("path", path).path_section}`));
  const lines = unique(row.answers.map((one) => one.criterion)).map((criterion) => el("tr", {},
    el("th", { scope: "row", title: any("criterion", criterion).about }, `${criterion} §${any("criterion", criterion).section}`),
    ...paths.map((path) => cell(at.get(`${criterion} ${path}`)))));
  return el("div", { class: "table", role: "region", tabindex: "0", "aria-label": `Matrix: ${nameOf(row)}` },
    el("table", { class: "matrix" }, el("caption", { class: "visually-hidden" }, `Criteria and paths: ${nameOf(row)}`),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Criterion"), ...heads)), el("tbody", {}, ...lines)));
}

function sectionOf(row) {
  const columns = [
    wordColumn("Assessment", (one) => one.assessment, { header: true }),
    wordColumn("Criterion", (one) => one.criterion),
    wordColumn("Path", (one) => one.path),
    wordColumn("Number, and limit", (one) => one.text, { className: "words" }),
    wordColumn("What it is", (one) => one.about, { className: "words" }),
    wordColumn("Limit from", (one) => one.source, { className: "words" }),
  ];
  const worst = [...all.words].reverse();
  const rows = worst.flatMap((word) => row.answers.filter((one) => one.assessment === word));
  return el("section", { id: idOf(row), "aria-labelledby": `${idOf(row)}-title` },
    el("h2", { id: `${idOf(row)}-title`, style: "text-transform: none" }, nameOf(row)),
    el("p", { class: "facts" }, worst.map((word) => `${count(row, word)} ${word}`).join(" · ")),
    matrixOf(row), sortableTable({ caption: `Answers: ${nameOf(row)}`, columns, rows }));
}

function start() {
  const facts = [plural(all.rows.length, "controller"), `${all.seeds} seeds`, ...(all.quick ? ["quick"] : []), `windlass ${all.windlass}`, `code ${all.code}`];
  document.getElementById("facts").textContent = facts.join(" · ");
  document.getElementById("content").append(
    el("p", { class: "hint" }, `${Object.entries(MARKS).map(([word, mark]) => `${mark} ${word}`).join(", ")}. Undecided: the mean is beyond the limit, and the 95 % interval of the `
      + "difference (Welch) contains it. The RFC gives no thresholds; the last column says where each comes from."),
    ...all.rows.map(sectionOf),
    el("section", { id: "not-applicable", "aria-labelledby": "not-applicable-title" }, el("h2", { id: "not-applicable-title" }, "Not applicable"),
      el("ul", {}, ...all.not_applicable.map(([section, title, why]) => el("li", {}, `§${section} ${title}: ${why}`)))));
  document.getElementById("contents").append(...all.rows.map((row) => el("a", { href: `#${idOf(row)}` }, nameOf(row))));
  theme.start();
}

start();
