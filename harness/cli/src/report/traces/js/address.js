// The view in the address, without the data: of each trace times, hidden lines, what is open, query and chosen packet; of the
// overlay and of two that are compared times, lines and which they are. `viewsText` and `viewsOf` know of no page: `node --test`
// runs them as they are.

const VIEW_LINK = "#view?";

/** Letters of an address and views in it that are read, at most. */
const ADDRESS_LENGTH = 16_384;
const ADDRESS_VIEWS = 64;

/** How long a view rests before it is in the address, ms: browsers allow few changes a second. */
const ADDRESS_REST = 400;

/** What a view is of; its value is the name of a trace, and of the overlay none. */
const VIEW_KINDS = ["trace", "overlay", "compared"];

/** What a view has once, as its text. */
const VIEW_TEXTS = ["query", "against", "from", "way", "beside"];

/** Of some of those what can be read. */
const VIEW_FORMS = { way: /^(sent|received)$/, beside: /^\d{1,3}$/ };

/**
 * Views as they stand in the address, what is as at first left out: `[{ kind, name, t: [from, to], query, row, open: [key, …], hide: [key, …], wild,
 * against, from, way, beside }, …]`: of packetization which packets, and how many at once; `only` says that no other trace is shown.
 */
function viewsText(views, only = false) {
  const text = new URLSearchParams();
  for (const { kind, name, t, row, open, hide, wild, ...texts } of views.slice(0, ADDRESS_VIEWS)) {
    text.append(kind, name ?? "");
    if (t) text.append("t", t.map((time) => Number(time.toFixed(9))).join(".."));
    for (const key of VIEW_TEXTS) if (texts[key]) text.append(key, texts[key]);
    if (row !== null && row !== undefined) text.append("row", row);
    if (open?.length) text.append("open", open.join(","));
    for (const key of hide ?? []) text.append("hide", key);
    if (wild) text.append("wild", 1);
  }
  if (only) text.append("only", 1);
  return `${VIEW_LINK}${text}`;
}

/** The views in an address: `{ traces: views by their name, overlay, compared, only }`; what cannot be read is left out. */
function viewsOf(hash) {
  const found = { traces: new Map(), overlay: null, compared: null, only: false };
  if (!hash.startsWith(VIEW_LINK) || hash.length > ADDRESS_LENGTH) return found;
  let [view, count] = [null, 0];
  for (const [key, value] of new URLSearchParams(hash.slice(VIEW_LINK.length))) {
    if (VIEW_KINDS.includes(key)) {
      count += 1;
      if (count > ADDRESS_VIEWS) break;
      view = { kind: key, name: value };
      if (key === "trace") found.traces.set(value, view); else found[key] = view;
    } else if (key === "only") found.only = true;
    else if (view) {
      const times = value.split("..").map(Number);
      if (key === "t" && times.length === 2 && times.every(Number.isFinite) && times[0] < times[1]) view.t = times;
      if (VIEW_TEXTS.includes(key) && (VIEW_FORMS[key] ?? /^/).test(value)) view[key] = value;
      if (key === "row" && /^\d{1,9}$/.test(value)) view.row = Number(value);
      if (key === "open") view.open = value.split(",");
      if (key === "hide") (view.hide ??= []).push(value);
      if (key === "wild") view.wild = true;
    }
  }
  return found;
}

/** What the address asked for and is not yet undone, and what can tell of the view there is. */
const address = {
  ...(({ traces, ...rest }) => ({ asked: traces, ...rest }))(viewsOf(typeof location === "undefined" ? "" : location.hash)),
  sections: new Map(),
  /** Of the overlay and of two that are compared: a function that gives the view. */
  together: new Map(),
  /** The names of the traces that someone chose to be shown, null where nobody did; and what shows those that the address asks for. */
  chosen: () => null,
  follow: () => {},
  applying: 0,
  waiting: null,

  write() {
    const chosen = address.chosen();
    const sections = [...address.sections.values()].filter(({ figure }) => figure.holder.isConnected);
    const views = sections.map(({ trace, read }) => read() ?? (chosen?.includes(trace.name) ? { kind: "trace", name: trace.name } : null)).filter(Boolean);
    // What is not open yet stays in the address.
    const names = new Set([...address.sections.values()].map(({ trace }) => trace.name));
    views.push(...[...address.asked.values()].filter(({ name }) => !names.has(name)));
    for (const kind of ["overlay", "compared"]) views.push(...[address.together.get(kind)?.() ?? address[kind]].filter(Boolean));
    const only = chosen !== null || (address.only && !sections.length);
    if (!views.length && !only && !location.hash.startsWith(VIEW_LINK)) return;
    const text = views.length || only ? viewsText(views, only) : "";
    if (text.length <= ADDRESS_LENGTH) history.replaceState(null, "", text || location.href.split("#")[0]);
  },

  /** Something of the view has changed by the user's hand. */
  changed() {
    clearTimeout(address.waiting);
    address.waiting = setTimeout(address.write, ADDRESS_REST);
  },

  /** Times and lines of a figure where they are not as at first. */
  figureView({ view, spec: { whole }, hidden, wild }) {
    return { t: view[0] === whole[0] && view[1] === whole[1] ? null : view, hide: [...hidden], wild };
  },

  applyFigure(figure, { t, hide, wild }) {
    for (const key of hide ?? []) if (!figure.hidden.has(key)) figure.toggle(key);
    if (wild && !figure.wild) figure.toggleWild();
    if (t) figure.show(...t);
  },

  /** Keeps the view of a section in the address, and gives it the one that stands there; `parts` can be opened, and may have more to tell. */
  keep(trace, figure, parts) {
    const { selection } = trace;
    const keyed = [...parts].map((part) => [part.classList[1], part, part.open]);
    const more = () => Object.assign({}, ...keyed.map(([, part]) => part.told?.()));
    const read = () => {
      const state = { kind: "trace", name: trace.name, ...address.figureView(figure), query: trace.query?.() || null,
        row: selection.packets && !selection.packets.part ? selection.index : null, open: keyed.flatMap(([key, part, first]) => (part.open === first ? [] : [part.open ? key : `-${key}`])), ...more() };
      return state.way || state.beside || state.t || state.query || state.row !== null || state.hide.length || state.open.length || state.wild ? state : null;
    };
    address.sections.set(trace.id, { trace, figure, read, keyed });
    const changed = () => {
      if (address.applying) return;
      address.asked.delete(trace.name);
      address.changed();
    };
    for (const event of ["ranged", "toggled", "queried"]) figure.holder.addEventListener(event, changed);
    for (const [, part] of keyed) for (const event of ["toggle", "set"]) part.addEventListener(event, changed);
    selection.addEventListener("chosen", changed);
    return address.apply(address.sections.get(trace.id));
  },

  async apply({ trace, figure, keyed }) {
    const asked = address.asked.get(trace.name);
    if (!asked) return;
    address.applying += 1;
    try {
      for (const [key, part] of keyed) if (asked.open?.includes(key) || asked.open?.includes(`-${key}`)) part.open = asked.open.includes(key);
      address.applyFigure(figure, asked);
      if (asked.query && trace.find) await trace.find(asked.query);
      const packets = asked.row === undefined ? null : await trace.loadPackets?.();
      if (packets && asked.row < packets.length) trace.selection.choose(packets, asked.row);
      // To choose a packet shows it: the times come last again, and so does its way.
      if (asked.t) figure.show(...asked.t);
      for (const [, part] of keyed) part.tell?.(asked);
      // What is opened tells of it in a task of its own.
      await new Promise((resume) => { setTimeout(resume); });
    } finally {
      address.applying -= 1;
    }
  },

  /** Keeps the view of the overlay, or of two that are compared, which `more()` tells beside the figure's, null where that is as at first; the figure shows `view`. */
  keepTogether(kind, figure, more, view) {
    address.together.set(kind, () => {
      if (!figure.holder.isConnected) return null;
      const { name, hide = [], ...rest } = more() ?? {};
      const state = { kind, name, ...rest, ...address.figureView(figure) };
      state.hide = [...state.hide, ...hide];
      return more() || state.t || state.hide.length || state.wild ? state : null;
    });
    address.applying += 1;
    if (view) address.applyFigure(figure, { ...view, hide: view.hide?.filter((key) => figure.keys().has(key)) });
    address.applying -= 1;
    const changed = () => {
      if (address.applying) return;
      address[kind] = null;
      address.changed();
    };
    for (const event of ["ranged", "toggled", "chosen"]) figure.holder.addEventListener(event, changed);
  },
};

if (typeof addEventListener === "function") {
  addEventListener("hashchange", () => {
    const { traces, ...rest } = viewsOf(location.hash);
    if (!traces.size && !rest.overlay && !rest.compared) return;
    Object.assign(address, rest, { asked: traces });
    address.follow();
    for (const section of address.sections.values()) if (section.figure.holder.isConnected) address.apply(section);
  });
}

if (typeof module !== "undefined") module.exports = { viewsText, viewsOf };
