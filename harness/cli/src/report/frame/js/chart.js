// Charts over any axis: points with names (maps), lines with intervals, rows of differences.
// What is under the pointer is told above the chart, so that nothing covers a point.
//
// A chart is told by plain data:
//   { label, height, x: axis, y: axis, series: [series, …], hint }
//   axis:   { title, zero, log, rows: names (for y only), line: a value to mark }
//   series: { name, colour, kind: "dots" | "line" | "both", points: [point, …] }
//   point:  { x, y, low, high (of y), left, right (of x), text, label, symbol, size, colour }

const SYMBOLS = {
  circle: (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0Z`,
  diamond: (r) => `M0 ${-1.3 * r}L${1.3 * r} 0L0 ${1.3 * r}L${-1.3 * r} 0Z`,
  square: (r) => `M${-r} ${-r}H${r}V${r}H${-r}Z`,
  triangle: (r) => `M0 ${-1.2 * r}L${1.2 * r} ${r}H${-1.2 * r}Z`,
};

class Chart {
  /** A chart in `holder` of what `spec()` tells, drawn when it comes into view. */
  constructor(holder, spec) {
    this.holder = holder;
    this.told = spec;
    this.chosen = -1;
    this.readout = el("p", { class: "readout", "aria-hidden": "true" });
    this.legend = el("ul", { class: "legend" });
    this.picture = svg("svg", { class: "panel-picture", "aria-hidden": "true" });
    this.body = el("div", { class: "panels" }, el("div", { class: "panel-head" }, this.readout, this.legend), this.picture);
    holder.append(this.body);
    this.picture.addEventListener("pointermove", (event) => this.choose(this.nearest(event)));
    this.picture.addEventListener("pointerdown", (event) => this.choose(this.nearest(event)));
    this.picture.addEventListener("pointerleave", () => this.choose(-1));
    holder.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (!step || !this.places?.length || event.target !== holder) return;
      event.preventDefault();
      this.choose((this.chosen + step + this.places.length) % this.places.length);
      announce(this.readout.textContent);
    });
    figures.add(this);
    holder.figure = this;
  }

  refresh() {
    this.stale = true;
    if (this.near || figures.printing) this.draw();
  }

  draw() {
    this.stale = false;
    const spec = this.told();
    this.spec = spec;
    this.width = this.holder.clientWidth || PRINT_WIDTH;
    const width = figures.printing ? Math.min(this.width, PRINT_WIDTH) : this.width;
    const small = narrow(width);
    const points = spec.series.flatMap((series) => series.points.map((point) => ({ colour: series.colour, name: series.name, ...point })));
    const rows = spec.y.rows;
    const left = rows ? Math.min(width * 0.32, 14 + 6.6 * Math.max(...rows.map((row) => row.length))) : 58;
    const height = rows ? 20 + rows.length * (spec.rowHeight ?? 34) : spec.height ?? (small ? 260 : 340);
    const [bottom, right] = [height, width - 14];
    const [x, y] = [this.axis(spec.x, points.flatMap((point) => [point.x, point.left, point.right])), rows ? null : this.axis(spec.y, points.flatMap((point) => [point.y, point.low, point.high]))];
    const across = (value) => left + (right - left) * x.share(value);
    const up = rows ? (value) => 10 + (value + 0.5) * (bottom - 20) / rows.length : (value) => 6 + (bottom - 6) * (1 - y.share(value));
    const [columns, lines] = [x.ticks(Math.max(3, (right - left) / 90)), rows ? [] : y.ticks(5)];
    const parts = [
      svg("path", { class: "gridline", d: columns.map((value) => `M${tenth(across(value))} 4V${bottom}`).join("") + lines.map((value) => `M${left} ${tenth(up(value))}H${right}`).join("") }),
      svg("path", { class: "frame", d: `M${left} 4V${bottom}H${right}` }),
      ...columns.map((value) => svg("text", { x: tenth(across(value)), y: bottom + 15, "text-anchor": "middle" }, x.text(value, columns.step))),
      ...lines.map((value) => svg("text", { x: left - 6, y: tenth(up(value) + 4), "text-anchor": "end" }, y.text(value, lines.step))),
      ...(rows ?? []).map((row, i) => svg("text", { x: left - 8, y: tenth(up(i) + 4), "text-anchor": "end" }, row)),
      svg("text", { class: "axis-title", x: (left + right) / 2, y: bottom + 33, "text-anchor": "middle" }, spec.x.title),
      ...(rows || !spec.y.title ? [] : [svg("text", { class: "axis-title", x: 12, y: bottom / 2, transform: `rotate(-90 12 ${bottom / 2})`, "text-anchor": "middle" }, spec.y.title)]),
      ...(spec.x.line === undefined ? [] : [svg("path", { class: "frame", d: `M${tenth(across(spec.x.line))} 4V${bottom}` })]),
    ];
    for (const series of spec.series.filter(({ kind }) => kind === "line" || kind === "both")) {
      parts.push(svg("path", { class: "line", d: linePath(series.points.map((point) => point.x), series.points.map((point) => point.y), across, up, false), style: `stroke:${paint(series.colour)}`, "stroke-width": 1.6, "stroke-dasharray": DASHES[series.dash ?? "solid"] }));
    }
    const bar = (a, b, colour) => svg("path", { class: "line", d: `M${a.map(tenth).join(" ")}L${b.map(tenth).join(" ")}`, style: `stroke:${paint(colour)}`, "stroke-width": 1.6 });
    const bars = points.flatMap((point) => [
      ...(typeof point.low === "number" && typeof point.high === "number" ? [bar([across(point.x), up(point.low)], [across(point.x), up(point.high)], point.colour)] : []),
      ...(typeof point.left === "number" && typeof point.right === "number" ? [bar([across(point.left), up(point.y)], [across(point.right), up(point.y)], point.colour)] : []),
    ]);
    this.places = spec.series.filter(({ kind }) => kind !== "line").flatMap((series) => series.points.map((point) =>
      ({ colour: series.colour, name: series.name, ...point, px: across(point.x), py: up(point.y) }))).filter(({ px, py }) => Number.isFinite(px) && Number.isFinite(py));
    const dots = this.places.map((place) => svg("path", {
      class: "dot", d: SYMBOLS[place.symbol ?? "circle"](place.size ?? 4.5), transform: `translate(${tenth(place.px)} ${tenth(place.py)})`,
      style: place.hollow ? `fill:var(--paper);stroke:${paint(place.colour)};stroke-width:1.8` : `fill:${paint(place.colour)}`, "data-label": place.label ?? null,
    }));
    this.labels = placedLabels(this.places, { left: left + 2, right, top: 4, bottom });
    const texts = this.labels.flatMap(({ place, x: at, y: top, anchor, leader }) => [
      ...(leader ? [svg("path", { class: "leader", d: `M${tenth(place.px)} ${tenth(place.py)}L${tenth(leader[0])} ${tenth(leader[1])}` })] : []),
      svg("text", { class: "point-label", x: tenth(at), y: tenth(top), "text-anchor": anchor, style: `fill:${paint(place.colour)}` }, place.label),
    ]);
    this.ring = svg("circle", { class: "ring", r: 0 });
    const whole = bottom + 40;
    setSize(this.picture, width, whole);
    this.picture.replaceChildren(...parts, ...bars, ...dots, ...texts, this.ring);
    this.legend.replaceChildren(...spec.series.filter(({ name }) => name).map((series) =>
      el("li", {}, sample({ colour: series.colour, dash: series.dash, kind: series.kind === "dots" ? "samples" : "line" }), series.name)));
    this.choose(-1);
    this.holder.dispatchEvent(new Event("drawn"));
  }

  /** Shares of an axis, its ticks and their texts. */
  axis({ log, zero, line }, values) {
    const known = [...values, line].filter((value) => typeof value === "number" && Number.isFinite(value) && (!log || value > 0));
    const [least, most] = extent(known) ?? [log ? 1 : 0, 1];
    if (log) {
      const [from, to] = [Math.log10(least) - 0.06 * Math.log10(most / least || 10) - 0.02, Math.log10(most) + 0.06 * Math.log10(most / least || 10) + 0.02];
      return { share: (value) => (Math.log10(value) - from) / (to - from), ticks: () => logTicks(10 ** from, 10 ** to), text: (value) => tickText(value) };
    }
    const [low, high] = zero === false ? [least - 0.06 * (most - least || 1), most + 0.06 * (most - least || 1)] : padded([least, most], zero ?? "auto");
    return { share: (value) => (value - low) / (high - low), ticks: (count) => ticks(low, high, Math.min(10, count)), text: tickText };
  }

  /** The point nearest to the pointer, within reach; -1 if none is. */
  nearest(event) {
    const box = this.picture.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [best, reach] = [-1, 28 ** 2];
    (this.places ?? []).forEach((place, i) => {
      const distance = (place.px - x) ** 2 + (place.py - y) ** 2;
      if (distance < reach) [best, reach] = [i, distance];
    });
    return best;
  }

  choose(index) {
    this.chosen = index;
    const place = this.places?.[index];
    this.readout.textContent = place ? place.text : this.spec?.hint ?? "";
    this.readout.classList.toggle("idle", !place);
    this.ring?.setAttribute("r", place ? (place.size ?? 4.5) + 4 : 0);
    if (place) { this.ring.setAttribute("cx", place.px); this.ring.setAttribute("cy", place.py); }
  }
}

/** Where the names of points go: beside their own, on no other point and no other name. */
function placedLabels(places, area) {
  const named = places.filter(({ label }) => label);
  const [HEIGHT, LETTER] = [13, 6.4];
  const dots = places.map(({ px, py, size = 4.5 }) => ({ left: px - size, right: px + size, top: py - size, bottom: py + size }));
  const taken = [];
  const over = (a, b) => Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left)) * Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));
  const gap = ({ px, py }, box) => Math.hypot(Math.max(box.left - px, 0, px - box.right), Math.max(box.top - py, 0, py - box.bottom));
  /** Whether a name at `box` might be taken for that of another point. */
  const others = (place, box) => named.some((other) => other !== place && gap(other, box) <= gap(place, box));
  const outside = (box) => Math.max(0, area.left - box.left) + Math.max(0, box.right - area.right) + Math.max(0, area.top - box.top) + Math.max(0, box.bottom - area.bottom);
  return named.map((place) => {
    const width = place.label.length * LETTER + 2;
    let best = null;
    for (const distance of [8, 18, 32, 50, 70]) {
      for (let turn = 0; turn < 12; turn += 1) {
        const angle = turn * Math.PI / 6;
        const [dx, dy] = [Math.cos(angle) * distance, Math.sin(angle) * distance];
        const middle = Math.abs(dx) < distance * 0.3;
        const left = middle ? place.px + dx - width / 2 : dx > 0 ? place.px + dx : place.px + dx - width;
        const box = { left, right: left + width, top: place.py + dy - HEIGHT / 2, bottom: place.py + dy + HEIGHT / 2 };
        const cost = taken.reduce((sum, other) => sum + (over(box, other) && 800 + over(box, other)), 0) + 2 * dots.reduce((sum, dot) => sum + over(box, dot), 0)
          + 40 * outside(box) + (others(place, box) ? 400 : 0) + distance * 1.5 + (dx > 0 && Math.abs(dy) < 1 ? 0 : 2);
        if (!best || cost < best.cost) best = { cost, box, middle, dx, distance };
      }
    }
    const { box, distance } = best;
    taken.push(box);
    const near = [Math.min(Math.max(place.px, box.left), box.right), Math.min(Math.max(place.py, box.top), box.bottom)];
    return { place, box, x: box.left + 1, y: box.bottom - 3, anchor: "start", leader: distance > 20 || others(place, box) ? near : null };
  });
}

/** Bars in rows, a group of them for each name; `groups`: [name, [{ name, colour, value, half, text }, …]]. */
function barList(label, groups) {
  const most = Math.max(...groups.flatMap(([, bars]) => bars.map(({ value, half }) => value + (half ?? 0))), 1e-300);
  const bar = ({ name, colour, value, half, text }) => {
    const fill = el("span", { class: "fill" });
    fill.style.width = `${Math.max(0, 100 * value / most)}%`;
    fill.style.background = paint(colour);
    const whisker = el("span", { class: "whisker" });
    whisker.style.left = `${Math.max(0, 100 * (value - (half ?? 0)) / most)}%`;
    whisker.style.width = `${200 * (half ?? 0) / most}%`;
    return el("div", { class: "bar-row" }, el("span", { class: "bar-name" }, name), el("span", { class: "track" }, fill, ...(half ? [whisker] : [])), el("span", { class: "bar-value" }, text));
  };
  return el("div", { class: "bars", role: "img", "aria-label": `${label}. The table above holds the numbers.` },
    ...groups.map(([name, bars]) => el("div", { class: "bar-group" }, el("strong", {}, name), ...bars.map(bar))));
}
