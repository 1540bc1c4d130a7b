import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createWorld } from "./harness.ts";

interface Explained {
  readonly example: { readonly item: string; readonly command: string };
}

const STEP = `spec:
  inputs:
    who: {type: string}
    level: {type: number, options: [7, 8]}
    flag: {type: boolean}
    list: {type: array}
    key: {type: string, sensitive: true}
  secrets: {token: {}}
---
exec: {command: [echo, "\${{ inputs.who }} \${{ inputs.level }}"]}
`;

describe("the example of explain", () => {
  test.each(["./9 greet's", "builtin://script", "builtin://docker/auth", "builtin://function/oci/build"])(
    "compiles with all that %s requires",
    async (reference) => {
      const world = createWorld();
      mkdirSync(join(world.work, "9 greet's"));
      writeFileSync(join(world.work, "9 greet's/step.yml"), STEP);
      const { code, stdout } = await world.run(["explain", reference, "--format", "json"]);
      expect(code).toBe(0);
      const { example } = JSON.parse(stdout) as Explained;
      const checked = await world.run(["compile", "--eager"], { env: { STEPS: example.item } });
      expect(checked).toMatchObject({ code: 0, stderr: "" });
    },
  );

  test("runs as it is printed", async () => {
    const world = createWorld();
    mkdirSync(join(world.work, "it's"));
    writeFileSync(join(world.work, "it's/step.yml"), STEP.replace("  secrets: {token: {}}\n", ""));
    const { stdout } = await world.run(["explain", "./it's", "--format", "json"]);
    const { command } = (JSON.parse(stdout) as Explained).example;
    writeFileSync(join(world.work, "run.sh"), `KEY=secret\n${command}\n`);
    const STEPS = JSON.stringify([{ name: "try", script: "sh run.sh" }]);
    const PATH = `${process.env["PATH"] ?? ""}:${join(import.meta.dirname, "../../../node_modules/.bin")}`;
    const ended = await world.run(["ci"], { env: { STEPS, PATH } });
    expect(ended).toMatchObject({ code: 0 });
    expect(ended.stdout).toContain("TEXT 7");
  });
});
