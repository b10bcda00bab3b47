// A trace as a page for others: this page with the trace inside, whose names are pseudonyms.

/** The page as it was before anything was built in it. */
const pristine = document.documentElement.outerHTML;

/** Bytes as base64. */
const base64 = (blob) => new Promise((resolve, reject) => {
  const reader = new FileReader();
  reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
  reader.onerror = () => reject(reader.error);
  reader.readAsDataURL(blob);
});

/** The page with a trace called `name` inside, of `parts`. */
async function pageWith(name, parts) {
  const packed = await new Response(new Blob(parts).stream().pipeThrough(new CompressionStream("deflate"))).blob();
  const page = new DOMParser().parseFromString(pristine, "text/html");
  for (const id of ["shared", "shared-name"]) page.getElementById(id)?.remove();
  const data = (id, type, text) => Object.assign(page.createElement("script"), { id, type, textContent: text });
  page.getElementById("program").before(data("shared-name", "application/json", JSON.stringify(name).replaceAll("<", "\\u003c")), data("shared", "text/plain", await base64(packed)));
  return `<!doctype html>\n${page.documentElement.outerHTML}\n`;
}

/** Offers a page with the trace of an entry inside. */
async function sharePage(entry, button) {
  // A button that is disabled loses the focus.
  if (button.getAttribute("aria-disabled") === "true") return;
  button.setAttribute("aria-disabled", "true");
  const parts = [];
  let name = null;
  try {
    const done = await program.run(["share", entry.file.name, document.getElementById("pseudonyms").checked ? "pseudonyms" : "names"], entry.file, {
      onMessage: (message, data) => { if (message.kind === "shared") ({ name } = message); else parts.push(data); },
    }).done;
    if (!done || done.code !== 0) throw new Error(done?.stderr || "the program failed");
    offer(`${name.replace(/(\.sqlog|\.qlog|\.netlog)?(\.json|\.js)?$/, "")}.html`, await pageWith(name, parts), "text/html");
    announce(`A page with ${name} inside is saved`);
  } catch (error) {
    entry.status.textContent = `no page can be made: ${error.message}`;
  } finally {
    button.removeAttribute("aria-disabled");
  }
}

/** Opens the trace that the page was shared with. */
async function openShared() {
  if (document.getElementById("shared")) openFiles([new File([await unpacked("shared")], embedded("shared-name"))]);
}
