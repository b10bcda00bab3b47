// Figures as files: pictures, and the numbers that are drawn.

/** Letters of a file's name, pixels of a bitmap's side, and lines of a table, at most. */
const NAME_LENGTH = 80;
const MOST_PIXELS = 8192;
const MOST_LINES = 500_000;

/** Offers a text or a Blob as a file. */
function offer(name, content, type) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** What files of a figure are called: after what it shows. */
const fileName = ({ spec: { file } }) => (file ?? "figure").replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[.-]+|-+$/g, "").slice(0, NAME_LENGTH) || "figure";

/** A figure with its legends as SVG, in the colours of the moment: its text, width and height. */
function pictureOf(figure) {
  const colours = theme.colours();
  const copy = svg("svg", { "font-family": "system-ui, sans-serif", "font-size": 11 });
  let top = 4;
  for (const { panel, picture, height, head } of figure.panels) {
    const title = svg("text", { x: figure.left, y: top + 12, "font-weight": 600 }, panel.title);
    let x = figure.left + panel.title.length * 7 + 20;
    const entries = [...head.querySelectorAll("li")].flatMap((entry) => {
      const name = entry.querySelector(".name")?.textContent ?? entry.textContent;
      const mark = entry.querySelector("svg").cloneNode(true);
      mark.setAttribute("x", x);
      mark.setAttribute("y", top + 2);
      const text = svg("text", { x: x + 21, y: top + 12 }, name);
      x += 36 + name.length * 6;
      return [mark, text];
    });
    const body = svg("g", { transform: `translate(0 ${top + 20})` }, ...[...picture.childNodes].map((node) => node.cloneNode(true)));
    copy.append(title, ...entries, body);
    top += 24 + height + (picture === figure.panels.at(-1).picture ? AXIS_HEIGHT : 4);
  }
  const width = Number(figure.panels[0].picture.getAttribute("width"));
  copy.setAttribute("viewBox", `0 0 ${width} ${top}`);
  copy.setAttribute("width", width);
  copy.setAttribute("height", top);
  copy.prepend(svg("style", {}, `text{fill:${colours["ink-soft"]}}.line,.gridline,.frame,.ticks{fill:none}.gridline{stroke:${colours.rule}}.frame{stroke:${colours["ink-faint"]}}` +
    ".dots{stroke-linecap:round;stroke-linejoin:round}.tint{opacity:.1}.lane{opacity:.75}.picked{fill:none;stroke:${colours.ink}}.cursor,.selection,.now{display:none}"),
  svg("rect", { width, height: top, fill: colours.paper }));
  const text = new XMLSerializer().serializeToString(copy).replace(/var\(--([a-z0-9-]+)\)/g, (_, name) => colours[name]);
  return { text, width, height: top };
}

const savePicture = (figure) => offer(`${fileName(figure)}.svg`, pictureOf(figure).text, "image/svg+xml");

/** Offers a figure as PNG, two pixels for each of the screen's. */
async function saveBitmap(figure) {
  const { text, width, height } = pictureOf(figure);
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const picture = new Image();
    picture.src = address;
    await picture.decode();
    const scale = Math.min(2, MOST_PIXELS / Math.max(width, height));
    const canvas = Object.assign(document.createElement("canvas"), { width: Math.round(width * scale), height: Math.round(height * scale) });
    canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
    offer(`${fileName(figure)}.png`, await new Promise((resume) => { canvas.toBlob(resume, "image/png"); }));
  } catch (error) {
    announce(`The figure cannot be saved as PNG: ${error.message}`);
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** A field of CSV (RFC 4180 §2). What a trace names may not be a formula in a spreadsheet. */
function csvField(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "";
  if (typeof value === "number") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** What a figure draws of the times shown, as CSV: a line a point, or a span from one time to another. */
function figureTable(figure) {
  const [from, to] = figure.view;
  const time = (value) => Number(value.toFixed(9));
  const lines = [];
  const put = (...fields) => { if (lines.length < MOST_LINES) lines.push(fields.map(csvField).join(",")); };
  for (const { panel: title, key, name, kind, x, y, by, spans, names } of figure.drawn) {
    const panel = figure.spec.panels.find((each) => each.title === title);
    const line = name ?? [...panel.lanes ?? [], ...panel.marks ?? []].find((each) => each.key === key)?.name ?? key;
    if (spans) {
      for (const [value, begin, end] of spans) if (value >= 0) put(title, line, "", time(Math.max(begin, from)), time(Math.min(end, to)), names?.[value] || value);
    } else if (kind === "mark" || kind === "ticks") {
      x.forEach((at, i) => put(title, line, "", time(at), "", by[i]));
    } else if (x) {
      x.forEach((at, i) => {
        // The value that holds when the times shown begin has begun before.
        const held = kind === "steps" && at < from && x[i + 1] > from;
        if ((at >= from && at <= to) || held) put(title, line, panel.unit ?? "", time(Math.max(at, from)), "", y[i]);
      });
    }
  }
  for (const { title, rows } of figure.spec.panels) for (const [line, begin, end, value] of rows?.(figure) ?? []) put(title, line, "", time(begin), time(end), value);
  return `panel,line,unit,time_s,until_s,value\n${lines.map((line) => `${line}\n`).join("")}`;
}
