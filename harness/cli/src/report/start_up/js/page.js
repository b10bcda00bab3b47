// The page: a table for each path, with a bar behind each number.

const METRICS = {};
const all = JSON.parse(await unpackedText("start-up"));
const places = [...new Set(all.rows.map((row) => row.place))];
const repeated = all.turns.length > 0;
const schemeOf = (row) => (row.stack === "sim" ? row.scheme : `${row.scheme} on ${row.stack}`);
const nameOf = (row) => schemeOf(row) + (repeated ? `, turn ${row.turn}` : "");
const titleOf = (rows) => rows[0].place;
const idOf = (rows) => `of-${places.indexOf(rows[0].place)}`;
const size = (bytes) => (bytes < 1e6 ? `${bytes / 1e3} kB` : `${bytes / 1e6} MB`);
const show = (value, digits) => (value === null || value === undefined ? "–" : value.toFixed(digits));

/** A number of all rows, of the flow alone or beside a rival. */
function column(rows, label, read, digits) {
  return { label, value: read, numeric: true, better: "low", text: (row) => show(read(row), digits) };
}

/** Whether any row has been asked the question, of a flow that fills the path or of the transfer before `nth`. */
const isAsked = (rows, nth, rival) => rows.some((row) => row.answers[nth][rival]);

function columnsOf(rows, rival) {
  const filling = (row) => row.answers[0][rival];
  const fills = [
    column(rows, "Filled, s", (row) => filling(row)?.filled_s, 2),
    column(rows, "Lost", (row) => filling(row)?.lost, 0),
    column(rows, "Queue at most", (row) => filling(row)?.queue_peak, 0),
  ];
  const transfers = all.sizes.map((bytes, nth) => column(rows, `${size(bytes)}, ms`, (row) => {
    const seconds = row.answers[nth + 1][rival]?.completed_s;
    return seconds === null || seconds === undefined ? seconds : 1e3 * seconds;
  }, 0));
  return [
    wordColumn("Scheme", nameOf, { header: true }),
    ...isAsked(rows, 0, rival) ? fills : [],
    ...transfers.filter((_, nth) => isAsked(rows, nth + 1, rival)),
  ];
}

/** Medians of turns, with the ends of their intervals. */
function turnsOf(place) {
  const rows = all.turns.filter((row) => row.place === place);
  const spread = (label, read, digits) => [
    column(rows, label, (row) => read(row)?.median, digits),
    column(rows, "from", (row) => read(row)?.interval?.[0], digits),
    column(rows, "to", (row) => read(row)?.interval?.[1], digits),
  ];
  const columns = [
    wordColumn("Scheme", schemeOf, { header: true }),
    column(rows, "Turns", (row) => row.ran, 0),
    ...spread("Filled, s", (row) => row.filled_s, 2),
    ...spread("Lost", (row) => row.lost, 0),
  ];
  return titled("Medians of the turns, and their 95 % intervals", columns, rows);
}

const titled = (caption, columns, rows) => [el("h3", {}, caption), sortableTable({ caption, columns, rows })];

function reasons(rows) {
  const seen = rows.flatMap((row) => row.answers.flat().filter((answer) => answer?.reason).map((answer) => `${nameOf(row)}: ${answer.reason}`));
  return [...new Set(seen)].map((text) => el("p", { class: "hint" }, text));
}

function sectionOf(rows) {
  const both = ["Alone", "Beside a flow that was there before"].map((caption, rival) => titled(caption, columnsOf(rows, rival), rows));
  return el("section", { id: idOf(rows), "aria-labelledby": `${idOf(rows)}-title` },
    el("h2", { id: `${idOf(rows)}-title`, style: "text-transform: none" }, titleOf(rows)),
    ...repeated ? turnsOf(titleOf(rows)) : [],
    ...both.filter((_, rival) => rows.some((row) => row.answers.some((answer) => answer[rival]))).flat(),
    ...reasons(rows));
}

function start() {
  const facts = [plural(all.rows.length, "row"), `windlass ${all.windlass}`, `code ${all.code}`];
  document.getElementById("facts").textContent = facts.join(" · ");
  const of = places.map((place) => all.rows.filter((row) => row.place === place));
  document.getElementById("content").append(
    el("p", { class: "hint" }, "Filled: from the start of the flow until its goodput over a round trip is 90 % of what the link carries, of half of that beside another flow. "
      + "Lost, and queue at most: packets in its first 30 round trips. Then: until a transfer of that size is complete."),
    ...of.map(sectionOf));
  document.getElementById("contents").append(...of.map((rows) => el("a", { href: `#${idOf(rows)}` }, titleOf(rows))));
  theme.start();
}

start();
