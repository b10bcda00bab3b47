// The page: a heat map over two axes, and what a field of it is.

const METRICS = {};
const all = JSON.parse(await unpackedText("sweep"));
const long = all.axes.map((_, axis) => axis).filter((axis) => all.axes[axis].values.length > 1);
const groupOf = new Map(all.groups.map((group) => [group.at.join(), group]));
const nameOf = (axis, value) => all.axes[axis].values[value] || "the scenario’s own";

/** What is shown: the axes of the map, the measure, and the value of every other axis. */
const view = {
  x: long[0] ?? 0,
  y: long[1] ?? (long[0] === 0 ? 1 : 0),
  measure: 0,
  at: all.axes.map(() => 0),
};

/** A number with three digits; –, where there is none. */
const number = (value) => (value === null || value === undefined ? "–" : Math.abs(value) >= 1000 ? grouped.format(value) : String(Number(value.toPrecision(3))));
const withInterval = ([mean, half]) => (half === null ? number(mean) : `${number(mean)} ± ${number(half)}`);

function groupAt(x, y) {
  const at = [...view.at];
  at[view.y] = y;
  at[view.x] = x;
  return groupOf.get(at.join());
}

function choice(label, options, chosen, choose) {
  const select = el("select", {}, ...options.map(([value, text]) => el("option", { value }, text)));
  select.value = chosen;
  select.addEventListener("change", () => { choose(Number(select.value)); draw(); });
  return el("label", {}, `${label} `, select);
}

function choices() {
  const axes = long.length > 1 ? long : all.axes.map((_, axis) => axis);
  const named = axes.map((axis) => [axis, all.axes[axis].name]);
  const swap = (own, other) => (axis) => {
    if (axis === view[other]) view[other] = view[own];
    view[own] = axis;
  };
  const rest = long.filter((axis) => axis !== view.x && axis !== view.y);
  return el("div", { class: "sweep-choices" },
    choice("Measure", all.measures.map((name, nth) => [nth, name]), view.measure, (nth) => { view.measure = nth; }),
    choice("Across", named, view.x, swap("x", "y")),
    choice("Down", named, view.y, swap("y", "x")),
    ...rest.map((axis) => choice(all.axes[axis].name, all.axes[axis].values.map((_, nth) => [nth, nameOf(axis, nth)]), view.at[axis],
      (nth) => { view.at[axis] = nth; })));
}

function command(group, nth) {
  const quoted = /^[\w./-]+$/.test(all.plan) ? all.plan : `'${all.plan.replaceAll("'", "'\\''")}'`;
  return `windlass sweep trace ${quoted} ${group.cell + nth} --out cell-${group.cell + nth}`;
}

/** What the field is: every measure, why cells failed, and the command for each of its seeds. */
function details(group) {
  const settings = all.axes.map((axis, nth) => [axis.name, nameOf(nth, group.at[nth])]);
  const missing = all.seeds.length - group.done - group.failed;
  const counted = [`${group.done} done`, group.failed ? `${group.failed} failed` : "", missing ? `${missing} missing` : ""].filter(Boolean).join(", ");
  const rows = [...settings, ["cells", counted], ...all.measures.map((name, nth) => [name, group.means[nth] ? withInterval(group.means[nth]) : "–"])];
  const lines = rows.map(([name, text]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, text)));
  const commands = all.seeds.slice(0, 10).map((seed, nth) => el("li", {}, `seed ${seed}: `, el("code", { class: "command" }, command(group, nth))));
  return [
    el("h2", { id: "field-title", style: "text-transform: none" }, "Field"),
    el("table", { class: "sweep-field" }, el("tbody", {}, ...lines)),
    ...(group.reason ? [el("p", {}, `The first that failed: ${group.reason}`)] : []),
    el("p", { class: "hint" }, "Again, with traces and a report of its own:"),
    el("ul", { class: "commands" }, ...commands),
  ];
}

function field(group, [low, high]) {
  const mean = group?.means[view.measure];
  if (!group || group.done + group.failed === 0) return el("td", { class: "none" }, "–");
  const button = el("button", { type: "button" }, mean ? withInterval(mean) : group.failed ? "failed" : "–");
  button.addEventListener("click", () => {
    const place = document.getElementById("field");
    place.replaceChildren(...details(group));
    place.scrollIntoView({ block: "nearest" });
    announce(`cell ${group.cell}`);
  });
  const part = mean ? (high > low ? (mean[0] - low) / (high - low) : 0.5) : null;
  const style = part === null ? "" : `--part: ${Math.round(100 * part)}%`;
  return el("td", { class: part === null ? "failed" : "mean", style }, button);
}

function map() {
  const [across, down] = [all.axes[view.x], all.axes[view.y]];
  const fields = down.values.map((_, y) => across.values.map((_, x) => groupAt(x, y)));
  const range = extent(fields.flat().map((group) => group?.means[view.measure]?.[0] ?? null)) ?? [0, 0];
  const head = el("tr", {}, el("th", { scope: "col" }, `${down.name} ↓ ${across.name} →`), ...across.values.map((_, x) => el("th", { scope: "col" }, nameOf(view.x, x))));
  const rows = fields.map((row, y) => el("tr", {}, el("th", { scope: "row" }, nameOf(view.y, y)), ...row.map((group) => field(group, range))));
  return el("div", { class: "table" }, el("table", { class: "sweep-map" },
    el("caption", { class: "visually-hidden" }, `${all.measures[view.measure]} by ${across.name} and ${down.name}`),
    el("thead", {}, head), el("tbody", {}, ...rows)));
}

function draw() {
  document.getElementById("map").replaceChildren(choices(), map());
}

function start() {
  const facts = [plural(all.groups.length * all.seeds.length, "cell"), all.missing ? `${grouped.format(all.missing)} missing` : "",
    plural(all.seeds.length, "seed"), all.plan, `windlass ${all.windlass}`, `code ${all.code}`];
  document.getElementById("facts").textContent = facts.filter(Boolean).join(" · ");
  document.getElementById("content").append(
    el("p", { class: "hint" }, "A field is the mean over seeds with its 95 % interval by Student’s t. Choose one for all its measures and the command that runs it again."),
    el("section", { id: "map", "aria-label": "Map" }), el("section", { id: "field", "aria-live": "polite" }));
  document.getElementById("contents").append(el("a", { href: "#map" }, "Map"), el("a", { href: "#field" }, "Field"));
  draw();
  theme.start();
}

start();
