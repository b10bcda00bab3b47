// Tables that sort by any column, with mouse or keyboard.
//
// A page's METRICS say of every metric how it is called (`label`, `unit`), explained
// (`help`), shown (`digits`, `scale`, `bar`) and sorted (`better`: "high" or "low").

/** The text of a metric's value; a dash for a missing one. */
function shown(metric, value) {
  if (value === null || value === undefined) return "–";
  const { scale = 1, digits } = METRICS[metric];
  // As the command line rounds, so that both show the same digits.
  const text = (value * scale).toFixed(digits);
  return digits === 0 ? grouped.format(text) : text;
}

/** A column of one of METRICS. `value(row)` is the number before it is scaled. */
function metricColumn(metric, value = (row) => row[metric]) {
  return { ...METRICS[metric], metric, value, text: (row) => shown(metric, value(row)), numeric: true };
}

/** A column of words. */
function wordColumn(label, value, extra = {}) {
  return { label, value, text: value, better: "low", word: true, ...extra };
}

/** How words are ordered: numbers in them by their value. */
const NATURAL = new Intl.Collator("en", { numeric: true });

/** Tables with more rows than this have a field to filter them. */
const FILTER_FROM = 13;

/**
 * A sortable table in a region that scrolls by itself. Where `note(row)` gives a text,
 * it stands in place of the row's metrics.
 */
function sortableTable({ caption, columns, rows, sortBy, note = () => null }) {
  const body = el("tbody");
  const lines = rows.map((row) => ({ row, line: tableRow(columns, row, note(row)) }));
  const heads = columns.map((column) => {
    const head = el("th", { scope: "col", class: column.numeric ? "number" : "" });
    if (column.label === undefined) {
      head.append(el("span", { class: "visually-hidden" }, column.name));
      return head;
    }
    const button = el("button", { type: "button", title: column.help, onclick: () => sort(column, head, true) },
      column.label, ...(column.unit ? [" ", el("small", {}, column.unit)] : []));
    head.append(button);
    return head;
  });
  let sorted = null;
  let descending = false;

  function sort(column, head, aloud) {
    descending = sorted === column ? !descending : column.better === "high";
    sorted = column;
    const key = (entry) => column.value(entry.row);
    const missing = (value) => value === null || value === undefined || value === "";
    lines.sort((a, b) => {
      const [x, y] = [key(a), key(b)];
      if (missing(x) || missing(y)) return missing(x) - missing(y);
      const order = column.numeric ? x - y : NATURAL.compare(String(x), String(y));
      return descending ? -order : order;
    });
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    body.append(...lines.map((entry) => entry.line));
    if (aloud) announce(`${caption}: sorted by ${column.label}, ${descending ? "descending" : "ascending"}`);
  }

  const first = columns.findIndex((column) => sortBy !== undefined && column.label === sortBy);
  if (first >= 0) sort(columns[first], heads[first], false);
  else body.append(...lines.map((entry) => entry.line));
  const table = el("table", {}, el("caption", { class: "visually-hidden" }, caption),
    el("thead", {}, el("tr", {}, ...heads)), body);
  const region = el("div", { class: "table", role: "region", tabindex: "0", "aria-label": caption }, table);
  return rows.length < FILTER_FROM ? region : el("div", {}, filterField(caption, columns, lines), region);
}

/** A field that hides the rows whose words do not contain what is typed. */
function filterField(caption, columns, lines) {
  const words = columns.filter((column) => column.word);
  const filter = (event) => {
    const wanted = event.target.value.toLowerCase().split(/\s+/);
    let left = 0;
    for (const { row, line } of lines) {
      const text = words.map((column) => column.value(row)).join(" ").toLowerCase();
      line.hidden = !wanted.every((word) => text.includes(word));
      left += !line.hidden;
    }
    announce(`${caption}: ${left} of ${lines.length} rows`);
  };
  return el("label", { class: "filter" }, "Filter rows ", el("input", { type: "search", placeholder: "name or stack", oninput: filter }));
}

function tableRow(columns, row, note) {
  if (!note) return el("tr", {}, ...columns.map((column) => cell(column, row)));
  const first = columns.findIndex((column) => column.metric);
  const metrics = columns.filter((column) => column.metric).length;
  return el("tr", {},
    ...columns.slice(0, first).map((column) => cell(column, row)),
    el("td", { class: "reason", colspan: metrics }, note),
    ...columns.slice(first + metrics).map((column) => cell(column, row)));
}

function cell(column, row) {
  if (column.make) return el("td", { class: column.className }, column.make(row));
  const value = column.value(row);
  const attributes = { class: column.numeric ? "number" : column.className };
  if (column.metric) {
    attributes["data-metric"] = column.metric;
    attributes["data-value"] = value === undefined ? null : value;
  }
  if (column.header) attributes.scope = "row";
  const text = column.text(row) ?? "";
  const [href, onclick] = column.link?.(row) ?? [];
  const made = el(column.header ? "th" : "td", attributes, href ? el("a", { href, onclick }, text) : text);
  if (column.bar && value !== null) {
    made.classList.add("bar-cell");
    made.style.setProperty("--fill", `${Math.min(100, (100 * value) / column.bar)}%`);
  }
  return made;
}
