// The view in the address: times, hidden lines, query and chosen packet of each trace, without the data.
// `viewsText` and `viewsOf` know of no page: `node --test` runs them as they are.

const VIEW_LINK = "#view?";

/** Letters of an address and traces in it that are read, at most. */
const ADDRESS_LENGTH = 16_384;
const ADDRESS_TRACES = 64;

/** How long a view rests before it is in the address, ms: browsers allow few changes a second. */
const ADDRESS_REST = 400;

/** The views of traces as they stand in the address; `[{ trace: name, t: [from, to], query, row, hide: [key, …] }, …]`, what is as at first left out. */
function viewsText(views) {
  const text = new URLSearchParams();
  for (const { trace, t, query, row, hide } of views.slice(0, ADDRESS_TRACES)) {
    text.append("trace", trace);
    if (t) text.append("t", t.map((time) => Number(time.toFixed(9))).join(".."));
    if (query) text.append("query", query);
    if (row !== null && row !== undefined) text.append("row", row);
    if (hide?.length) text.append("hide", hide.join(","));
  }
  return `${VIEW_LINK}${text}`;
}

/** The views in an address, by the name of their trace; what cannot be read is left out. */
function viewsOf(hash) {
  const views = new Map();
  if (!hash.startsWith(VIEW_LINK) || hash.length > ADDRESS_LENGTH) return views;
  let view = null;
  for (const [key, value] of new URLSearchParams(hash.slice(VIEW_LINK.length))) {
    if (key === "trace") {
      if (views.size >= ADDRESS_TRACES) break;
      view = { trace: value };
      views.set(value, view);
    } else if (view) {
      const times = value.split("..").map(Number);
      if (key === "t" && times.length === 2 && times.every(Number.isFinite) && times[0] < times[1]) view.t = times;
      if (key === "query") view.query = value;
      if (key === "row" && /^\d{1,9}$/.test(value)) view.row = Number(value);
      if (key === "hide") view.hide = value.split(",");
    }
  }
  return views;
}

/** What the address asked for and is not yet undone, and the sections it can tell of. */
const address = {
  asked: viewsOf(typeof location === "undefined" ? "" : location.hash),
  sections: new Map(),
  applying: 0,
  waiting: null,

  write() {
    const views = [...address.sections.values()].filter(({ figure }) => figure.holder.isConnected).map(({ read }) => read()).filter(Boolean);
    // What is not open yet stays in the address.
    const names = new Set([...address.sections.values()].map(({ trace }) => trace.name));
    views.push(...[...address.asked.values()].filter(({ trace }) => !names.has(trace)));
    if (!views.length && !location.hash.startsWith(VIEW_LINK)) return;
    const text = views.length ? viewsText(views) : "";
    if (text.length <= ADDRESS_LENGTH) history.replaceState(null, "", text || location.href.split("#")[0]);
  },

  /** Keeps the view of a section in the address, and gives it the one that stands there. */
  keep(trace, figure) {
    const { selection } = trace;
    const read = () => {
      const { view, spec: { whole }, hidden } = figure;
      const state = {
        trace: trace.name, t: view[0] === whole[0] && view[1] === whole[1] ? null : view, query: trace.query?.() || null,
        row: selection.packets && !selection.packets.part ? selection.index : null, hide: [...hidden],
      };
      return state.t || state.query || state.row !== null || state.hide.length ? state : null;
    };
    address.sections.set(trace.id, { trace, figure, read });
    const changed = () => {
      if (address.applying) return;
      address.asked.delete(trace.name);
      clearTimeout(address.waiting);
      address.waiting = setTimeout(address.write, ADDRESS_REST);
    };
    for (const event of ["ranged", "toggled", "queried"]) figure.holder.addEventListener(event, changed);
    selection.addEventListener("chosen", changed);
    return address.apply(trace, figure);
  },

  async apply(trace, figure) {
    const asked = address.asked.get(trace.name);
    if (!asked) return;
    address.applying += 1;
    try {
      for (const key of asked.hide ?? []) if (!figure.hidden.has(key)) figure.toggle(key);
      if (asked.t) figure.show(...asked.t);
      if (asked.query && trace.find) await trace.find(asked.query);
      const packets = asked.row === undefined ? null : await trace.loadPackets?.();
      if (packets && asked.row < packets.length) trace.selection.choose(packets, asked.row);
      // To choose a packet shows it: the times come last again.
      if (asked.t) figure.show(...asked.t);
    } finally {
      address.applying -= 1;
    }
  },
};

if (typeof addEventListener === "function") {
  addEventListener("hashchange", () => {
    const asked = viewsOf(location.hash);
    if (!asked.size) return;
    address.asked = asked;
    for (const { trace, figure } of address.sections.values()) if (figure.holder.isConnected) address.apply(trace, figure);
  });
}

if (typeof module !== "undefined") module.exports = { viewsText, viewsOf };
