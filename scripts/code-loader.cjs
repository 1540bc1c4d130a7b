// Stands at the beginning of each command: chunks are compiled with the code that V8 kept when the command was built, which
// takes half of the time. The code lies beside the program, so who can change it can change the program; no job ever
// writes it (ADR 20). V8 refuses what another version of it or another processor made, and then compiles as always.
(function (dir) {
  const { readFileSync } = require("node:fs");
  const { wrap } = require("node:module");
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
  const own = require;
  const chunks = new Map([["./main.cjs", module]]);
  // Chunks name each other by files beside them: no search for a module, and no record of one, is needed.
  function requireChunk(id) {
    return id.startsWith("./") ? (chunks.get(id) ?? load(id)).exports : own(id);
  }
  function load(id) {
    const filename = `${dir}/${id.slice(2)}`;
    // The name of a chunk has the digest of its content in it.
    const place = places.chunks[id.slice(2)];
    const script = new Script(wrap(readFileSync(filename, "utf8")), {
      filename,
      cachedData: place && pack.subarray(place[0], place[0] + place[1]),
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    const chunk = { exports: {} };
    chunks.set(id, chunk);
    script.runInThisContext().call(chunk.exports, chunk.exports, requireChunk, chunk, filename, dir);
    return chunk;
  }
  // What follows in this file is compiled with this require.
  require = requireChunk;
})(__dirname);
