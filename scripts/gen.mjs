// Writes everything that is generated: packages/proto/src/gen from proto/, packages/model/src/gen from that, then schemas and
// references. With --check only says whether the first two are what is committed; the other scripts have a --check of their own.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { jsonTypes } from "./json-types.mjs";
import { root, run } from "./setup.mjs";

const files = [
  "steps/v1/step_pb.ts",
  "steps/v1/trace_pb.ts",
  "steps/v1/pipeline_trace_pb.ts",
  "steps/v1/step_runner_pb.ts",
  "proto/step_pb.ts",
  "grpc/health/v1/health_pb.ts",
  "grpc/reflection/v1/reflection_pb.ts",
  "grpc/reflection/v1alpha/reflection_pb.ts",
];
const read = (base, file) => readFileSync(join(base, "packages/proto/src/gen", file), "utf8");
// The types of the baseline's JSON without the runtime of protobuf, for packages that run anywhere.
const typesFile = join(root, "packages/model/src/gen/step-json.ts");

if (process.argv.includes("--check")) {
  const scratch = mkdtempSync(join(tmpdir(), "steps-gen-"));
  try {
    if (run("buf", ["generate", "-o", scratch]) !== 0) process.exit(1);
    const stale = files.filter((file) => read(scratch, file) !== read(root, file));
    if (jsonTypes(read(scratch, files[0])) !== readFileSync(typesFile, "utf8")) stale.push("step-json.ts");
    if (stale.length > 0) {
      process.stderr.write(`Generated files are stale: ${stale.join(", ")}; run pnpm gen\n`);
      process.exitCode = 1;
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
} else {
  if (run("buf", ["generate"]) !== 0) process.exit(1);
  mkdirSync(dirname(typesFile), { recursive: true });
  writeFileSync(typesFile, jsonTypes(read(root, files[0])));
  for (const script of ["schemas", "cli-docs", "diagnostics-docs", "gitlab-steps-docs", "conformance-table"]) {
    if (run("node", ["--conditions=steps-source", join(root, "scripts", `${script}.mjs`)]) !== 0) process.exitCode = 1;
  }
}
