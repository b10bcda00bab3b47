// Axes and paths of figures, in SVG whose colours are the page's custom properties: a change
// of theme needs no drawing, and paper gets lines, not pixels.

const SVG_NAMESPACE = Object.assign(document.createElement("template"), { innerHTML: "<svg></svg>" }).content.firstChild.namespaceURI;

/** An element of SVG with attributes and children. */
function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(SVG_NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null && value !== undefined) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

/** CSS pixels that fit between the margins of A4 and of US letter. */
const PRINT_WIDTH = 680;

/** Dashes of lines, by name. */
const DASHES = { solid: null, dash: "6 4", dot: "1.5 3.5", dashdot: "7 3 1.5 3" };

/** A colour: a property of the page (`line-1`) or any of CSS. */
const paint = (colour) => (/^[a-z]+(-[a-z0-9]+)*$/.test(colour) && theme.properties.includes(colour) ? `var(--${colour})` : colour);

/** What is told of the page's figures all at once. */
const figures = {
  all: [],
  printing: false,
  observer: null,

  /** Draws `figure` when its element comes near the window, and again when its width changes. */
  add(figure) {
    figures.all.push(figure);
    figure.stale = true;
    if (figures.observer) figures.watch(figure);
    return figure;
  },

  remove(figure) {
    figures.all = figures.all.filter((other) => other !== figure);
    figures.observer?.unobserve(figure.holder);
    figures.resizes?.unobserve(figure.holder);
  },

  watch(figure) {
    figures.observer.observe(figure.holder);
    figures.resizes.observe(figure.holder);
  },

  of: (element) => figures.all.find(({ holder }) => holder === element),

  drawAll: () => figures.all.filter(({ stale }) => stale).forEach((figure) => figure.draw()),

  start() {
    figures.observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const figure = figures.of(target);
        if (!figure) continue;
        figure.near = isIntersecting;
        if (figure.near && figure.stale) figure.draw();
      }
    }, { rootMargin: "400px 0px" });
    figures.resizes = new ResizeObserver((entries) => {
      for (const { target } of entries) {
        const figure = figures.of(target);
        if (!figure || figures.printing || figure.width === target.clientWidth) continue;
        figure.stale = true;
        if (figure.near) figure.draw();
      }
    });
    figures.all.forEach(figures.watch);
  },
};

/** Paper has a width of its own, and shows every figure. */
addEventListener("beforeprint", () => {
  figures.printing = true;
  figures.all.forEach((figure) => { figure.stale = true; });
  figures.drawAll();
});
addEventListener("afterprint", () => {
  figures.printing = false;
  figures.all.forEach((figure) => { figure.stale = true; if (figure.near) figure.draw(); });
});

/** Whether paper is small: axes are labelled more tightly then. */
const narrow = (width) => width < 560;

/** Round values from `low` to `high`, about `count` of them. */
function ticks(low, high, count) {
  if (!(high > low)) return [low];
  const least = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * [1, 2, 2.5, 5, 10].find((factor) => factor * power >= least * (1 - 1e-9));
  const values = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1) values.push(i * step);
  values.step = step;
  return values;
}

/** The text of a tick among others `step` apart. */
function tickText(value, step = Math.abs(value) || 1) {
  const power = -Math.floor(Math.log10(step) + 1e-9);
  const decimals = Math.min(9, Math.max(0, Math.abs(step * 10 ** power - 2.5) < 1e-6 ? power + 1 : power));
  // To make a format takes longer than all else of a tick.
  tickFormats[decimals] ??= new Intl.NumberFormat("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return tickFormats[decimals].format(Math.abs(value) < step * 1e-6 ? 0 : value);
}

/** Formats of numbers, by their decimals. */
const tickFormats = [];

/** Powers of ten from `low` to `high`, with 2 and 5 where those are few. */
function logTicks(low, high) {
  const values = [];
  const factors = Math.log10(high / low) < 3 ? [1, 2, 5] : [1];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
    for (const factor of factors) if (factor * 10 ** power >= low * 0.999 && factor * 10 ** power <= high * 1.001) values.push(factor * 10 ** power);
  }
  return values;
}

/** The least and the largest of numbers, nulls and NaN left out; null of none. */
function extent(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value === null || Number.isNaN(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : null;
}

/** Values so many times all others are wild, if they hold for less than this share of the time. */
const WILD = 10;
const FEW = 0.005;

/** The largest value of `[value, share of the time]` pairs that is not wild; Infinity where none is. */
function tameHigh(pairs) {
  const [, largest] = extent(pairs.map(([value]) => value)) ?? [0, 0];
  // Nearly always enough is near the largest, and nothing need be sorted.
  if (pairs.reduce((sum, [value, time]) => (value * WILD >= largest ? sum + time : sum), 0) > FEW) return Infinity;
  const sorted = pairs.filter(([value]) => value !== null && !Number.isNaN(value)).sort(([one], [other]) => other - one);
  let share = 0;
  const most = sorted.find(([, time]) => { share += time; return share > FEW; });
  return sorted.length >= 40 && most && most[0] > 0 && sorted[0][0] > WILD * most[0] ? most[0] : Infinity;
}

/** The range of a vertical axis over `low` to `high`: from 0 where `zero` says so ("auto": where that costs little). */
function padded([low, high], zero) {
  const whole = zero === true || (zero === "auto" && low >= 0 && low <= 0.3 * high);
  if (whole && low >= 0) return [0, high > 0 ? high * 1.06 : 1];
  const room = (high - low || Math.abs(high) || 1) * 0.08;
  return [low >= 0 && low - room < 0 ? 0 : low - room, high + room];
}

const tenth = (pixels) => Math.round(pixels * 10) / 10;

/** A path through points; `steps`: each value holds until the next, `dense`: the points of a pixel's column are one stroke. Missing values are gaps. */
function linePath(x, y, across, up, steps, dense = false) {
  let path = "";
  let open = false;
  let [before, height] = [0, 0];
  for (let i = 0; i < x.length; i += 1) {
    const value = y[i];
    if (value === null || Number.isNaN(value)) { open = false; continue; }
    const left = dense ? Math.round(across(x[i])) : tenth(across(x[i]));
    const top = tenth(up(value));
    // A value that holds goes on in the next step.
    if (open && steps && top === height && y[i + 1] >= -Infinity) continue;
    path += !open ? `M${left} ${top}` : !steps ? `L${left} ${top}` : left === before ? `V${top}` : `H${left}V${top}`;
    [open, before, height] = [true, left, top];
  }
  return path;
}

/** A path of dots for a line with round ends; those of one pixel column are joined if they stand for more. */
function dotPath(x, y, across, up, joined) {
  let path = "";
  let before = -Infinity;
  for (let i = 0; i < x.length; i += 1) {
    const value = y[i];
    if (value === null || Number.isNaN(value)) continue;
    const [left, top] = [tenth(across(x[i])), tenth(up(value))];
    path += joined && left - before < 1 ? `L${left} ${top}` : `M${left} ${top}h0`;
    before = left;
  }
  return path;
}

/** What stands for a line in a legend, drawn as the line is. */
function sample({ colour, dash, kind }) {
  const shape = kind === "mark" ? svg("path", { d: "M8 9L4 2H12Z", style: `fill:${paint(colour)}` })
    : kind === "samples" ? svg("path", { d: "M3 6h0M9 4h0M14 7h0", style: `stroke:${paint(colour)}`, "stroke-width": 3.4, "stroke-linecap": "round" })
      : kind === "patch" ? svg("rect", { x: 1, y: 1, width: 15, height: 9, rx: 2, style: `fill:${paint(colour)}` })
        : svg("path", { d: "M0 5.5H17", style: `stroke:${paint(colour)}`, "stroke-width": 2.4, "stroke-dasharray": DASHES[dash ?? "solid"], fill: "none" });
  return svg("svg", { class: "sample", width: 17, height: 11, viewBox: "0 0 17 11", "aria-hidden": "true" }, shape);
}
