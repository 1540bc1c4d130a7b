import { describe, expect, test } from "vitest";
import { openDatabase } from "../src/database/open-database.ts";
import { PodKeys } from "../src/keys/pod-keys.ts";
import { databaseKinds, useDatabase } from "./databases.ts";
import { runnerInfo, startPod, takeJob, type TestPod } from "./pod-harness.ts";

interface Taken {
  readonly id: number;
  readonly token: string;
}

async function kidsOf({ url }: TestPod): Promise<readonly string[]> {
  const reply = await fetch(`${url}/.well-known/jwks.json`);
  const { keys } = (await reply.json()) as { readonly keys: readonly { readonly kid: string; readonly alg: string }[] };
  expect(new Set(keys.map(({ alg }) => alg))).toEqual(new Set(["EdDSA"]));
  return keys.map(({ kid }) => kid);
}

function kidOf({ token }: Taken): string {
  const header = Buffer.from(token.replace(/^glcbt-/, "").split(".", 1)[0] ?? "", "base64url").toString();
  return (JSON.parse(header) as { readonly kid: string }).kid;
}

describe.each(databaseKinds.filter((kind) => kind === "PostgreSQL"))(
  "the keys of a pod of several processes with %s",
  (kind) => {
    const database = useDatabase(kind);

    test("a rotation in the middle of a job: the old key verifies, and the new one was known everywhere before it signs", async () => {
      const { databaseUrl = "" } = database.options();
      const first = await startPod({ databaseUrl });
      const { token: runner } = await first.createRunner();
      const [active, next] = await kidsOf(first);
      await first.createPipeline({});
      const before = (await takeJob(first, runner)) as Taken;
      expect(kidOf(before)).toBe(active);

      const other = await openDatabase({ url: databaseUrl, stateDir: first.stateDir, pod: 1 });
      await (await PodKeys.open(other, 3600)).rotate();
      await other.close();
      const second = await startPod({ databaseUrl });
      const kids = await kidsOf(second);
      expect(kids).toHaveLength(3);
      expect(kids).toEqual(expect.arrayContaining([active, next]));

      // The second process knows the key of the first, and the first that of the second, which it has not read anew.
      const bytes = Buffer.from("x");
      expect(await second.api.patchTrace(before.id, { token: before.token, offset: 0, bytes })).toMatchObject({
        status: 202,
      });
      await second.createPipeline({});
      const after = (await takeJob(second, runner)) as Taken;
      expect(kidOf(after)).toBe(next);
      expect(await kidsOf(first)).toHaveLength(2);
      const end = { token: after.token, state: "success", info: runnerInfo() } as const;
      expect(await first.api.updateJob(after.id, end)).toMatchObject({ status: 200 });
      await first.stop();
      await second.stop();
    });
  },
);
