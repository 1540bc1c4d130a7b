import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { Ajv, type AnySchemaObject } from "ajv";
import { describe, expect, test } from "vitest";
import { createWorld, type World } from "./harness.ts";

const TEN_MISTAKES = `spec:
  inputs:
    who: {typ: string}
    level: {type: strng}
    2nd: {type: string}
    "𝒽i": {type: number, default: "𝒽", wrong: 1}
    old: {type: bool}
---
exec:
  comand: [echo, "\${{ 1 + }}"]
  command: [echo, "𝒽 \${{ 1 + }}"]
evn: {A: b}
outputs: {a: 1}
`;

interface Sarif {
  readonly runs: readonly [
    {
      readonly columnKind: string;
      readonly tool: { readonly driver: { readonly rules: readonly Rule[] } };
      readonly artifacts: readonly { readonly location: Location }[];
      readonly results: readonly Result[];
    },
  ];
}
interface Rule {
  readonly id: string;
  readonly help: { readonly text: string };
}
interface Location {
  readonly uri: string;
  readonly uriBaseId?: string;
}
interface Result {
  readonly ruleId: string;
  readonly ruleIndex: number;
  readonly level: string;
  readonly message: { readonly text: string };
  readonly locations: readonly [
    {
      readonly physicalLocation: {
        readonly artifactLocation: Location & { readonly index: number };
        readonly region: {
          readonly startLine: number;
          readonly startColumn: number;
          readonly endLine: number;
          readonly endColumn: number;
        };
      };
    },
  ];
}

/** The schema of OASIS, as a package of Microsoft's brings it. What it says of itself is draft 04, what it uses is in draft 07 too. */
function officialSchema(): AnySchemaObject {
  const entry = createRequire(import.meta.url).resolve("@microsoft/jest-sarif/package.json");
  const text = readFileSync(join(dirname(entry), "lib/schemas/sarif-2.1.0-rtm.5.json"), "utf8");
  const { $schema, id, ...schema } = JSON.parse(text) as AnySchemaObject;
  expect([$schema, id]).toEqual(["http://json-schema.org/draft-04/schema#", expect.stringContaining("sarif")]);
  return schema;
}

const isSarif = new Ajv({ strict: false, unicodeRegExp: false, validateFormats: false, allErrors: true }).compile(
  officialSchema(),
);

async function sarifOf(world: World, args: readonly string[], env: Record<string, string> = {}): Promise<Sarif> {
  const { stdout } = await world.run(["validate", ...args, "--format", "sarif"], { env });
  const log = JSON.parse(stdout) as Sarif;
  expect(isSarif(log), JSON.stringify(isSarif.errors)).toBe(true);
  return log;
}

function lay(world: World, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(world.work, path)), { recursive: true });
    writeFileSync(join(world.work, path), text);
  }
}

describe("validate --format sarif", () => {
  test("is SARIF 2.1.0 with a rule, a level and a region for each of ten mistakes", async () => {
    const world = createWorld();
    lay(world, { "steps/a b#c/step.yml": TEN_MISTAKES });
    const [run] = (await sarifOf(world, ["."])).runs;
    const { results } = run;
    expect(results.filter(({ level }) => level === "error").length).toBeGreaterThanOrEqual(10);
    expect(new Set(results.map(({ level }) => level))).toEqual(new Set(["error", "note"]));
    const { rules } = run.tool.driver;
    for (const result of results) {
      const [{ physicalLocation }] = result.locations;
      expect(rules[result.ruleIndex]?.id).toBe(result.ruleId);
      expect(physicalLocation.artifactLocation).toEqual({
        uri: "steps/a%20b%23c/step.yml",
        uriBaseId: "%SRCROOT%",
        index: 0,
      });
    }
    expect(rules.every(({ help }) => help.text.length > 10)).toBe(true);
  });

  test("is what the guide shows of the example", async () => {
    const root = resolve(import.meta.dirname, "../../..");
    const read = (path: string): string => readFileSync(join(root, path), "utf8");
    const world = createWorld();
    lay(world, { "examples/mistakes/func.yml": read("examples/mistakes/func.yml") });
    const args = ["examples/mistakes/func.yml"];
    const shown = JSON.parse(read("examples/mistakes/func.sarif")) as Sarif;
    const sarif = await sarifOf(world, args);
    expect(sarif).toEqual(shown);
    expect(shown.runs[0].results).toHaveLength(10);
    const guide = read("docs/guide/mistakes.md");
    const text = await world.run(["validate", ...args]);
    expect(text.code).toBe(2);
    expect(guide).toContain(`$ step-runner validate examples/mistakes/func.yml\n${text.stderr}$ echo $?\n`);
    expect(guide).toContain(read("examples/mistakes/func.yml"));
    expect(guide).toContain(JSON.stringify(shown.runs[0].results[0], null, 2));
  });

  test("counts columns in UTF-16 units, as it says", async () => {
    const world = createWorld();
    lay(world, { "step.yml": TEN_MISTAKES });
    const [run] = (await sarifOf(world, ["step.yml"])).runs;
    expect(run.columnKind).toBe("utf16CodeUnits");
    const lines = TEN_MISTAKES.split("\n");
    const wrong = run.results.find(({ message }) => message.text.includes('"wrong"'));
    const { startLine, startColumn, endLine, endColumn } = wrong?.locations[0].physicalLocation.region ?? {};
    expect({ startLine, endLine }).toEqual({ startLine: 6, endLine: 6 });
    expect(lines[5]?.slice((startColumn ?? 0) - 1, (endColumn ?? 0) - 1)).toBe("wrong");
  });

  test("knows files outside of the root, and sources that are no files", async () => {
    const world = createWorld();
    writeFileSync(join(world.dir, "step.yml"), "{}\n---\n{}\n");
    const outside = (await sarifOf(world, ["../step.yml"])).runs[0].artifacts[0]?.location;
    expect(outside).toEqual({ uri: `file://${world.dir}/step.yml` });
    const steps = (await sarifOf(world, [], { STEPS: "- {name: a}" })).runs[0].artifacts[0]?.location;
    expect(steps).toEqual({ uri: "STEPS" });
    const typed = (await sarifOf(world, ["--json", "[{}]"])).runs[0].artifacts[0]?.location;
    expect(typed).toEqual({ uri: "%3Cargument%3E" });
  });

  test("has no results where there are no mistakes", async () => {
    const world = createWorld();
    lay(world, { "step.yml": "{}\n---\nexec: {command: [ls]}\n" });
    expect((await sarifOf(world, ["step.yml"])).runs[0].results).toEqual([]);
  });
});
