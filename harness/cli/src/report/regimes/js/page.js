// The page: a map per controller, and a table of what is outside of its bounds or a known limit.

const METRICS = {};
const all = JSON.parse(await unpackedText("regimes"));
const [RATE, RTT, BUFFER] = [0, 1, 2];
const valuesOf = (axis) => all.axes[axis][1];
const classOf = (assessment) => all.assessments[assessment].replace(" ", "-");
const OUTSIDE = all.assessments.indexOf("outside");
const KNOWN = all.assessments.indexOf("known limit");
const nameOf = (row) => (row.stack === "sim" ? row.controller : `${row.controller} on ${row.stack}`);
const idOf = (row) => `of-${row.stack}-${row.controller}`.replace(/[^A-Za-z0-9-]/g, "_");
const settings = (at) => at.map((value, axis) => `${all.axes[axis][0]}=${valuesOf(axis)[value]}`).join(",");
const count = (row, assessment) => row.cells.filter((one) => one.assessment === assessment).length;

function command(row, at) {
  const stack = row.stack === "sim" ? "" : ` --stack ${row.stack}`;
  return `windlass regimes ${row.controller}${stack}${all.option} --only ${settings(at)}`;
}

/** A field for each rate and RTT, in it a stripe for each buffer: the worst of all flows, paths and packets there. */
function mapOf(row) {
  const [left, top, stripe, high, gap] = [25, 9, 6, 17, 4];
  const buffers = valuesOf(BUFFER).length;
  const wide = stripe * buffers;
  const [width, height] = [left + valuesOf(RATE).length * (wide + gap), top + valuesOf(RTT).length * (high + gap)];
  const parts = valuesOf(RATE).map((rate, x) => svg("text", { x: left + x * (wide + gap) + wide / 2, y: top - 3, "text-anchor": "middle" }, rate));
  valuesOf(RTT).forEach((rtt, y) => {
    const at = top + y * (high + gap);
    parts.push(svg("text", { x: left - 3, y: at + high / 2 + 2.3, "text-anchor": "end" }, rtt));
    valuesOf(RATE).forEach((rate, x) => valuesOf(BUFFER).forEach((buffer, b) => {
      const here = row.cells.filter((one) => one.at[RATE] === x && one.at[RTT] === y && one.at[BUFFER] === b);
      if (here.length === 0) return;
      const worst = Math.max(...here.map((one) => one.assessment));
      const many = here.filter((one) => one.assessment === worst).length;
      const title = `${rate}bit/s, ${rtt}, buffer ${buffer}: ${many} of ${here.length} ${all.assessments[worst]}${worst === 0 ? `: ${here[0].reason}` : ""}`;
      parts.push(svg("rect", { class: classOf(worst), x: left + x * (wide + gap) + b * stripe, y: at, width: stripe - 0.6, height: high }, svg("title", {}, title)));
    }));
  });
  const label = `${nameOf(row)}: ${all.assessments.map((assessment, i) => `${count(row, i)} ${assessment}`).join(", ")}`;
  return svg("svg", { class: "regime-map", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...parts);
}

function overview() {
  const figures = all.rows.map((row) => {
    const [outside, known] = [count(row, OUTSIDE), count(row, KNOWN)];
    const name = outside + known > 0 ? el("a", { href: `#${idOf(row)}`, onclick: () => open(row) }, nameOf(row)) : el("strong", {}, nameOf(row));
    const counted = [outside > 0 || known === 0 ? `${outside || "none"} outside` : "", known > 0 ? `${known} known limit${known > 1 ? "s" : ""}` : ""];
    const facts = el("span", { class: outside > 0 ? "bad" : "" }, counted.filter(Boolean).join(", "));
    return el("figure", {}, el("figcaption", {}, name, facts), mapOf(row));
  });
  const key = [["inside", "inside of every bound"], ["known-limit", "outside, and the controller’s page says why"], ["outside", "outside"], ["not-run", "not run: too long, or not on this stack"]];
  const box = (name) => svg("svg", { width: 14, height: 14, "aria-hidden": "true" }, svg("rect", { class: name, width: 14, height: 14 }));
  return el("section", { id: "ranking", "data-label": "Maps", "aria-label": "Maps" },
    el("ul", { class: "key" }, ...key.map(([name, text]) => el("li", {}, box(name), text))),
    el("p", { class: "hint" }, `A field is a rate (from left to right) and an RTT (from top to bottom); its stripes are buffers of ${valuesOf(BUFFER).join(", ")}: none, four packets, and parts of a BDP. `
      + "A stripe shows the worst of all its flows, paths and packet sizes."),
    el("div", { class: "maps" }, ...figures));
}

const number = (value) => (value === null ? "–" : Math.abs(value) >= 100 ? grouped.format(value) : String(Number(value.toPrecision(3))));
const LEAST = ["utilisation", "fairness", "standstill"];

function open(row) {
  document.querySelector(`#${idOf(row)} details`).open = true;
}

function detailsOf(row) {
  const bad = row.cells.filter((one) => one.assessment === OUTSIDE || one.assessment === KNOWN);
  const lines = bad.flatMap((one) => (one.broken ?? [null]).map((broken) => ({ one, broken })));
  const columns = [
    wordColumn("Assessment", ({ one, broken }) => (broken?.known_limit ? "known limit" : all.assessments[one.assessment]), { header: true }),
    ...all.axes.map(([name], axis) => wordColumn(name, ({ one }) => valuesOf(axis)[one.at[axis]])),
    wordColumn("Of", ({ broken }) => broken?.kind ?? "run"),
    { label: "Is", value: ({ broken }) => broken?.value, text: ({ broken }) => (broken ? number(broken.value) : "–"), numeric: true, better: "high" },
    { label: "Bound", value: ({ broken }) => broken?.limit, text: ({ broken }) => (broken ? `${LEAST.includes(broken.kind) ? "≥" : "≤"} ${number(broken.limit)}` : "–"), numeric: true, better: "high" },
    wordColumn("Source, or the known limit", ({ one, broken }) => [one.reason, broken?.known_limit ?? broken?.source].filter(Boolean).join("; "), { className: "words" }),
    wordColumn("Command", ({ one }) => command(row, one.at), { className: "command" }),
  ];
  const table = el("details", {}, el("summary", {}, `${plural(bad.length, "regime")}`));
  // Tables are made when they are looked at: there may be thousands of lines.
  table.addEventListener("toggle", () => {
    if (table.open && table.childElementCount === 1) table.append(sortableTable({ caption: `Outside, and known limits: ${nameOf(row)}`, columns, rows: lines }));
  });
  return el("section", { id: idOf(row), "aria-labelledby": `${idOf(row)}-title` },
    el("h2", { id: `${idOf(row)}-title`, style: "text-transform: none" }, nameOf(row)),
    el("p", { class: "facts" }, all.assessments.map((assessment, i) => `${count(row, i)} ${assessment}`).reverse().join(" · ")), table);
}

function start() {
  const cells = all.rows.reduce((sum, row) => sum + row.cells.length, 0);
  const facts = [plural(all.rows.length, "controller"), plural(cells, "regime"), ...(all.option ? ["a cover in short runs"] : []), `windlass ${all.windlass}`, `code ${all.code}`];
  document.getElementById("facts").textContent = facts.join(" · ");
  const bad = all.rows.filter((row) => count(row, OUTSIDE) + count(row, KNOWN) > 0);
  document.getElementById("content").append(overview(), ...bad.map(detailsOf));
  document.getElementById("contents").append(el("a", { href: "#ranking" }, "Maps"), ...bad.map((row) => el("a", { href: `#${idOf(row)}`, onclick: () => open(row) }, nameOf(row))));
  theme.start();
}

start();
