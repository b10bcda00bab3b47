// Light and dark: the system's choice until the reader makes one.

const SLOTS = 8;
const lineColour = (slot) => theme.colours[`line-${(slot % SLOTS) + 1}`];

const theme = {
  choices: ["auto", "light", "dark"],
  properties: ["paper", "raised", "ink", "ink-soft", "ink-faint", "rule", ...Array.from({ length: SLOTS }, (_, i) => `line-${i + 1}`)],
  listeners: [],
  choice: "auto",
  /** The colours in force, by the names of their custom properties. */
  colours: {},

  apply(choice) {
    theme.choice = choice;
    if (choice === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
    const button = document.getElementById("theme");
    button.textContent = { auto: "◐ Auto", light: "☀ Light", dark: "☾ Dark" }[choice];
    button.setAttribute("aria-label", `Colour theme: ${choice}. Press to change`);
    theme.read();
    theme.listeners.forEach((listener) => listener());
  },

  /** Reads the computed colours, which plots and legends are drawn with. */
  read() {
    const probes = theme.properties.map((name) => el("span", { style: `color: var(--${name})` }));
    const holder = el("div", { hidden: true }, ...probes);
    document.body.append(holder);
    probes.forEach((probe, i) => { theme.colours[theme.properties[i]] = getComputedStyle(probe).color; });
    holder.remove();
  },

  start() {
    const store = (use) => { try { return use(localStorage); } catch { return null; } };
    const saved = store((storage) => storage.getItem("windlass-theme"));
    theme.apply(theme.choices.includes(saved) ? saved : "auto");
    document.getElementById("theme").addEventListener("click", () => {
      const next = theme.choices[(theme.choices.indexOf(theme.choice) + 1) % theme.choices.length];
      store((storage) => storage.setItem("windlass-theme", next));
      theme.apply(next);
      announce(`Colour theme: ${next}`);
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => theme.apply(theme.choice));
  },
};
