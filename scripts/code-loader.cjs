// Stands at the beginning of each command: chunks are compiled with the code that V8 kept when the command was built, which
// takes half of the time. The code lies beside the program, so who can change it can change the program; no job ever
// writes it (ADR 20). V8 refuses what another version of it or another processor made, and then compiles as always.
(function (dir) {
  const { readFileSync } = require("node:fs");
  const Module = require("node:module");
  const path = require("node:path");
  const { Script, constants } = require("node:vm");
  let pack;
  let places;
  try {
    pack = readFileSync(`${dir}/code.bin`);
    const start = 4 + pack.readUInt32LE(0);
    places = JSON.parse(pack.toString("utf8", 4, start));
    if (places.v8 !== process.versions.v8) return;
    pack = pack.subarray(start);
  } catch {
    return;
  }
  // oxlint-disable-next-line typescript/unbound-method -- called with the module as `this`
  const compile = Module.prototype._compile;
  Module.prototype._compile = function (content, filename, ...rest) {
    // The name of a chunk has the digest of its content in it.
    const place = filename === `${dir}/${path.basename(filename)}` ? places.chunks[path.basename(filename)] : undefined;
    if (place === undefined) return compile.call(this, content, filename, ...rest);
    const script = new Script(Module.wrap(content), {
      filename,
      cachedData: pack.subarray(place[0], place[0] + place[1]),
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    const require = Module.createRequire(filename);
    return script.runInThisContext().call(this.exports, this.exports, require, this, filename, dir);
  };
})(__dirname);
