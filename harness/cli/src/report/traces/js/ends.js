// The other end of a connection, where its trace is on the page too: on one clock, each packet with when it left and came.

/** The connections of the page, which knows them. */
const ends = { all: () => [] };

/** Numbers of packets up to so many times their count are looked up in an array, others in a map. */
const DENSE = 4;

/** When an end sent and received its first Initial packets, s of its clock; null where it did not. */
function handshakeOf(packets) {
  const initial = packets.types.indexOf("initial");
  const first = (parity) => { const at = packets.flags.findIndex((flags) => flags === 2 * initial + parity); return at < 0 ? null : packets.time[at]; };
  return { sent: first(1), received: first(0) };
}

/**
 * What has to be added to times of `there` to have those of `here`, as if the first Initial packets of both ways took the same time
 * (RFC 5905 §8, `Handshake::server_ahead` in Rust), and by how much that may be wrong, s; null without a handshake at both ends.
 */
function commonClock(here, there) {
  const [one, other] = [handshakeOf(here), handshakeOf(there)];
  if ([one.sent, one.received, other.sent, other.received].includes(null)) return null;
  const [out, back] = [other.received - one.sent, other.sent - one.received];
  // Neither way takes less than no time.
  return { shift: -(out + back) / 2, uncertainty: Math.abs(out - back) / 2 };
}

/** By number, the first packet of `type` of one way; a function of the number that gives its index or -1. */
function byNumber(packets, type, parity) {
  const wanted = type * 2 + parity;
  let [count, most] = [0, 0];
  for (let i = 0; i < packets.length; i += 1) {
    if (packets.flags[i] !== wanted || !packets.number[i]) continue;
    count += 1;
    if (packets.number[i] > most) most = packets.number[i];
  }
  const dense = most <= DENSE * count + 1024;
  const [places, map] = [dense ? new Int32Array(most + 1).fill(-1) : null, dense ? null : new Map()];
  for (let i = packets.length - 1; i >= 0; i -= 1) {
    if (packets.flags[i] !== wanted || !packets.number[i]) continue;
    if (dense) places[packets.number[i]] = i; else map.set(packets.number[i], i);
  }
  return dense ? (number) => places[number] ?? -1 : (number) => map.get(number) ?? -1;
}

/**
 * When each packet of `here` was at the other end, s of this end's clock: of one that was sent its arrival, `Infinity` where it never
 * came, of one that was received when it was sent; NaN where the other end's trace does not tell.
 */
function timesThere(here, there, shift) {
  const times = new Float64Array(here.length).fill(NaN);
  if (!there.length) return times;
  const [begin, end] = [there.time[0] + shift, there.time[there.length - 1] + shift];
  here.types.forEach((_, type) => {
    for (const parity of [0, 1]) {
      const other = there.types.indexOf(here.types[type]);
      const find = byNumber(there, other, 1 - parity);
      for (let i = 0; i < here.length; i += 1) {
        if (here.flags[i] !== type * 2 + parity || !here.number[i]) continue;
        const at = find(here.number[i]);
        if (at >= 0) times[i] = there.time[at] + shift;
        // What was declared lost and is not logged there while others are never came.
        else if (parity && here.lost[i] && here.time[i] >= begin && here.time[i] + (here.lost[i] - 1) * 1e-9 <= end && !there.leftOut) times[i] = Infinity;
      }
    }
  });
  return times;
}

/** The other end of a trace's connection, `{ name, uncertainty, times }`; null where there is not exactly one that tells. */
async function otherEnd(trace) {
  const opposite = { client: "server", server: "client" }[trace.vantage];
  if (!opposite || !trace.group || !trace.packets || trace.path !== undefined) return null;
  const of = (vantage) => ends.all().filter((other) => other.group === trace.group && other.vantage === vantage && other.path === undefined && other.packets);
  const others = of(opposite);
  if (others.length !== 1 || of(trace.vantage).length !== 1) return null;
  const [here, there] = [await trace.loadPackets(), await others[0].loadPackets()];
  const clock = commonClock(here, there);
  return clock && { name: others[0].name, uncertainty: clock.uncertainty, times: timesThere(here, there, clock.shift) };
}

if (typeof module !== "undefined") module.exports = { commonClock, timesThere };
