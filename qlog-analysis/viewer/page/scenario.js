// Scenarios: what the form says as a file (TOML), and back; as a part of a link.

/** The settings of a path: the key of the file, what stands in the form, and the default. */
const PATH = [
  { key: "rate_mbps", label: "Rate", unit: "Mbit/s", value: 20, min: 0.1, max: 10000 },
  { key: "rtt_ms", label: "Round trip", unit: "ms", value: 40, min: 0.1, max: 10000 },
  { key: "buffer_bdp", label: "Buffer", unit: "× rate × round trip", value: 1, min: 0.01, max: 1000 },
  { key: "loss_percent", label: "Random loss", unit: "%", value: 0, min: 0, max: 100 },
];
const QUEUES = { "drop-tail": "drop-tail", codel: "CoDel", l4s: "L4S step" };
const DEFAULT_SCENARIO = {
  duration_s: 60, path: Object.fromEntries(PATH.map(({ key, value }) => [key, value])), queue: "drop-tail",
  flows: [{ controller: "cubic", start_s: 0 }, { controller: "bbr", start_s: 0 }],
};

/** Names of flows: the controller's, numbered where there are several. */
function flowNames(flows) {
  const plain = (text) => text.replace(/[^a-z0-9+-]/gi, "-").replace(/-+/g, "-").replace(/-$/, "") || "flow";
  const names = flows.map(({ controller }) => plain(controller));
  return names.map((name, i) => (names.indexOf(name) === names.lastIndexOf(name) ? name : `${name}-${names.slice(0, i + 1).filter((other) => other === name).length}`));
}

/** The scenario file that the form stands for. */
function scenarioText({ duration_s: duration, path, queue, flows }) {
  const names = flowNames(flows);
  const lines = [`duration_s = ${duration}`, "", "[dumbbell]", ...PATH.filter(({ key }) => key !== "loss_percent" || path[key] !== 0).map(({ key }) => `${key} = ${path[key]}`)];
  if (queue !== "drop-tail") lines.push(`queue = "${queue}"`);
  flows.forEach(({ controller, start_s: start }, i) => {
    lines.push("", "[[flow]]", `name = ${JSON.stringify(names[i])}`, `controller = ${JSON.stringify(controller)}`);
    if (start) lines.push(`start_s = ${start}`);
  });
  return `${lines.join("\n")}\n`;
}

/** What the form has to say for `text`; null if only the file can say it. */
function formOf(text) {
  const state = { duration_s: null, path: { loss_percent: 0 }, queue: "drop-tail", flows: [] };
  for (const line of text.split("\n")) {
    const [, key, value] = /^(\w+) = (.*)$/.exec(line) ?? [];
    if (!key) {
      if (line === "[[flow]]") state.flows.push({ controller: "", start_s: 0 });
      continue;
    }
    const flow = state.flows.at(-1);
    if (flow && key === "start_s") flow.start_s = Number(value);
    else if (flow && key === "controller") { try { flow.controller = JSON.parse(value); } catch { return null; } }
    else if (!flow && key === "duration_s") state.duration_s = Number(value);
    else if (!flow && key === "queue") state.queue = value.replaceAll('"', "");
    else if (!flow && PATH.some((setting) => setting.key === key)) state.path[key] = Number(value);
  }
  return state.queue in QUEUES && scenarioText(state) === text ? state : null;
}

const SCENARIO_LINK = "#scenario=";

/** `text` compressed, in letters that a link may hold. */
async function linkOf(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return SCENARIO_LINK + base64.replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** Bytes of a scenario that a link carries at most. */
const MOST_SCENARIO_BYTES = 1 << 20;

/** The scenario that a link carries; null if it carries none, is broken or is too large. */
async function scenarioOf(hash) {
  if (!hash.startsWith(SCENARIO_LINK)) return null;
  try {
    const binary = atob(hash.slice(SCENARIO_LINK.length).replaceAll("-", "+").replaceAll("_", "/"));
    const stream = new Blob([Uint8Array.from(binary, (letter) => letter.charCodeAt(0))]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    const decoder = new TextDecoder();
    let [text, bytes] = ["", 0];
    for (const reader = stream.getReader(); ;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      bytes += value.length;
      // A few letters inflate to gigabytes.
      if (bytes > MOST_SCENARIO_BYTES) { await reader.cancel(); return null; }
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    return null;
  }
}
