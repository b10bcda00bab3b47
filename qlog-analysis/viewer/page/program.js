// Running the page's program, which is WebAssembly for WASI: its standard input is a file or a
// text, its standard output messages for the page. `work` and what it needs run in a worker.

/** Bytes of a file that are read at once. */
const CHUNK = 1 << 20;

/** Of a file, as the program reads it. Only workers may wait for a file. */
class FileInput {
  constructor(file) {
    this.file = file;
    this.reader = new FileReaderSync();
    this.at = 0;
    this.chunk = new Uint8Array();
  }

  /** Begins at the start again. */
  rewind() {
    this.at = 0;
    this.chunk = new Uint8Array();
  }

  /** Fills the beginning of `target`; how many bytes, 0 at the end. */
  read(target) {
    if (!this.chunk.length && this.at < this.file.size) {
      const end = Math.min(this.at + CHUNK, this.file.size);
      try {
        this.chunk = new Uint8Array(this.reader.readAsArrayBuffer(this.file.slice(this.at, end)));
      } catch (error) {
        // A file stays as it was when it was chosen, or cannot be read.
        throw error.name === "NotReadableError" || error.name === "NotFoundError" ? new Error("the file has changed since it was chosen, or cannot be read; choose it again") : error;
      }
      this.at = end;
    }
    const bytes = Math.min(target.length, this.chunk.length);
    target.set(this.chunk.subarray(0, bytes));
    this.chunk = this.chunk.subarray(bytes);
    return bytes;
  }
}

/** Cuts what the program writes into messages: a line of JSON, and `bytes` bytes after it. */
class MessageReader {
  constructor(emit) {
    this.emit = emit;
    this.line = [];
    this.message = null;
    this.data = null;
    this.filled = 0;
  }

  write(bytes) {
    let at = 0;
    while (at < bytes.length) {
      if (this.message) {
        const some = bytes.subarray(at, at + this.data.length - this.filled);
        this.data.set(some, this.filled);
        this.filled += some.length;
        at += some.length;
        if (this.filled === this.data.length) this.end();
        continue;
      }
      const end = bytes.indexOf(10, at);
      this.line.push(bytes.slice(at, end < 0 ? bytes.length : end));
      at = end < 0 ? bytes.length : end + 1;
      if (end >= 0) this.begin();
    }
  }

  begin() {
    const line = new Uint8Array(this.line.reduce((sum, part) => sum + part.length, 0));
    let at = 0;
    for (const part of this.line) { line.set(part, at); at += part.length; }
    this.line = [];
    this.message = JSON.parse(new TextDecoder().decode(line));
    this.data = new Uint8Array(this.message.bytes ?? 0);
    this.filled = 0;
    if (!this.data.length) this.end();
  }

  end() {
    const { message, data } = this;
    [this.message, this.data] = [null, null];
    this.emit(message, data.buffer);
  }
}

/**
 * Runs `module` with arguments to its end. `input.read(target)` gives its standard input,
 * `output(bytes)` takes its standard output.
 */
function runProgram(module, args, input, output) {
  const SUCCESS = 0;
  const BAD_DESCRIPTOR = 8;
  const INPUT_OUTPUT = 29;
  const NOT_THERE = 52;
  class Exit { constructor(code) { this.code = code; } }
  let memory;
  let stderr = "";
  let broken = null;
  let unread = null;
  const decoder = new TextDecoder();
  const encoded = ["windlass-viewer", ...args].map((text) => new TextEncoder().encode(`${text}\0`));
  const view = () => new DataView(memory.buffer);
  const set = (at, value) => view().setUint32(at, value, true);
  /** Each part of memory that a list of `count` vectors at `at` names, until `visit` is false. */
  const vectors = (at, count, visit) => {
    let sum = 0;
    for (let i = 0; i < count; i += 1) {
      const part = new Uint8Array(memory.buffer, view().getUint32(at + 8 * i, true), view().getUint32(at + 8 * i + 4, true));
      const bytes = visit(part);
      sum += bytes;
      if (bytes < part.length) break;
    }
    return sum;
  };
  const offered = {
    args_sizes_get(count, bytes) {
      set(count, encoded.length);
      set(bytes, encoded.reduce((sum, text) => sum + text.length, 0));
      return SUCCESS;
    },
    args_get(pointers, at) {
      encoded.forEach((text, i) => {
        set(pointers + 4 * i, at);
        new Uint8Array(memory.buffer).set(text, at);
        at += text.length;
      });
      return SUCCESS;
    },
    environ_sizes_get(count, bytes) { set(count, 0); set(bytes, 0); return SUCCESS; },
    environ_get: () => SUCCESS,
    // Of the keys of hash tables, on whose order nothing depends.
    random_get(at, bytes) { new Uint8Array(memory.buffer, at, bytes).fill(7); return SUCCESS; },
    clock_time_get(_, __, at) { view().setBigUint64(at, 0n, true); return SUCCESS; },
    fd_read(descriptor, at, count, read) {
      if (descriptor !== 0) return BAD_DESCRIPTOR;
      try {
        set(read, vectors(at, count, (part) => input.read(part)));
        return SUCCESS;
      } catch (error) {
        unread = error;
        return INPUT_OUTPUT;
      }
    },
    fd_write(descriptor, at, count, written) {
      if (descriptor !== 1 && descriptor !== 2) return BAD_DESCRIPTOR;
      set(written, vectors(at, count, (part) => {
        if (descriptor === 1) output(part);
        else stderr += decoder.decode(part.slice(), { stream: true });
        return part.length;
      }));
      return SUCCESS;
    },
    proc_exit(code) { throw new Exit(code); },
  };
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    imports[from] ??= {};
    imports[from][name] = offered[name] ?? (() => NOT_THERE);
  }
  const instance = new WebAssembly.Instance(module, imports);
  ({ memory } = instance.exports);
  let code = 0;
  try {
    instance.exports._start();
  } catch (error) {
    if (error instanceof Exit) ({ code } = error);
    else [code, broken] = [101, error];
  }
  // The page has the reason, the program only a number.
  const message = unread && code !== 0 ? unread.message : broken && code !== 0 ? `${stderr.trim()} ${broken.message}` : stderr;
  return { code, stderr: message.trim(), memory: memory.buffer.byteLength };
}

/** What a worker does: runs the program once, for the message that says with what. */
function work({ data: { module, args, file } }) {
  const input = new FileInput(file);
  let reportedAt = 0;
  const progress = () => { postMessage({ progress: { read: input.at, size: file.size } }); };
  const reader = new MessageReader((message, data) => {
    if (message.kind === "rewind") input.rewind();
    else postMessage({ message, data }, [data]);
  });
  const watched = {
    read(target) {
      const before = input.at;
      const bytes = input.read(target);
      if (input.at !== before && Date.now() - reportedAt > 60) { reportedAt = Date.now(); progress(); }
      return bytes;
    },
  };
  postMessage({ done: runProgram(module, args, watched, (bytes) => reader.write(bytes)) });
}

/** Letters of base 85, each standing for its place (RFC 1924), but for two that markup and scripts may take for their own; `ci/viewer.py` writes them. */
const BASE85 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;,=>?@^_.{|}~";

/** The bytes of base 85: four are five letters, and of the last four those that are missing are letters less. */
function fromBase85(text) {
  const places = new Uint8Array(128);
  for (let i = 0; i < BASE85.length; i += 1) places[BASE85.charCodeAt(i)] = i;
  const bytes = new DataView(new ArrayBuffer(4 * Math.ceil(text.length / 5)));
  for (let at = 0; at < text.length; at += 5) {
    let value = 0;
    for (let i = at; i < at + 5; i += 1) value = value * 85 + (i < text.length ? places[text.charCodeAt(i)] : 84);
    bytes.setUint32(4 * at / 5, value);
  }
  return new Uint8Array(bytes.buffer, 0, Math.floor(4 * text.length / 5));
}

/** The program, compiled once, and what workers are made of. */
const program = {
  module: null,
  source: null,
  waiting: [],
  running: 0,
  /** Workers at the same time; the page needs a core, too. */
  most: Math.max(1, Math.min(4, (navigator.hardwareConcurrency || 2) - 1)),

  async load() {
    program.module ??= inflatedBytes(fromBase85(document.getElementById("program").textContent)).then((bytes) => WebAssembly.compile(bytes));
    program.source ??= URL.createObjectURL(new Blob([
      `"use strict"; const CHUNK = ${CHUNK};\n`, [FileInput, MessageReader, runProgram, work].join("\n"), "\nonmessage = work;",
    ], { type: "text/javascript" }));
    return program.module;
  },

  /**
   * Runs the program in a worker, later if there are many. `onMessage(message, data)` gets its messages,
   * `onProgress({ read, size })` how far it has read `file`. What it returns can be stopped, and
   * `done` is `{ code, stderr, memory }` in the end, null if it was stopped.
   */
  run(args, file, { onMessage, onProgress = () => {} }) {
    const run = { worker: null, stopped: false, begin: null };
    run.done = new Promise((resolve, reject) => {
      const end = (act, value) => {
        if (run.worker) program.running -= 1;
        run.worker?.terminate();
        run.worker = null;
        act(value);
        program.next();
      };
      run.stop = () => { run.stopped = true; program.waiting = program.waiting.filter((other) => other !== run); end(resolve, null); };
      run.begin = async () => {
        program.running += 1;
        run.worker = true;
        const module = await program.load().catch((error) => { run.worker = null; program.running -= 1; reject(error); });
        if (run.stopped || !module) return;
        run.worker = new Worker(program.source);
        run.worker.onmessage = ({ data }) => {
          if (data.message) onMessage(data.message, data.data);
          else if (data.progress) onProgress(data.progress);
          else end(resolve, data.done);
        };
        run.worker.onerror = (event) => { event.preventDefault(); end(reject, new Error(event.message || "the worker failed")); };
        run.worker.onmessageerror = () => end(reject, new Error("the worker cannot be reached"));
        run.worker.postMessage({ module, args, file });
      };
      program.waiting.push(run);
    });
    program.next();
    return run;
  },

  next() {
    while (program.running < program.most && program.waiting.length) program.waiting.shift().begin();
  },
};
