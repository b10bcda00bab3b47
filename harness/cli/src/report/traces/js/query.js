// Queries over the packets of a trace: `pn=1500`, `stream=4 and lost`, `not (frame=ack or size<100) t=2.1..2.3`.
// Nothing here knows of a page: `node --test` runs it as it is.

/** Fields that hold numbers: their unit, and what they are. */
const QUERY_NUMBERS = {
  pn: "packet number", size: "bytes", t: "seconds from the start", stream: "id of a stream whose data it carries",
  by: "number of the packet that acknowledged it", rtt: "ms from its sending to its acknowledgement",
};

/** Fields that hold names. */
const QUERY_NAMES = { frame: "type of a frame in it", type: "packet type", reason: "why it was declared lost" };

/** What a packet is or is not. */
const QUERY_FLAGS = { sent: "sent", received: "received", lost: "declared lost", acked: "acknowledged", spurious: "declared lost and acknowledged later", fin: "ends a stream" };

/** Ways to write what joins and what turns round. */
const QUERY_WORDS = { and: "and", "&&": "and", or: "or", "||": "or", not: "not", "!": "not" };

/** Letters of a query, and parentheses within each other, at most. */
const QUERY_LENGTH = 2000;
const QUERY_DEPTH = 64;

/** A mistake of a query: what is wrong from one letter to another. */
class QueryError extends Error {
  constructor(text, from, to) {
    super(text);
    [this.from, this.to] = [from, to];
  }
}

/** The parts of a query, each with where it stands. */
function queryTokens(text) {
  const part = /\s*(?:([()])|(&&|\|\||!(?!=))|(!=|<=|>=|==|=|<|>)|([^\s()=<>!&|]+)|(\S))/uy;
  const tokens = [];
  for (let found = part.exec(text); found; found = part.exec(text)) {
    const value = found.slice(1).find((group) => group !== undefined);
    const [from, to] = [part.lastIndex - value.length, part.lastIndex];
    if (found[5]) throw new QueryError(`“${value}” is no part of a query`, from, to);
    const kind = found[1] ?? (found[2] ? QUERY_WORDS[value] : found[3] ? "compare" : QUERY_WORDS[value.toLowerCase()] ?? "word");
    tokens.push({ kind, value: value === "==" ? "=" : value, from, to });
  }
  return tokens;
}

/** The name in `names` that is `word` but for the case of its letters, and for `-` and `_`. */
function nameIn(names, word) {
  const plain = (name) => name.toLowerCase().replace(/[-_]/g, "");
  return names.find((name) => plain(name) === plain(word));
}

/** A number of a query. */
function queryNumber(text, from) {
  if (/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return Number(text);
  throw new QueryError(`“${text}” is no number`, from, from + text.length);
}

/** What stands behind a comparison: ranges of numbers, or names, one of which is enough. */
function queryValues(field, { value, from }, names) {
  const values = [];
  let at = from;
  for (const one of value.split(",")) {
    const place = at;
    at += one.length + 1;
    if (!one) throw new QueryError(`a value is missing beside the comma`, Math.max(from, place - 1), place);
    if (QUERY_NAMES[field]) {
      const name = nameIn(names[field], one);
      if (name === undefined) {
        const some = names[field].slice(0, 6).join(", ");
        throw new QueryError(`no ${field} of this trace is “${one}”${some ? `; there are ${some}${names[field].length > 6 ? ", …" : ""}` : ""}`, place, place + one.length);
      }
      values.push(name);
      continue;
    }
    const dots = one.indexOf("..");
    if (dots < 0) {
      const number = queryNumber(one, place);
      values.push([number, number]);
      continue;
    }
    const [low, high] = [one.slice(0, dots), one.slice(dots + 2)];
    if (!low && !high) throw new QueryError("a range has a number on one side of the dots at least", place, place + one.length);
    const range = [low ? queryNumber(low, place) : -Infinity, high ? queryNumber(high, place + dots + 2) : Infinity];
    if (range[0] > range[1]) throw new QueryError(`the range ends before it begins: ${range[1]}..${range[0]}?`, place, place + one.length);
    values.push(range);
  }
  return values;
}

/**
 * A query as a tree, null of an empty one; `names` has the names that `frame`, `type` and `reason` may have.
 * Throws a QueryError that says what is wrong where.
 */
function parsedQuery(text, names) {
  if (text.length > QUERY_LENGTH) throw new QueryError(`a query has ${QUERY_LENGTH} letters at most`, QUERY_LENGTH, text.length);
  const tokens = queryTokens(text);
  let at = 0;
  const peek = () => tokens[at]?.kind;
  const end = () => { const last = tokens[tokens.length - 1]; return [last.from, last.to]; };

  function comparison(field, word, compare) {
    at += 1;
    const value = tokens[at];
    if (value?.kind !== "word") throw new QueryError(`${field}${compare.value} wants a value behind it`, word.from, compare.to);
    at += 1;
    const order = !["=", "!="].includes(compare.value);
    if (order && (QUERY_NAMES[field] || value.value.includes(",") || value.value.includes(".."))) {
      throw new QueryError(QUERY_NAMES[field] ? `${field} is a name: it is = or !=, not ${compare.value}` : `${compare.value} wants one number`, compare.from, QUERY_NAMES[field] ? compare.to : value.to);
    }
    const values = queryValues(field, value, names);
    if (order) {
      const [[limit]] = values;
      const range = compare.value.startsWith("<") ? [-Infinity, limit] : [limit, Infinity];
      return { kind: "is", field, values: [range], strict: compare.value.length === 1 };
    }
    const is = { kind: "is", field, values };
    return compare.value === "!=" ? { kind: "not", of: is } : is;
  }

  function term(depth) {
    const token = tokens[at];
    if (depth > QUERY_DEPTH) throw new QueryError("too many parentheses within each other", token?.from ?? text.length, text.length);
    if (!token) throw new QueryError(`“${tokens[at - 1].value}” wants something behind it`, ...end());
    at += 1;
    if (token.kind === "not") return { kind: "not", of: term(depth + 1) };
    if (token.kind === "(") {
      const inner = either(depth + 1);
      if (peek() !== ")") throw new QueryError("this parenthesis is not closed", token.from, token.to);
      at += 1;
      return inner;
    }
    if (token.kind !== "word") throw new QueryError(`“${token.value}” stands where a condition is expected`, token.from, token.to);
    const word = token.value;
    const field = nameIn([...Object.keys(QUERY_NUMBERS), ...Object.keys(QUERY_NAMES)], word);
    if (peek() === "compare") {
      if (!field) throw new QueryError(`“${word}” is no field; there are ${[...Object.keys(QUERY_NUMBERS), ...Object.keys(QUERY_NAMES)].join(", ")}`, token.from, token.to);
      return comparison(field, token, tokens[at]);
    }
    const flag = nameIn(Object.keys(QUERY_FLAGS), word);
    if (flag) return { kind: "flag", flag };
    for (const kind of ["type", "frame"]) {
      const name = nameIn(names[kind], word);
      // `stream 4` means a stream, and not any.
      const next = tokens[at]?.kind === "word" && /^\d/.test(tokens[at].value) && field && nameIn(names.type, tokens[at].value) === undefined;
      if (name !== undefined && !next) return { kind: "is", field: kind, values: [name] };
    }
    if (field) throw new QueryError(`${field} wants a comparison: ${field}=${tokens[at]?.kind === "word" ? tokens[at].value : QUERY_NUMBERS[field] ? "4" : "…"}`, token.from, tokens[at]?.kind === "word" ? tokens[at].to : token.to);
    if (/^[\d.,]+$/.test(word)) throw new QueryError(`of which field is ${word}? pn=${word}, size=${word}, stream=${word}, t=${word}`, token.from, token.to);
    throw new QueryError(`“${word}” is neither a field nor what a packet can be`, token.from, token.to);
  }

  function both(depth) {
    const parts = [term(depth)];
    while (at < tokens.length && peek() !== "or" && peek() !== ")") {
      if (peek() === "and") at += 1;
      parts.push(term(depth));
    }
    return parts.length === 1 ? parts[0] : { kind: "and", parts };
  }

  function either(depth) {
    const parts = [both(depth)];
    while (peek() === "or") {
      at += 1;
      parts.push(both(depth));
    }
    return parts.length === 1 ? parts[0] : { kind: "or", parts };
  }

  if (!tokens.length) return null;
  const tree = either(0);
  if (at < tokens.length) throw new QueryError("this parenthesis closes none", tokens[at].from, tokens[at].to);
  return tree;
}

/** The names that fields of a query may have for `packets`, as `decodedPackets` gives them. */
const queryNames = ({ frameTypes, types, reasons }) => ({ frame: frameTypes, type: types, reason: reasons });

/** Half of the least difference of two times, s. */
const HALF_NS = 0.5e-9;

/** `range` of a field as its column has it: whole numbers one more than their value, of what is not logged 0; times as they are. */
function columnRange(field, [low, high], strict) {
  if (field === "t") return strict ? [low + HALF_NS, high - HALF_NS] : [low - HALF_NS, high + HALF_NS];
  const scale = field === "rtt" ? 1e6 : 1;
  const [least, most] = strict ? [Math.floor(low * scale) + 1, Math.ceil(high * scale) - 1] : [Math.ceil(low * scale), Math.floor(high * scale)];
  // Ids of streams are no column of packets, and all of them are known.
  return field === "stream" ? [least, most] : [Math.max(1, least + 1), most + 1];
}

/* Each of these does one thing to a mask in a loop of its own, which is what makes it fast. */

function markRange(mask, column, [low, high]) {
  for (let i = 0; i < mask.length; i += 1) if (column[i] >= low && column[i] <= high) mask[i] = 1;
}

function markBits(mask, column, bits, wanted) {
  for (let i = 0; i < mask.length; i += 1) if ((column[i] & bits) !== 0 === wanted) mask[i] = 1;
}

function markCarrying(mask, first, column, [low, high]) {
  for (let i = 0; i < mask.length; i += 1) {
    for (let at = first[i]; at < first[i + 1]; at += 1) if (column[at] >= low && column[at] <= high) mask[i] = 1;
  }
}

/** For each packet 1 or 0: whether it is what `tree` says. */
function queryMask(tree, packets) {
  const mask = new Uint8Array(packets.length);
  if (tree.kind === "not") {
    const inner = queryMask(tree.of, packets);
    for (let i = 0; i < mask.length; i += 1) mask[i] = 1 - inner[i];
  } else if (tree.kind === "and" || tree.kind === "or") {
    const both = tree.kind === "and";
    mask.fill(Number(both));
    for (const part of tree.parts) {
      const other = queryMask(part, packets);
      if (both) for (let i = 0; i < mask.length; i += 1) mask[i] &= other[i];
      else for (let i = 0; i < mask.length; i += 1) mask[i] |= other[i];
    }
  } else if (tree.kind === "flag") markFlag(mask, tree.flag, packets);
  else markValues(mask, tree, packets);
  return mask;
}

function markFlag(mask, flag, { flags, lost, acked, first, bytes }) {
  if (flag === "sent" || flag === "received") markBits(mask, flags, 1, flag === "sent");
  else if (flag === "lost") markRange(mask, lost, [1, Infinity]);
  else if (flag === "acked") markRange(mask, acked, [1, Infinity]);
  else if (flag === "spurious") for (let i = 0; i < mask.length; i += 1) mask[i] = lost[i] > 0 && acked[i] > lost[i] ? 1 : 0;
  else for (let i = 0; i < mask.length; i += 1) for (let at = first[i]; at < first[i + 1]; at += 1) if (bytes[at] % 2) mask[i] = 1;
}

function markValues(mask, { field, values, strict }, packets) {
  if (QUERY_NAMES[field]) {
    const wanted = values.map((name) => queryNames(packets)[field].indexOf(name));
    if (field === "frame") markBits(mask, packets.kinds, wanted.reduce((bits, bit) => bits | 1 << bit, 0), true);
    for (const one of wanted) {
      if (field === "type") markRange(mask, packets.flags, [2 * one, 2 * one + 1]);
      if (field === "reason") markRange(mask, packets.reason, [one + 1, one + 1]);
    }
    return;
  }
  const column = { pn: packets.number, size: packets.size, by: packets.by, t: packets.time, rtt: packets.acked }[field];
  for (const range of values) {
    if (field === "stream") markCarrying(mask, packets.first, packets.stream, columnRange(field, range, strict));
    else markRange(mask, column, columnRange(field, range, strict));
  }
}

/** The packets that are what `tree` says, by their index; all of them without one. */
function matchingPackets(tree, packets) {
  if (!tree) return Uint32Array.from({ length: packets.length }, (_, i) => i);
  const mask = queryMask(tree, packets);
  let count = 0;
  for (let i = 0; i < mask.length; i += 1) count += mask[i];
  const found = new Uint32Array(count);
  for (let i = 0, at = 0; i < mask.length; i += 1) if (mask[i]) { found[at] = i; at += 1; }
  return found;
}

/** The first of rising `found` that is `index` or more. */
function firstFound(found, index) {
  let [low, high] = [0, found.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (found[middle] < index) low = middle + 1; else high = middle;
  }
  return low;
}

/**
 * How the word before `caret` can go on: `[whole text, what it means]` each; `streams` are ids to choose from.
 */
function queryCompletions(text, caret, names, streams = []) {
  const before = text.slice(0, caret);
  const [, field, word] = /(?:([^\s()=<>!&|]+)(?:!=|=|[<>])(?:[^\s()=<>!&|]*,)?)?([^\s()=<>!&|,]*)$/u.exec(before);
  const compared = field && nameIn([...Object.keys(QUERY_NAMES), "stream"], field);
  const beginning = field && !compared ? null : before.slice(0, before.length - word.length);
  if (beginning === null) return [];
  const all = compared ? (compared === "stream" ? streams.map((id) => [String(id), "stream"]) : names[compared].map((name) => [name, QUERY_NAMES[compared]]))
    : [...Object.entries({ ...QUERY_NUMBERS, ...QUERY_NAMES }).map(([name, help]) => [`${name}=`, help]), ...Object.entries(QUERY_FLAGS), ["not", ""],
      ...(beginning.trim() ? [["and", ""], ["or", ""]] : [])];
  return all.filter(([name]) => name.toLowerCase().startsWith(word.toLowerCase()) && name !== word).map(([name, help]) => [`${beginning}${name}${text.slice(caret)}`, help]);
}

if (typeof module !== "undefined") module.exports = { QueryError, parsedQuery, queryMask, matchingPackets, firstFound, queryCompletions, queryNames };
