import { sensitive } from "@steps/model";
import type { StepReference } from "@steps/model/reference";
import { expect, test } from "vitest";
import { eventOf, load, run, sequence, sh } from "./harness.ts";

const TOKEN = "glcbt-64_s3cret";

async function runReference(text: string, vars: Record<string, string> = {}) {
  const loaded: StepReference[] = [];
  const ran = await run(sequence([{ name: "a", step: { kind: "dynamic", text }, inputs: {}, env: {} }]), {
    vars: { CI_JOB_TOKEN: sensitive(TOKEN), REV: "main", ...vars },
    hooks: {
      loadStep: async (reference) => {
        loaded.push(reference);
        return load({ kind: "local", path: "./a" }, { "./a": sh("echo ran") });
      },
    },
  });
  return { ran, loaded };
}

test("a token may be the password of a git URL, and no event holds it", async () => {
  const { ran, loaded } = await runReference(
    "https://gitlab-ci-token:${{ job.CI_JOB_TOKEN }}@host/g/p@${{ vars.REV }}",
  );
  expect(ran).toMatchObject({ output: "ran\n", outcome: { status: "success" } });
  expect(loaded).toEqual([
    { kind: "git", url: `https://gitlab-ci-token:${TOKEN}@host/g/p`, version: "main", dir: "steps" },
  ]);
  expect(eventOf(ran, "step-planned", "0").reference).toMatchObject({ kind: "git", url: "https://host/g/p" });
  expect(JSON.stringify(ran.events)).not.toContain(TOKEN);
});

test.each([
  ["git+https://${{ job.CI_JOB_TOKEN }}@host/g/p//dir/x.yml@v1", { kind: "git", url: `https://${TOKEN}@host/g/p` }],
  [
    'https://${{ "a@b" && "u" }}:${{ vars.CI_JOB_TOKEN }}@host/x.zip//d',
    { kind: "zip", url: `https://u:${TOKEN}@host/x.zip` },
  ],
])("a token may stand in the user information: %s", async (text, reference) => {
  const { ran, loaded } = await runReference(text);
  expect(ran.outcome.status).toBe("success");
  expect(loaded).toMatchObject([reference]);
  expect(JSON.stringify(ran.events)).not.toContain(TOKEN);
});

test.each([
  "https://${{ vars.CI_JOB_TOKEN }}/g/p@main",
  "https://u:${{ vars.CI_JOB_TOKEN }}@host/${{ vars.CI_JOB_TOKEN }}/p@main",
  "https://host/${{ vars.CI_JOB_TOKEN }}/p@main",
  "https://u:p@host/g/p@${{ vars.CI_JOB_TOKEN }}",
  "https://${{ vars.CI_JOB_TOKEN }}@main",
  "${{ vars.CI_JOB_TOKEN }}@main",
  '${{ "https://u:" + vars.CI_JOB_TOKEN + "@host/g/p@main" }}',
  "builtin://${{ vars.CI_JOB_TOKEN }}@x",
  "./${{ vars.CI_JOB_TOKEN }}@x",
  'https://u:${{ vars.CI_JOB_TOKEN + "/g" }}@host/g/p@main',
  'https://u:${{ vars.CI_JOB_TOKEN + "@other" }}@host/g/p@main',
  'https://u:${{ vars.CI_JOB_TOKEN + "#" }}@host/g/p.zip',
])("a secret anywhere else is refused: %s", async (text) => {
  const { ran, loaded } = await runReference(text);
  expect(loaded).toEqual([]);
  expect(ran.outcome).toMatchObject({ status: "failure", error: { code: "REFERENCE_INVALID" } });
  expect(ran.outcome.error?.message).toContain("reference: it is made of a sensitive value");
  expect(JSON.stringify([ran.events, ran.outcome])).not.toContain(TOKEN);
});
