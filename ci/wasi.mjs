// wasi.mjs PROGRAM [ARGUMENT…]: runs a WebAssembly program with the files of this machine.
import { readFileSync } from "node:fs";
import { argv, env, exit } from "node:process";
import { WASI } from "node:wasi";

const args = argv.slice(2);
const wasi = new WASI({ version: "preview1", args, env, preopens: { "/": "/" } });
const { instance } = await WebAssembly.instantiate(readFileSync(args[0]), wasi.getImportObject());
exit(wasi.start(instance));
