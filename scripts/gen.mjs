// Generates packages/proto/src/gen from proto/; with --check only says whether it is what is committed.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root, run } from "./setup.mjs";

const files = [
  "steps/v1/step_pb.ts",
  "steps/v1/trace_pb.ts",
  "steps/v1/step_runner_pb.ts",
  "proto/step_pb.ts",
  "grpc/health/v1/health_pb.ts",
  "grpc/reflection/v1/reflection_pb.ts",
  "grpc/reflection/v1alpha/reflection_pb.ts",
];
if (process.argv.includes("--check")) {
  const scratch = mkdtempSync(join(tmpdir(), "steps-gen-"));
  try {
    if (run("buf", ["generate", "-o", scratch]) !== 0) process.exit(1);
    const stale = files.filter((file) => {
      const read = (base) => readFileSync(join(base, "packages/proto/src/gen", file), "utf8");
      return read(scratch) !== read(root);
    });
    if (stale.length > 0) {
      process.stderr.write(`Generated files are stale: ${stale.join(", ")}; run pnpm gen\n`);
      process.exitCode = 1;
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
} else {
  process.exitCode = run("buf", ["generate"]);
}
