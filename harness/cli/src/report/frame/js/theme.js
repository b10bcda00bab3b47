// Light and dark: the system's choice until the reader makes one.

const SLOTS = 8;
const lineColour = (slot) => `line-${(slot % SLOTS) + 1}`;

const theme = {
  choices: ["auto", "light", "dark"],
  properties: ["paper", "raised", "ink", "ink-soft", "ink-faint", "rule", "accent", "loss", ...Array.from({ length: SLOTS }, (_, i) => `line-${i + 1}`)],
  choice: "auto",

  apply(choice) {
    theme.choice = choice;
    if (choice === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
    const button = document.getElementById("theme");
    button.textContent = { auto: "◐ Auto", light: "☀ Light", dark: "☾ Dark" }[choice];
    button.setAttribute("aria-label", `Colour theme: ${choice}. Press to change`);
  },

  /** The computed colours, by the names of their properties: for pictures that leave the page. */
  colours() {
    const probes = theme.properties.map((name) => el("span", { style: `color: var(--${name})` }));
    const holder = el("div", { hidden: true }, ...probes);
    document.body.append(holder);
    const colours = Object.fromEntries(probes.map((probe, i) => [theme.properties[i], getComputedStyle(probe).color]));
    holder.remove();
    return colours;
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
  },
};
