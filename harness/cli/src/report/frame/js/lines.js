// A quantity over time, and what of it is drawn: never more than a few points per pixel.

/** Points in a block of which the least and the largest are known. */
const BLOCK = 32;

/** Whether `value` takes the place of `best` as the least or the largest; NaN is no value. */
const lower = (value, best) => value < best || best !== best;
const higher = (value, best) => value >= best || best !== best;

class Line {
  /** Values that hold from `times` on, times rising; what is missing is NaN or null. */
  constructor(times, values) {
    this.times = times;
    this.values = values instanceof Float64Array ? values : Float64Array.from(values, (value) => value ?? NaN);
    this.blocks = null;
  }

  get length() { return this.times.length; }

  /** The first point at `time` or later, which is not before `low`. */
  index(time, low = 0) {
    // Near `low`, where that is given: the points of one column after those of another.
    let high = low;
    for (let step = low ? 16 : this.length; high < this.length && this.times[high] < time; step *= 2) {
      low = high;
      high = Math.min(this.length, high + step);
    }
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.times[middle] < time) low = middle + 1; else high = middle;
    }
    return low;
  }

  /** The last point at `time` or before; -1 before the first. */
  holds(time) {
    let i = this.index(time);
    if (!(this.times[i] === time)) return i - 1;
    while (i + 1 < this.length && this.times[i + 1] === time) i += 1;
    return i;
  }

  /** The value that holds at `time`; null before the first, and where it is missing. */
  at(time) {
    const value = this.values[this.holds(time)];
    return value === undefined || Number.isNaN(value) ? null : value;
  }

  /** The least and largest of every block. */
  extremes() {
    if (this.blocks) return this.blocks;
    const count = Math.ceil(this.length / BLOCK);
    const [least, largest] = [new Uint32Array(count), new Uint32Array(count)];
    for (let block = 0; block < count; block += 1) {
      const from = block * BLOCK;
      const to = Math.min(this.length, from + BLOCK);
      let [low, high] = [from, from];
      for (let i = from + 1; i < to; i += 1) {
        if (lower(this.values[i], this.values[low])) low = i;
        if (higher(this.values[i], this.values[high])) high = i;
      }
      least[block] = low;
      largest[block] = high;
    }
    this.blocks = { least, largest };
    return this.blocks;
  }

  /** Where the points `from` to `to` (not included) are least and largest. */
  range(from, to) {
    const { values } = this;
    const { least, largest } = this.extremes();
    let [low, high, i] = [from, from, from];
    const take = (until) => {
      for (; i < until; i += 1) {
        if (lower(values[i], values[low])) low = i;
        if (higher(values[i], values[high])) high = i;
      }
    };
    take(Math.min(to, Math.ceil(from / BLOCK) * BLOCK));
    for (let block = i / BLOCK; i + BLOCK <= to; block += 1, i += BLOCK) {
      if (lower(values[least[block]], values[low])) low = least[block];
      if (higher(values[largest[block]], values[high])) high = largest[block];
    }
    take(to);
    return [low, high];
  }

  /**
   * What to draw between two times on `columns` pixels, and a point beyond each end: every
   * point if there are few (`raw`), else the least, the largest and the last of each column.
   */
  visible(from, to, columns) {
    const begin = Math.max(0, this.index(from) - 1);
    let end = this.index(to);
    while (end < this.length && this.times[end] === to) end += 1;
    end = Math.min(this.length, end + 1);
    if (end - begin <= 3 * columns) return { indices: Array.from({ length: end - begin }, (_, i) => begin + i), raw: true };
    const indices = [begin];
    const put = (i) => { if (i > indices[indices.length - 1]) indices.push(i); };
    let start = begin;
    for (let column = 1; column <= columns + 1 && start < end; column += 1) {
      const stop = column > columns ? end : Math.min(end, this.index(from + (to - from) * column / columns, start));
      if (stop <= start) continue;
      const [low, high] = this.range(start, stop);
      put(Math.min(low, high));
      put(Math.max(low, high));
      put(stop - 1);
      start = stop;
    }
    return { indices, raw: false };
  }

  /** What to draw: times, and values times `scale`. */
  drawn(from, to, columns, scale) {
    const { indices, raw } = this.visible(from, to, columns);
    const [x, y] = [new Array(indices.length), new Array(indices.length)];
    for (let at = 0; at < indices.length; at += 1) {
      x[at] = this.times[indices[at]];
      y[at] = this.values[indices[at]] * scale;
    }
    return { x, y, raw };
  }

  /** Of a count: how much it grows per second in bins of `width` seconds, times `scale`. */
  rate(from, to, width, scale) {
    const [x, y] = [[], []];
    const first = Math.max(0, Math.floor(from / width));
    const last = Math.ceil(to / width);
    let before = this.at(first * width - 1e-12) ?? 0;
    for (let bin = first; bin < last; bin += 1) {
      const begin = bin * width;
      const end = Math.min(begin + width, to);
      const now = this.at(Math.min(begin + width, to)) ?? 0;
      if (end - begin > width / 3) {
        x.push((begin + end) / 2);
        y.push((now - before) * scale / (end - begin));
      }
      before = now;
    }
    return { x, y };
  }

  /** Of a count: where it grows, and by how much, once a pixel at most. */
  rises(from, to, columns) {
    const begin = this.index(from);
    let end = this.index(to);
    while (end < this.length && this.times[end] === to) end += 1;
    const [x, by] = [[], []];
    const put = (start, stop) => {
      const grown = this.values[stop - 1] - (start > 0 ? this.values[start - 1] : 0);
      if (grown > 0) { x.push(this.times[start]); by.push(grown); }
    };
    if (end - begin <= columns) {
      for (let i = begin; i < end; i += 1) put(i, i + 1);
      return { x, by };
    }
    let start = begin;
    for (let column = 1; column <= columns && start < end; column += 1) {
      const stop = column === columns ? end : Math.min(end, this.index(from + (to - from) * column / columns, start));
      if (stop > start) put(start, stop);
      start = Math.max(start, stop);
    }
    return { x, by };
  }

  /**
   * Spans in which a value holds: [value, begin, end], of each column one that holds in it, so that each value has, but for
   * a few, as many columns as it has time (`series::columns` in Rust).
   */
  spans(from, to, columns) {
    const spans = [];
    const put = (value, start, stop) => {
      const latest = spans[spans.length - 1];
      if (latest && latest[0] === value && latest[2] >= start) latest[2] = Math.max(latest[2], stop);
      else if (value !== undefined && stop > start) spans.push([value, start, stop]);
    };
    let next = this.holds(from) + 1;
    if (this.index(to) - next < columns) {
      for (let i = Math.max(0, next - 1); i < this.length && this.times[i] < to; i += 1) {
        put(this.values[i], Math.max(from, this.times[i]), Math.min(to, i + 1 < this.length ? this.times[i + 1] : to));
      }
      return spans;
    }
    const width = (to - from) / columns;
    // By how much each has fewer columns than time so far.
    const owed = new Map();
    let holds = this.values[next - 1];
    for (let column = 0; column < columns; column += 1) {
      const [begin, end] = [from + column * width, from + (column + 1) * width];
      const present = new Set();
      for (let at = begin; at < end;) {
        const until = next < this.length ? Math.min(Math.max(this.times[next], at), end) : end;
        if (until > at) {
          owed.set(holds, (owed.get(holds) ?? 0) + until - at);
          present.add(holds);
          at = until;
        }
        if (at < end) {
          holds = this.values[next];
          next += 1;
        }
      }
      let most;
      for (const value of present) if (most === undefined || owed.get(value) > owed.get(most)) most = value;
      owed.set(most, owed.get(most) - width);
      put(most, begin, end);
    }
    return spans;
  }
}
