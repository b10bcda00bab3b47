// A figure: panels one above the other over one time axis. Dragging zooms, with Shift it moves, keys move, and the
// values under the pointer stand in the legends, so that nothing covers a line.
//
// A figure is told by plain data:
//   { file: name of its files, whole: [from, to], panels: [panel, …], tints: spans or null, pending: null or how to get all this with data, later }
//   panel: { title, unit, digits, height, zero, names, lines: [line, …], marks: [mark, …], lanes: [lane, …] }
//          or, of another kind, { title, height, draw(figure, height): its parts, pick(figure, height): the path of what is chosen,
//          rows(figure): what a table has of it: name, from, to, value }
//   line:  { key, name, colour, dash, width, opacity, kind, data: Line, scale, end, bin, unit, digits }
//          kind "steps" (values hold), "straight", "samples" (dots), "rate" (a count's growth over bins of `bin(span)` s)
//   mark:  { key, name, colour, data: Line of a count, on: { data, scale } }
//   lane:  { key, name, kind: "spans" | "ticks" | "none", data, colours, names, colour, one, many, note, foot: spans under ticks }
//   spans: { data: Line, colours: one a value, null for none }

const PANEL_HEIGHT = 150;
const LANE_HEIGHT = 17;
const AXIS_HEIGHT = 34;
/** How high the spans under ticks are, pixels. */
const FOOT = 5;
/** How long a figure that is moved draws before it lets the page do something else, ms. */
const PIECE = 8;
const TOUCH = matchMedia("(pointer: coarse)").matches;

/** Decimals that distinguish times on a figure of `span` seconds. */
const timeDigits = (span) => Math.min(9, Math.max(2, Math.ceil(3 - Math.log10(span))));

/** How high a panel is without and with the time axis, pixels. */
function heightsOf(panel, last, small) {
  const height = panel.lanes ? panel.lanes.length * laneHeight(small) + 6 : panel.height ?? PANEL_HEIGHT;
  return [height, height + (last ? AXIS_HEIGHT : 4)];
}

/** On small paper a lane's name stands above it. */
const laneHeight = (small) => (small ? 2 * LANE_HEIGHT - 4 : LANE_HEIGHT);

function setSize(picture, width, height) {
  picture.setAttribute("width", width);
  picture.setAttribute("height", height);
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
}

class Figure {
  /** A figure of `spec` in `holder`, drawn when it comes into view. */
  constructor(holder, spec) {
    this.holder = holder;
    this.hidden = new Set();
    this.cursor = null;
    /** Times that are marked because something that lies there is chosen. */
    this.picked = [];
    /** Whether axes reach to the wildest value, and whether any value lies beyond one. */
    this.wild = false;
    this.beyond = false;
    /** What is drawn, for whoever checks it: a line's key, its panel, points, whether they are all there are. */
    this.drawn = [];
    /** What is drawn panel by panel and not shown yet. */
    this.drawing = null;
    this.body = el("div", { class: "panels" });
    holder.append(this.body);
    this.listen();
    this.set(spec);
    figures.add(this);
    holder.figure = this;
  }

  /** Shows other data; the range that is shown stays unless it was the whole. */
  set(spec) {
    const whole = !this.spec || (this.view[0] === this.spec.whole[0] && this.view[1] === this.spec.whole[1]);
    this.spec = spec;
    this.drawing = null;
    if (whole || !(this.view[0] < spec.whole[1])) this.view = [...spec.whole];
    this.build();
    this.refresh();
  }

  /** Draws anew if that is seen. */
  refresh() {
    this.stale = true;
    if (this.near || figures.printing) this.draw();
  }

  /** Makes the elements of panels: heads with legends, and empty pictures. */
  build() {
    this.panels = this.spec.panels.map((panel) => {
      const picture = svg("svg", { class: "panel-picture", "aria-hidden": "true" });
      const values = new Map();
      const entries = [...(panel.lines ?? []), ...(panel.marks ?? []).map((mark) => ({ ...mark, kind: "mark" }))];
      const legend = el("ul", { class: panel.names === false ? "legend values" : "legend", "aria-label": `Lines of ${panel.title}` },
        ...entries.map((entry) => this.entry(entry, panel, values)), ...(panel.patches ?? []).map(({ name, colour }) => el("li", {}, sample({ colour, kind: "patch" }), name)));
      const head = el("div", { class: "panel-head" }, el("strong", {}, panel.title), legend);
      return { panel, picture, values, head };
    });
    this.body.replaceChildren(...this.panels.flatMap(({ head, picture }) => [head, picture]));
  }

  /** A legend's entry: pressing it hides the line, and the value under the pointer stands in it. */
  entry(entry, panel, values) {
    const value = el("span", { class: "value" });
    values.set(entry.key, value);
    if (panel.names === false) return el("li", { title: entry.name, "data-line": entry.key }, sample(entry), el("span", { class: "name" }, entry.name), value);
    const button = el("button", {
      type: "button", class: "toggle", "data-line": entry.key, "aria-pressed": String(!this.hidden.has(entry.key)), onclick: () => {
        this.toggle(entry.key);
        button.setAttribute("aria-pressed", String(!this.hidden.has(entry.key)));
        announce(`${entry.name} ${this.hidden.has(entry.key) ? "hidden" : "shown"}`);
      },
    }, sample(entry), el("span", { class: "name" }, entry.name), value);
    return el("li", {}, button);
  }

  /** Hides or shows the line called `key` in every panel. */
  toggle(key) {
    if (!this.hidden.delete(key)) this.hidden.add(key);
    for (const button of this.body.querySelectorAll(".toggle")) button.setAttribute("aria-pressed", String(!this.hidden.has(button.dataset.line)));
    this.holder.dispatchEvent(new Event("toggled"));
    this.refresh();
  }

  /** The keys of its lines and marks. */
  keys() { return new Set(this.spec.panels.flatMap(({ lines, marks }) => [...lines ?? [], ...marks ?? []]).map(({ key }) => key)); }

  /** Lets axes reach to the wildest values, or not. */
  toggleWild() {
    this.wild = !this.wild;
    this.holder.dispatchEvent(new Event("toggled"));
    this.refresh();
  }

  /** Where times lie, pixels. */
  across = (time) => this.left + (time - this.view[0]) / (this.view[1] - this.view[0]) * this.columns;

  /** The time at `pixels` from the left. */
  time = (pixels) => this.view[0] + (pixels - this.left) / this.columns * (this.view[1] - this.view[0]);

  /** Gets what the figure is to show, if that is not there yet. */
  async fill() {
    const { pending } = this.spec;
    if (!pending) return;
    this.filling ??= pending();
    const spec = await this.filling;
    this.filling = null;
    if (this.spec.pending === pending) this.set(spec);
  }

  draw() {
    if (this.spec.pending) {
      const width = this.holder.clientWidth;
      this.panels.forEach(({ panel, picture }, i) => setSize(picture, width, heightsOf(panel, i === this.panels.length - 1, narrow(width))[1]));
      this.fill();
      return;
    }
    this.begin();
    while (this.drawing) this.drawNext();
  }

  /** Takes up the drawing of the times that are asked for now. */
  begin() {
    this.stale = false;
    this.width = this.holder.clientWidth || PRINT_WIDTH;
    const width = figures.printing ? Math.min(this.width, PRINT_WIDTH) : this.width;
    const small = narrow(width);
    const lanes = this.spec.panels.some((panel) => panel.lanes || panel.draw);
    this.left = small || !lanes ? 50 : 84;
    this.columns = Math.max(120, width - this.left - 10);
    this.drawing = { width, small, made: [], state: { view: this.view, drawn: [], beyond: false } };
  }

  /** Draws the next panel of what was taken up, whatever is asked for by now; after the last one all of them are shown. */
  drawNext() {
    const { width, small, made, state } = this.drawing;
    const { view, drawn, beyond } = this;
    const place = this.panels[made.length];
    Object.assign(this, state);
    if (place) made.push(this.drawPanel(place, made.length === this.panels.length - 1, width, small));
    [state.drawn, state.beyond] = [this.drawn, this.beyond];
    if (made.length < this.panels.length) { Object.assign(this, { view, drawn, beyond }); return; }
    this.drawing = null;
    made.forEach((show) => show());
    this.showCursor();
    this.showPicked();
    this.view = view;
    this.holder.dispatchEvent(new Event("drawn"));
  }

  /** Draws in tasks that leave the page time for others. */
  drawInPieces() {
    this.waiting = null;
    const began = performance.now();
    while (this.drawing && performance.now() - began < PIECE) this.drawNext();
    if (this.drawing) this.waiting = setTimeout(() => this.drawInPieces());
    else if (this.stale) this.drawSoon();
  }

  /** Draws before the next frame; several moves before that are one drawing, and those while it is drawn another. */
  drawSoon() {
    this.waiting ??= requestAnimationFrame(() => {
      this.waiting = null;
      if (!this.stale) return;
      if (this.spec.pending) this.draw(); else { this.begin(); this.drawInPieces(); }
    });
  }

  /** Draws a panel, the last one with the time axis, and gives what shows it. */
  drawPanel(place, last, width, small) {
    const { panel, picture } = place;
    const [height, whole] = heightsOf(panel, last, small);
    const [begin, end] = this.view;
    const right = this.left + this.columns;
    const times = ticks(begin, end, Math.max(3, Math.min(10, this.columns / 90)));
    const parts = [
      ...this.tints(panel, height),
      svg("path", { class: "gridline", d: times.map((time) => `M${tenth(this.across(time))} 0V${height}`).join("") }),
    ];
    if (panel.draw) parts.push(...panel.draw(this, height));
    else if (panel.lanes) parts.push(...this.drawLanes(panel, small));
    else parts.push(...this.drawLines(place, height));
    parts.push(svg("path", { class: "frame", d: `M${this.left} 0V${height}H${right}` }));
    if (last) {
      for (const time of times) {
        const x = this.across(time);
        parts.push(svg("text", { x: tenth(x), y: height + 15, "text-anchor": x > right - 14 ? "end" : "middle" }, `${tickText(time, times.step)}${time === times[0] || !small ? " s" : ""}`));
      }
    }
    return () => {
      setSize(picture, width, whole);
      place.height = height;
      place.line = svg("path", { class: "cursor", d: "" });
      place.picked = svg("path", { class: "picked", d: "" });
      place.selection = svg("rect", { class: "selection", y: 0, height, width: 0, x: 0 });
      place.now = last ? svg("text", { class: "now", y: height + 30, "text-anchor": "middle" }) : null;
      picture.replaceChildren(...parts, place.picked, place.selection, place.line, ...(place.now ? [place.now] : []));
    };
  }

  /** The tints of states behind a panel. */
  tints(panel, height) {
    const { tints } = this.spec;
    if (!tints || panel.lanes || panel.draw) return [];
    return this.boxes(tints.data.spans(...this.view, Math.round(this.columns / 2)), tints.colours, 0, height, "tint");
  }

  /** Boxes of spans, a path for each colour. */
  boxes(spans, colours, top, height, className) {
    const paths = new Map();
    for (const [value, from, to] of spans) {
      const colour = colours[value];
      if (!colour) continue;
      const [left, right] = [Math.max(this.left, this.across(from)), Math.min(this.left + this.columns, this.across(to))];
      paths.set(colour, `${paths.get(colour) ?? ""}M${tenth(left)} ${top}H${tenth(Math.max(right, left + 0.5))}V${top + height}H${tenth(left)}Z`);
    }
    return [...paths].map(([colour, d]) => svg("path", { class: className, d, style: `fill:${paint(colour)}` }));
  }

  /** What of a line lies in view: times and scaled values. */
  pointsOf(line) {
    const [from, to] = this.view;
    const scale = line.scale ?? 1;
    const end = line.end ?? this.spec.whole[1];
    if (line.kind === "rate") {
      const width = line.bin(to - from);
      return { ...line.data.rate(Math.max(0, from - width), Math.min(to + width, end), width, scale), raw: false };
    }
    const { x, y, raw } = line.data.drawn(from, to, this.columns, scale);
    const points = x.length;
    // The latest value holds until the end.
    if (line.kind === "steps" && points && x[points - 1] < Math.min(to, end)) { x.push(Math.min(to, end)); y.push(y[points - 1]); }
    return { x, y, raw, points };
  }

  drawLines({ panel }, height) {
    const [from, to] = this.view;
    const lines = panel.lines.filter(({ key }) => !this.hidden.has(key)).map((line) => ({ ...line, ...this.pointsOf(line) }));
    this.drawn.push(...lines.map(({ key, kind, x, y, raw, points, name }) => ({ panel: panel.title, key, name, kind, x, y, raw, points: points ?? x.length })));
    // What lies beyond the sides has no say in how high the panel is, but for what holds into it.
    const seen = lines.flatMap(({ x, y, kind }) => y.filter((_, i) => (x[i] >= from || (kind === "steps" && x[i + 1] > from)) && x[i] <= to));
    const close = to - from <= 0.2 * (this.spec.whole[1] - this.spec.whole[0]);
    const held = ({ x, y, kind }) => y.map((value, i) => [value, kind === "steps" ? Math.max(0, Math.min(x[i + 1] ?? to, to) - Math.max(x[i], from)) / (to - from) : 1 / y.length]);
    const tame = this.wild ? Infinity : tameHigh(lines.flatMap(held));
    const beyond = seen.filter((value) => value > tame);
    const [low, high] = padded(extent(seen.filter((value) => !(value > tame))) ?? [0, 1], panel.zero === true && close ? "auto" : panel.zero ?? "auto");
    const up = (value) => 4 + (height - 4) * (high - value) / (high - low);
    if (beyond.length) this.beyond = true;
    const told = beyond.length ? [svg("text", { class: "untold", x: this.left + this.columns - 4, y: 14, "text-anchor": "end" },
      `values beyond, up to ${Number(beyond.reduce((most, value) => Math.max(most, value), 0).toPrecision(3)).toLocaleString("en")} ${panel.unit ?? ""}`)] : [];
    const values = ticks(low, high, height < 130 ? 4 : 5);
    const right = this.left + this.columns;
    const clip = `clip-${figures.all.indexOf(this)}-${this.spec.panels.indexOf(panel)}`;
    const room = lines.every(({ kind, raw, points }) => kind === "rate" || kind === "straight" || (raw && points < this.columns / 4));
    const drawn = lines.flatMap((line) => {
      const style = `stroke:${paint(line.colour)}`;
      const dots = () => svg("path", { class: "line dots", d: dotPath(line.x.slice(0, line.points), line.y.slice(0, line.points), this.across, up, !line.raw), style,
        "stroke-width": line.kind !== "samples" ? 4.4 : !line.raw ? 1.2 : line.points > this.columns / 2 ? 2 : 3.2, opacity: line.opacity, "data-line": line.key });
      if (line.kind === "samples") return [dots()];
      const path = svg("path", { class: "line", d: linePath(line.x, line.y, this.across, up, line.kind === "steps", line.kind === "steps" && !line.raw), style,
        "stroke-width": line.width ?? 1.5, "stroke-dasharray": DASHES[line.dash ?? "solid"], opacity: line.opacity, "data-line": line.key });
      return line.kind === "steps" && room ? [path, dots()] : [path];
    });
    const marks = (panel.marks ?? []).filter(({ key }) => !this.hidden.has(key)).flatMap((mark) => this.drawMarks(mark, panel, up, height));
    return [
      svg("path", { class: "gridline", d: values.map((value) => `M${this.left} ${tenth(up(value))}H${right}`).join("") }),
      ...values.map((value) => svg("text", { x: this.left - 6, y: tenth(Math.max(9, up(value) + 4)), "text-anchor": "end" }, tickText(value, values.step))),
      svg("clipPath", { id: clip }, svg("rect", { x: this.left, y: -2, width: this.columns, height: height + 4 })),
      svg("g", { "clip-path": `url(#${clip})` }, ...drawn, ...marks),
      ...told,
    ];
  }

  /** Triangles where a count grows, on the line they belong to. */
  drawMarks(mark, panel, up, height) {
    const { x, by } = mark.data.rises(...this.view, Math.round(this.columns / 2));
    this.drawn.push({ panel: panel.title, key: mark.key, kind: "mark", x, by });
    const d = x.map((time) => {
      const value = mark.on?.data.at(time);
      const top = value === null || value === undefined ? height : Math.max(9, up(value * (mark.on.scale ?? 1)));
      return `M${tenth(this.across(time))} ${tenth(top)}l-3.5 -7h7z`;
    }).join("");
    return [svg("path", { class: "mark", d, style: `fill:${paint(mark.colour)}`, "data-line": mark.key })];
  }

  drawLanes(panel, small) {
    const each = laneHeight(small);
    return panel.lanes.flatMap((lane, i) => {
      const top = 3 + i * each + (small ? 13 : 0);
      const label = svg("text", small ? { x: this.left + 3, y: top - 2 } : { x: this.left - 6, y: top + 11, "text-anchor": "end" }, lane.name);
      return [label, ...this.drawLane(lane, top + 2, LANE_HEIGHT - 5, panel)];
    });
  }

  drawLane(lane, top, height, panel) {
    const said = (text) => [svg("text", { class: "untold", x: this.left + this.columns / 2, y: top + 9, "text-anchor": "middle" }, text)];
    if (lane.kind === "none") return said(lane.note);
    // What was told and never happened is not the same as what was not told.
    if (lane.data.values.every((value) => (lane.kind === "spans" ? !lane.colours[value] : value === 0))) return said("none");
    if (lane.kind === "spans") {
      const spans = lane.data.spans(...this.view, Math.round(this.columns / 2));
      this.drawn.push({ panel: panel.title, key: lane.key, kind: "spans", spans, names: lane.names });
      return this.boxes(spans, lane.colours, top, height, "lane");
    }
    const { x, by } = lane.data.rises(...this.view, this.columns);
    this.drawn.push({ panel: panel.title, key: lane.key, kind: "ticks", x, by });
    const style = `stroke:${paint(lane.colour)}`;
    const [from, to] = (lane.extent ?? []).map((time) => tenth(Math.min(Math.max(this.across(time), this.left), this.left + this.columns)));
    const extent = to > from ? [svg("path", { class: "ticks", d: `M${from} ${top + height / 2}H${to}`, style, opacity: 0.45 })] : [];
    const gaps = lane.foot?.data.spans(...this.view, Math.round(this.columns / 2)) ?? [];
    if (lane.foot) this.drawn.push({ panel: panel.title, key: `${lane.key} ${lane.foot.key}`, kind: "spans", spans: gaps, names: lane.foot.names });
    const strokes = svg("path", { class: "ticks", d: x.map((time) => `M${tenth(this.across(time))} ${top}v${height}`).join(""), style, "data-line": lane.key });
    // At the foot of the lane, where no number of ticks hides them.
    return [...extent, strokes, ...this.boxes(gaps, lane.foot?.colours, top + height - FOOT, FOOT, "lane")];
  }

  /** The text of what `line` is at a time. */
  valueAt(line, time) {
    const digits = line.digits ?? 1;
    if (line.kind !== "rate") {
      const value = line.data.at(time);
      return value === null ? "–" : (value * (line.scale ?? 1)).toFixed(digits);
    }
    const width = line.bin(this.view[1] - this.view[0]);
    const begin = Math.floor(time / width) * width;
    const { y } = line.data.rate(begin, Math.min(begin + width, line.end ?? Infinity), width, line.scale ?? 1);
    return y.length ? y[y.length - 1].toFixed(digits) : "–";
  }

  /** Texts of a panel's lines and lanes at a time: key, name, text. */
  valuesAt(panel, time) {
    const unit = panel.unit ? ` ${panel.unit}` : "";
    const lines = (panel.lines ?? []).filter(({ key }) => !this.hidden.has(key)).map((line) => ({ key: line.key, name: line.name, text: `${this.valueAt(line, time)}${unit}` }));
    const counts = (panel.marks ?? []).map(({ key, name, data }) => ({ key, name, text: `${grouped.format(data.at(time) ?? 0)} so far` }));
    return [...lines, ...counts];
  }

  /** Shows the values at a time, or none. */
  showCursor(time = this.cursor) {
    const moved = time !== this.cursor;
    this.cursor = time;
    const inside = time !== null && time >= this.view[0] && time <= this.view[1];
    this.holder.classList.toggle("read", inside);
    for (const place of this.panels) {
      if (!place.line) continue;
      const { panel, line, values, height, now } = place;
      const x = inside ? tenth(this.across(time)) : 0;
      line.setAttribute("d", inside ? `M${x} 0V${height}` : "");
      const texts = new Map(inside ? this.valuesAt(panel, time).map(({ key, text }) => [key, text]) : []);
      values.forEach((element, key) => { element.textContent = texts.get(key) ?? ""; });
      if (!now) continue;
      now.textContent = inside ? `${time.toFixed(timeDigits(this.view[1] - this.view[0]))} s${this.laneText(time)}` : "";
      const half = now.textContent.length * 3.2;
      now.setAttribute("x", Math.min(Math.max(x, this.left + half), this.left + this.columns - half));
    }
    if (moved) this.holder.dispatchEvent(new Event("read"));
  }

  /** Marks times in every panel. */
  showPicked(times = this.picked) {
    this.picked = times;
    const inside = times.filter((time) => time >= this.view[0] && time <= this.view[1]);
    const marks = (height) => inside.map((time) => `M${tenth(this.across(time))} 0V${height}`).join("");
    for (const { panel, picked, height } of this.panels) picked?.setAttribute("d", panel.pick ? panel.pick(this, height) : marks(height));
  }

  /** Shows as much time as now, `time` in the middle, unless it is in view. */
  reveal(time) {
    const [from, to] = this.view;
    if (time < from || time > to) this.show(time - (to - from) / 2, time + (to - from) / 2);
  }

  /** What the lanes say at a time. */
  laneText(time) {
    const lanes = this.spec.panels.flatMap((panel) => panel.lanes ?? []).filter(({ kind, names }) => kind === "spans" && names);
    const words = lanes.map(({ data, names }) => names[data.at(time)]).filter(Boolean);
    return words.length ? ` · ${words.join(", ")}` : "";
  }

  /** Shows the times from `from` to `to`, moved to where there are any. */
  show(from, to) {
    const [first, last] = this.spec.whole;
    const span = Math.min(Math.max(to - from, 1e-7), last - first);
    const begin = Math.min(Math.max(from, first), last - span);
    if (begin === this.view[0] && begin + span === this.view[1]) return;
    this.view = [begin, span === last - first ? last : begin + span];
    this.stale = true;
    this.drawSoon();
    this.holder.dispatchEvent(new Event("ranged"));
  }

  showAll() { this.show(...this.spec.whole); }

  /** Moves by a share of the span and changes the span, about the middle or `about`. */
  change(move, zoom, about = null) {
    const [from, to] = this.view;
    const span = (to - from) * zoom;
    const middle = about === null ? (from + to) / 2 + move * (to - from) : about + ((from + to) / 2 - about) * zoom;
    this.show(middle - span / 2, middle + span / 2);
  }
}
