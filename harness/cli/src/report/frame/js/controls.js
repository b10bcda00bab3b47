// How figures are moved: pointer, fingers, keys, fields and buttons.

Object.assign(Figure.prototype, {
  listen() {
    const { body, holder } = this;
    const fingers = new Map();
    let from = null;
    // Where the figure is held, and the times that were shown then.
    let held = null;
    // Where a pointer went down: it may go up there again.
    let pressed = null;
    const at = (event) => event.clientX - body.getBoundingClientRect().left;
    const onPicture = (event) => event.target.closest?.(".panel-picture");
    const select = (x) => {
      const [low, high] = from === null ? [0, 0] : [Math.max(Math.min(from, x), this.left), Math.min(Math.max(from, x), this.left + this.columns)];
      for (const { selection } of this.panels) { selection.setAttribute("x", low); selection.setAttribute("width", Math.max(0, high - low)); }
      return [low, high];
    };
    body.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !onPicture(event)) return;
      fingers.set(event.pointerId, at(event));
      const picture = onPicture(event);
      pressed = fingers.size > 1 ? null : {
        x: at(event), y: event.clientY - picture.getBoundingClientRect().top, panel: this.panels.find((place) => place.picture === picture)?.panel, line: event.target.dataset.line ?? null,
      };
      if (event.pointerType === "mouse") {
        if (event.shiftKey) held = { x: at(event), view: this.view };
        else from = at(event);
        body.setPointerCapture(event.pointerId);
      } else if (fingers.size === 1) {
        this.showCursor(this.time(at(event)));
      }
    });
    body.addEventListener("pointermove", (event) => {
      const x = at(event);
      if (fingers.size === 2 && fingers.has(event.pointerId)) return this.pinch(fingers, event.pointerId, x);
      if (held) {
        const moved = (held.x - x) / this.columns * (held.view[1] - held.view[0]);
        this.show(held.view[0] + moved, held.view[1] + moved);
      }
      if (from !== null) select(x);
      if (onPicture(event) || from !== null) this.showCursor(Math.min(Math.max(this.time(x), this.view[0]), this.view[1]));
      return undefined;
    });
    const end = (event) => {
      fingers.delete(event.pointerId);
      if (pressed && event.type === "pointerup" && Math.abs(at(event) - pressed.x) <= 5) holder.dispatchEvent(new CustomEvent("tapped", { detail: { ...pressed, time: this.time(pressed.x) } }));
      pressed = null;
      held = null;
      if (from === null) return;
      const [low, high] = select(at(event));
      from = null;
      select(0);
      if (event.type === "pointerup" && high - low > 5) this.show(this.time(low), this.time(high));
    };
    body.addEventListener("pointerup", end);
    body.addEventListener("pointercancel", end);
    body.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse" && from === null) this.showCursor(null); });
    // A captured pointer clicks the element that captured it.
    body.addEventListener("dblclick", (event) => { if (onPicture(event) || event.target === body) this.showAll(); });
    // A wheel alone scrolls the page; turned sideways, it moves the times.
    body.addEventListener("wheel", (event) => {
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (!(event.ctrlKey || event.metaKey || sideways) || !onPicture(event)) return;
      event.preventDefault();
      if (sideways) { this.change(event.deltaX / this.columns, 1); return; }
      this.change(0, Math.exp(Math.max(-1, Math.min(1, event.deltaY / 200))), this.time(at(event)));
    }, { passive: false });
    holder.addEventListener("keydown", (event) => this.press(event));
    holder.addEventListener("ranged", () => {
      const digits = timeDigits(this.view[1] - this.view[0]);
      announce(`Shown: ${this.view[0].toFixed(digits)} to ${this.view[1].toFixed(digits)} seconds`);
    });
  },

  /** Two fingers hold the times they touched. */
  pinch(fingers, moved, x) {
    const other = [...fingers.keys()].find((id) => id !== moved);
    const [before, still] = [fingers.get(moved), fingers.get(other)];
    fingers.set(moved, x);
    if (Math.abs(before - still) < 12 || Math.abs(x - still) < 12) return;
    const [held, pulled] = [this.time(still), this.time(before)];
    const perPixel = (pulled - held) / (x - still);
    if (!(perPixel > 0)) return;
    const from = held - (still - this.left) * perPixel;
    this.show(from, from + this.columns * perPixel);
  },

  press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== this.holder) return;
    const read = (step) => () => {
      const [from, to] = this.view;
      const now = this.cursor === null || this.cursor < from || this.cursor > to ? (from + to) / 2 : this.cursor + step * (to - from) / 40;
      this.showCursor(Math.min(Math.max(now, from), to));
      const values = this.spec.panels.flatMap((panel) => this.valuesAt(panel, this.cursor)).map(({ name, text }) => `${name} ${text}`);
      announce(`${this.cursor.toFixed(timeDigits(to - from))} s${this.laneText(this.cursor)}: ${values.join(", ")}`);
    };
    const keys = {
      ArrowLeft: event.shiftKey ? read(-1) : () => this.change(-0.25, 1), ArrowRight: event.shiftKey ? read(1) : () => this.change(0.25, 1),
      "+": () => this.change(0, 0.5), "=": () => this.change(0, 0.5), "-": () => this.change(0, 2), 0: () => this.showAll(), Home: () => this.showAll(),
      Escape: () => this.showCursor(null),
      Enter: () => { if (this.cursor !== null) this.holder.dispatchEvent(new CustomEvent("tapped", { detail: { line: null, time: this.cursor } })); },
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  },

  /** Fields with the times shown, and buttons that move and zoom as keys do. */
  controls() {
    const [first, last] = this.spec.whole;
    const field = (label, value) => el("input", { type: "number", min: first, step: "any", value, "aria-label": `${label}, seconds`, onchange: () => apply() });
    const [from, to] = [field("Plots from", first), field("Plots to", Number(last.toFixed(3)))];
    const apply = () => { if (Number(from.value) < Number(to.value)) this.show(Number(from.value), Number(to.value)); };
    const tell = () => {
      if (document.activeElement === from || document.activeElement === to) return;
      const digits = 10 ** Math.max(3, Math.ceil(4 - Math.log10(this.view[1] - this.view[0])));
      [from.value, to.value] = this.view.map((time) => Math.round(time * digits) / digits);
    };
    for (const event of ["ranged", "drawn"]) this.holder.addEventListener(event, tell);
    const button = (text, label, act) => el("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
    const wild = el("button", { type: "button", hidden: true, "aria-pressed": "false", title: "Whether axes reach to values that are many times all others", onclick: () => this.toggleWild() }, "Wild values");
    this.holder.addEventListener("toggled", () => wild.setAttribute("aria-pressed", String(this.wild)));
    this.holder.addEventListener("drawn", () => { wild.hidden = !this.beyond && !this.wild; });
    return el("span", { class: "range" }, "Time ", from, " to ", to, " s ",
      button("◀", "Earlier", () => this.change(-0.25, 1)), button("▶", "Later", () => this.change(0.25, 1)),
      button("+", "Zoom in", () => this.change(0, 0.5)), button("−", "Zoom out", () => this.change(0, 2)),
      el("button", { type: "button", onclick: () => this.showAll() }, "Whole run"), wild,
      button("SVG", "Save the figure as SVG", () => savePicture(this)), button("PNG", "Save the figure as PNG", () => saveBitmap(this)),
      button("CSV", "Save what is drawn as CSV", () => offer(`${fileName(this)}.csv`, figureTable(this), "text/csv")));
  },
});

/** A figure's element: focusable, with a name, and its words beside it. */
function figureHolder(label, caption) {
  return el("div", { class: "plot", role: "group", "aria-roledescription": "chart", tabindex: "0", "aria-describedby": caption,
    "aria-label": `${label}. Arrow keys move, plus and minus zoom, 0 shows all, Shift with an arrow key reads values.` });
}
