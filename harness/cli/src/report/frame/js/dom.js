// Elements, texts and data of a page.

/** The JSON that the page contains under `id`. */
const embedded = (id) => JSON.parse(document.getElementById(id).textContent);

/** The bytes that the page contains under `id`. */
const unpacked = (id) => inflated(document.getElementById(id).textContent);

/** The bytes of base64 of zlib. */
function inflated(packed) {
  const text = atob(packed);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i += 1) bytes[i] = text.charCodeAt(i);
  return inflatedBytes(bytes);
}

/** The bytes of zlib. */
const inflatedBytes = async (bytes) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer());

/** The text packed under `id`. */
const unpackedText = async (id) => new TextDecoder().decode(await unpacked(id));

/** Waits until everything of the page is there. */
const loaded = () => new Promise((resume) => {
  if (document.readyState === "complete") resume();
  else addEventListener("load", resume);
});

const plural = (n, word) => `${grouped.format(n)} ${word}${n === 1 ? "" : "s"}`;

const grouped = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** An element with attributes and children; `on…` attributes are listeners. */
function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

/** Tells users of screen readers what just changed. */
function announce(text) {
  document.getElementById("announce").textContent = text;
}
