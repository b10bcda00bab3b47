// The lines of traces: differences as variable-length integers (`ConnectionSeries::encode` in Rust).

/** How long a trace is decoded without a pause, in numbers. */
const WITHOUT_PAUSE = 2e5;

/** Lets the page answer between pieces of long work. */
const pause = () => new Promise((resume) => { setTimeout(resume); });

/** Reads variable-length integers from `bytes`. */
function integers(bytes) {
  let at = 0;
  const next = () => {
    let byte = bytes[at];
    at += 1;
    let value = byte & 0x7f;
    for (let factor = 0x80; byte & 0x80; factor *= 0x80) {
      byte = bytes[at];
      at += 1;
      value += (byte & 0x7f) * factor;
    }
    return value;
  };
  /** The next numbers. */
  const plain = (count, Type) => {
    const values = new Type(count);
    for (let i = 0; i < count; i += 1) values[i] = next();
    return values;
  };
  /** Sums of the next differences, each times `unit`. */
  const sums = (count, unit) => {
    const values = new Float64Array(count);
    let sum = 0;
    for (let i = 0; i < count; i += 1) {
      const zigzag = next();
      sum += zigzag % 2 ? -(zigzag + 1) / 2 : zigzag / 2;
      values[i] = sum * unit;
    }
    return values;
  };
  return { plain, sums };
}

/** The lines in `bytes` that `infos` describes, by name: times in seconds from the trace's start, values as qlog has them. */
async function decodedLines(bytes, infos) {
  const { sums } = integers(bytes);
  const lines = new Map();
  for (const { name, points } of infos) {
    const times = sums(points, 1e-9);
    lines.set(name, new Line(times, sums(points, 1)));
    // A long trace is read in pieces, between which the page answers.
    if (points > WITHOUT_PAUSE) await pause();
  }
  return lines;
}

/** The packets in `bytes` that `info` describes, a column each (`PacketLog::encode` in Rust); what is not logged is 0, all else one more than its value. */
async function decodedPackets(bytes, { packets, frames, reasons, types, frame_types: frameTypes, left_out: leftOut }) {
  const { plain, sums } = integers(bytes);
  const columns = [];
  const read = async (column) => { columns.push(column()); if (packets > WITHOUT_PAUSE) await pause(); };
  for (const Type of [Uint8Array, Uint32Array, Uint32Array, Uint32Array, Float64Array, Uint8Array, Float64Array]) await read(() => plain(packets, Type));
  for (const unit of [1e-9, 1, 1]) await read(() => sums(packets, unit));
  for (let i = 0; i < 2; i += 1) await read(() => sums(frames, 1));
  await read(() => plain(frames, Float64Array));
  const [flags, kinds, size, count, lost, reason, acked, time, number, by, stream, offset, data] = columns;
  const first = new Uint32Array(packets + 1);
  for (let i = 0; i < packets; i += 1) first[i + 1] = first[i] + count[i];
  return { length: packets, frames, time, flags, kinds, size, lost, reason, acked, number, by, first, stream, offset, bytes: data, reasons, types, frameTypes, leftOut };
}
