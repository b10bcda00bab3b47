// Events as they stand in the file, for who wants to see all of them.

/** Rows of the list, at most. */
const EVENT_ROWS = 300;

/** How long the words of the field rest before events are looked for, ms. */
const EVENTS_REST = 300;

/** Events of a trace that grows are read again no sooner than after this many times what the last reading took, as the command reads it. */
const EVENTS_GROWN_REST = 4;

/** What an event's data say in words, as far as they are whole: `key: value` each. */
function eventWords(data) {
  try {
    const said = (value) => (value !== null && typeof value === "object" ? JSON.stringify(value) : String(value));
    const whole = JSON.parse(data);
    return whole !== null && typeof whole === "object" && !Array.isArray(whole) ? Object.entries(whole).map(([key, value]) => `${key}: ${said(value)}`).join(", ") : said(whole);
  } catch {
    return `${data} …`;
  }
}

/** A function that finds events among those that `load` gives, which has no packets and not all of the kinds `missing`. */
function heldEvents(load, missing) {
  let all = null;
  return async ([from, to], { words, most }) => {
    all ??= await load();
    const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
    const has = (name, data) => { const text = `${name} ${data}`.toLowerCase(); return wanted.every((word) => text.includes(word)); };
    const found = all.filter(([time, name, data]) => time >= from && time <= to && (!wanted.length || has(name, data)));
    return { rows: found.slice(0, most), leftOut: Math.max(0, found.length - most), missing: missing.filter(({ from_s: since }) => since <= to) };
  };
}

/** The events in the times shown, which are read from the file, or from the page: of packets only where they are asked for. */
function eventsTable(trace, figure) {
  const details = el("details", { class: "more events" }, el("summary", {}, "Events in the times shown"));
  const [body, count] = [el("tbody"), el("p", { class: "hint", role: "status" })];
  let [turn, waiting, growing, took] = [0, null, null, 0];
  const fill = async () => {
    if (!details.open) return;
    turn += 1;
    const [mine, began] = [turn, performance.now()];
    const reading = (share) => { if (mine === turn) count.textContent = `Reading the events of these times: ${Math.floor(100 * share)} %.`; };
    const found = await trace.loadEvents(figure.view, { words: words.value, packets: packets.checked, most: EVENT_ROWS }, reading)
      .catch((error) => { count.textContent = `The events cannot be read: ${error.message}.`; });
    took = performance.now() - began;
    if (!found || mine !== turn) return;
    const digits = Math.max(6, timeDigits(figure.view[1] - figure.view[0]));
    body.replaceChildren(...found.rows.map(([time, name, data]) => el("tr", { tabindex: "0", onclick: () => { figure.reveal(time); figure.showCursor(time); } },
      el("th", { scope: "row", class: "number" }, time.toFixed(digits)), el("td", {}, name), el("td", {}, eventWords(data)))));
    count.textContent = `${plural(found.rows.length + found.leftOut, "event")}${found.leftOut ? `, the first ${found.rows.length} are listed: zoom in, or name words, for the others` : ""}.`
      + (found.missing ?? []).map(({ name, from_s: since, events: left }) => ` There was no room for ${grouped.format(left)} of ${name}, from ${since.toFixed(2)} s on.`).join("");
  };
  const ask = () => { clearTimeout(waiting); waiting = setTimeout(fill, EVENTS_REST); };
  const words = el("input", { type: "search", spellcheck: "false", autocomplete: "off", placeholder: "words of name or data", oninput: ask });
  const packets = el("input", { type: "checkbox", onchange: ask });
  body.addEventListener("keydown", (event) => {
    const row = event.target.closest("tr");
    if (event.key === "Enter") row.click();
    const next = { ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling }[event.key];
    if (!next) return;
    event.preventDefault();
    next.focus();
  });
  details.append(el("div", { class: "tools" }, el("label", {}, "Find events ", words), ...(trace.events_left_out ? [] : [el("label", {}, packets, " with packets sent and received")])), count,
    el("div", { class: "table", role: "region", tabindex: "0", "aria-label": `Events of ${trace.name}` }, el("table", {}, el("caption", { class: "visually-hidden" }, `Events of ${trace.name} in the times shown`),
      el("thead", {}, el("tr", {}, ...["Time, s", "Event", "Data"].map((head, i) => el("th", { scope: "col", class: i ? "plain" : "number plain" }, head)))), body)));
  details.addEventListener("toggle", fill);
  figure.holder.addEventListener("ranged", ask);
  figure.holder.addEventListener("told", () => {
    growing ??= setTimeout(() => { growing = null; fill(); }, Math.max(EVENTS_REST, EVENTS_GROWN_REST * took));
  });
  return details;
}

if (typeof module !== "undefined") module.exports = { eventWords, heldEvents };
