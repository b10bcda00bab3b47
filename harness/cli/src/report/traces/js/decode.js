// The lines of traces: differences as variable-length integers (`ConnectionSeries::encode` in Rust).

/** The lines in `bytes` that `infos` describes, by name: times in seconds from the trace's start, values as qlog has them. */
async function decodedLines(bytes, infos) {
  let at = 0;
  /** Sums of the next differences, each times `unit`. */
  function sums(count, unit) {
    const values = new Float64Array(count);
    let sum = 0;
    for (let i = 0; i < count; i += 1) {
      let byte = bytes[at];
      at += 1;
      let zigzag = byte & 0x7f;
      for (let factor = 0x80; byte & 0x80; factor *= 0x80) {
        byte = bytes[at];
        at += 1;
        zigzag += (byte & 0x7f) * factor;
      }
      sum += zigzag % 2 ? -(zigzag + 1) / 2 : zigzag / 2;
      values[i] = sum * unit;
    }
    return values;
  }
  const lines = new Map();
  for (const { name, points } of infos) {
    const times = sums(points, 1e-9);
    lines.set(name, new Line(times, sums(points, 1)));
    // A long trace is read in pieces, between which the page answers.
    if (points > 1e5) await new Promise((resume) => { setTimeout(resume); });
  }
  return lines;
}
