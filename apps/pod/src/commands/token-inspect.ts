import { text as textOf } from "node:stream/consumers";
import { defineCommand, UsageError } from "@steps/console";
import { print } from "@steps/console/terminal";
import { inspectBuildToken, parseRoutableToken, type Routing, tokenFingerprint } from "@steps/pod-tokens";
import { reportFlags } from "../pod-flags.ts";
import { formatJson } from "../table.ts";

export const tokenInspect = defineCommand({
  name: "token inspect",
  summary: "Show what the token of a runner or of a job says: its pod, project, job, attempt, rights and end",
  usage: "TOKEN|- [flags]",
  description: [
    "Nothing is asked of any pod, and nothing is checked but the form: whether a token is good is known to its pod alone. " +
      "With - the token is read from standard input, so that it stands in no list of processes.",
  ],
  flags: reportFlags,
  positionals: { min: 1, max: 1 },
  examples: [["printenv CI_JOB_TOKEN | pod token inspect -", "what may this job do, and until when"]],
  async run(options, [given = ""]) {
    const token = (given === "-" ? await textOf(process.stdin) : given).trim();
    const facts = factsOf(token);
    if (facts === undefined)
      throw new UsageError(
        "This is no token of a pod",
        "Those of runners begin with glrt- or glrtr-, those of jobs with glcbt-.",
      );
    await print(options.report === "json" ? formatJson(facts) : describe(facts));
    return 0;
  },
});

type Facts = Readonly<Record<string, unknown>>;

function factsOf(token: string): Facts | undefined {
  const runner = parseRoutableToken(token);
  if (runner !== undefined)
    return { kind: "runner", fingerprint: tokenFingerprint(token), prefix: runner.prefix, ...placeOf(runner.routing) };
  const job = inspectBuildToken(token);
  if (job === undefined) return undefined;
  const { claims } = job;
  return {
    kind: "job",
    fingerprint: tokenFingerprint(token),
    ...placeOf(claims.routing),
    job: claims.jobId,
    attempt: claims.attempt,
    runner: claims.runnerId,
    manager: claims.managerId,
    issued: timeOf(claims.issuedAt),
    expires: timeOf(claims.expiresAt),
    scopes: claims.scopes,
    dependencies: claims.dependencies,
    issuer: claims.issuer,
    algorithm: job.algorithm,
    key: job.kid,
  };
}

function placeOf({ pod, organization, group, project, runnerKind, user }: Routing): Facts {
  const kinds = ["instance", "group", "project"];
  return { pod, organization, group, project, user, runnerKind: runnerKind && (kinds[runnerKind - 1] ?? runnerKind) };
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000Z", "Z");
}

function describe(facts: Facts): string {
  return Object.entries(facts)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name.padEnd(13)} ${Array.isArray(value) ? value.join(" ") : String(value)}\n`)
    .join("");
}
