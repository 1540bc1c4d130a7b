import { parseRoutableToken } from "@steps/pod-tokens";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { databaseKinds, useDatabase } from "./databases.ts";
import { metric, runnerInfo, startPod, type TestPod, until } from "./pod-harness.ts";

interface Told {
  readonly id: number;
  readonly token: string;
  readonly token_expires_at: string | null;
  readonly message: string;
}

describe.each(databaseKinds)("runners of a pod with %s", (kind) => {
  const database = useDatabase(kind);
  let pod: TestPod;

  beforeAll(async () => void (pod = await startPod({ ...database.options(), registrationToken: "GR1348941secret" })));
  afterAll(async () => await pod.stop());

  async function call(
    method: string,
    path: string,
    { headers, body }: { readonly headers?: object; readonly body?: string | FormData | URLSearchParams } = {},
  ): Promise<{ readonly status: number; readonly told: Told }> {
    const reply = await fetch(`${pod.url}/api/v4${path}`, { method, headers: { ...headers }, body: body ?? null });
    const text = await reply.text();
    return { status: reply.status, told: (text === "" ? {} : JSON.parse(text)) as Told };
  }
  const byOwner = (): Record<string, string> => ({ "private-token": pod.adminToken });
  const statusOf = async (token: string): Promise<number> =>
    (await call("POST", "/runners/verify", { body: JSON.stringify({ token }) })).status;

  describe("POST /user/runners", () => {
    const create = async (settings: object): ReturnType<typeof call> =>
      await call("POST", "/user/runners", { headers: byOwner(), body: JSON.stringify(settings) });

    test("creates a runner of the instance with the settings of the request", async () => {
      const { status, told } = await create({
        runner_type: "instance_type",
        description: "by API",
        tag_list: ["linux", "arm64"],
        run_untagged: false,
        access_level: "ref_protected",
        maximum_timeout: 3600,
        paused: true,
      });
      expect({ status, told }).toEqual({
        status: 201,
        told: { id: expect.any(Number), token: expect.stringMatching(/^glrt-/), token_expires_at: null },
      });
      const { body } = await pod.admin<readonly object[]>("GET", "/runners");
      expect(body.find((runner) => "id" in runner && runner.id === told.id)).toMatchObject({
        kind: "instance",
        description: "by API",
        tags: ["arm64", "linux"],
        run_untagged: false,
        protected: true,
        paused: true,
        maximum_timeout: 3600,
      });
      expect(await statusOf(told.token)).toBe(200);
    });

    test("creates runners of groups and projects by their ids, which their tokens tell", async () => {
      const { jobs } = await pod.createPipeline({ project: "by/ids" });
      const token = (await pod.createRunner()).token;
      const { payload } = await pod.api.requestJob({ token, system_id: "s_abcdefghijkl", info: runnerInfo() });
      const { namespace_id: group, project_id: project } = payload?.job_info ?? {};
      expect(payload?.id).toBe(jobs[0]?.id);
      const ofGroup = await create({ runner_type: "group_type", group_id: group });
      const ofProject = await create({ runner_type: "project_type", project_id: project });
      expect(parseRoutableToken(ofGroup.told.token)?.routing).toMatchObject({ pod: 1, group, runnerKind: 2 });
      expect(parseRoutableToken(ofProject.told.token)?.routing).toMatchObject({ pod: 1, project, runnerKind: 3 });
    });

    test("takes forms as curl sends them", async () => {
      const urlencoded = new URLSearchParams({ runner_type: "instance_type", tag_list: "a, b", run_untagged: "false" });
      expect((await call("POST", "/user/runners", { headers: byOwner(), body: urlencoded })).status).toBe(201);
      const form = new FormData();
      for (const [name, value] of Object.entries({ runner_type: "instance_type", maximum_timeout: "60" }))
        form.append(name, value);
      for (const tag of ["x", "y"]) form.append("tag_list[]", tag);
      const { status, told } = await call("POST", "/user/runners", { headers: byOwner(), body: form });
      expect(status).toBe(201);
      const { body } = await pod.admin<readonly { id: number }[]>("GET", "/runners");
      expect(body.find(({ id }) => id === told.id)).toMatchObject({ tags: ["x", "y"], maximum_timeout: 60 });
    });

    test.each([
      [{ runner_type: "cluster_type" }, 400],
      [{ runner_type: "group_type" }, 400],
      [{ runner_type: "project_type", project_id: 999_999_999 }, 404],
      [{ runner_type: "instance_type", run_untagged: false }, 400],
      [{ runner_type: "instance_type", maximum_timeout: "long" }, 400],
      [{ runner_type: "instance_type", maximum_timeout: 2 ** 31 }, 400],
    ])("refuses %j with %i", async (settings, status) => {
      expect((await create(settings)).status).toBe(status);
    });

    test("is for the owner alone: the token of a runner is none", async () => {
      const { token } = await pod.createRunner();
      const body = JSON.stringify({ runner_type: "instance_type" });
      for (const headers of [{}, { "private-token": token }, { authorization: `Bearer ${token}` }])
        expect((await call("POST", "/user/runners", { headers, body })).status).toBe(401);
      const bearer = { authorization: `Bearer ${pod.adminToken}` };
      expect((await call("POST", "/user/runners", { headers: bearer, body })).status).toBe(201);
    });
  });

  describe("reset_authentication_token", () => {
    test("of a runner gives it a new token, and the old one counts for a while", async () => {
      const { token } = await pod.createRunner({ token_lifetime: 3600 });
      const body = JSON.stringify({ token });
      const { status, told } = await call("POST", "/runners/reset_authentication_token", { body });
      expect(status).toBe(201);
      expect(Date.parse(told.token_expires_at ?? "")).toBeGreaterThan(Date.now() + 3_000_000);
      expect([await statusOf(token), await statusOf(told.token)]).toEqual([200, 200]);
    });

    test("gives all machines that share a token the same new one, also at once, and never takes it from one of them", async () => {
      const { token } = await pod.createRunner({ token_lifetime: 3600 });
      const reset = async (old: string): Promise<{ status: number; told: { token: string } }> =>
        await call("POST", "/runners/reset_authentication_token", { body: JSON.stringify({ token: old }) });
      const first = await reset(token);
      const others = await Promise.all([reset(token), reset(token), reset(token)]);
      for (const other of others) expect(other).toEqual(first);
      expect([await statusOf(token), await statusOf(first.told.token)]).toEqual([200, 200]);

      const next = await reset(first.told.token);
      expect(next.told.token).not.toBe(first.told.token);
      expect((await reset(token)).status).toBe(403);
      const statuses = [await statusOf(token), await statusOf(first.told.token), await statusOf(next.told.token)];
      expect(statuses).toEqual([403, 200, 200]);
    });

    test("by the owner ends the old token at once, and the requests that wait with it", async () => {
      const { id, token } = await pod.createRunner({ tags: ["nobody"] });
      const waiting = pod.api.requestJob({ token, system_id: "s_abcdefghijkl", info: runnerInfo() });
      await until(async () => (await metric(pod, "held_requests")) === 1);
      const path = `/runners/${id}/reset_authentication_token`;
      // The official runner sends `null`.
      const { status, told } = await call("POST", path, { headers: byOwner(), body: "null" });
      expect(status).toBe(201);
      expect([await statusOf(token), await statusOf(told.token)]).toEqual([403, 200]);
      expect(await waiting).toMatchObject({ status: 204 });
      expect((await call("POST", path, { headers: { "private-token": told.token } })).status).toBe(401);
      expect((await call("POST", "/runners/999999999/reset_authentication_token", { headers: byOwner() })).status).toBe(
        404,
      );
    });
  });

  describe("registration", () => {
    test("with the registration token makes a runner whose token does not ask to be verified", async () => {
      const body = JSON.stringify({ token: "GR1348941secret", tag_list: "a,b", info: { name: "old" } });
      const { status, told } = await call("POST", "/runners", { body });
      expect({ status, token: told.token }).toEqual({ status: 201, token: expect.stringMatching(/^glrtr-/) as string });
      const refused = new URLSearchParams({ token: "wrong" });
      expect((await call("POST", "/runners/", { body: refused })).status).toBe(403);
    });

    test("is answered 410 where there is no registration token", async () => {
      const other = await startPod();
      const reply = await fetch(`${other.url}/api/v4/runners`, { method: "POST", body: '{"token":"x"}' });
      await other.stop();
      expect(reply.status).toBe(410);
    });
  });

  describe("removal", () => {
    test("forgets a machine, and the runner with all of them", async () => {
      const { id, token } = await pod.createRunner();
      await pod.api.verify({ token, system_id: "s_aaaaaaaaaaaa", info: runnerInfo() });
      const forget = async (body: object): Promise<number> =>
        (await call("DELETE", "/runners/managers", { body: JSON.stringify(body) })).status;
      expect(await forget({ token })).toBe(400);
      expect(await forget({ token, system_id: "s_aaaaaaaaaaaa" })).toBe(204);
      expect(await forget({ token, system_id: "s_aaaaaaaaaaaa" })).toBe(404);
      expect(await forget({ token: "glrt-nobody", system_id: "s_aaaaaaaaaaaa" })).toBe(403);
      // The token in a header alone, as recent runners send it besides the body.
      expect((await call("DELETE", "/runners", { headers: { "runner-token": token } })).status).toBe(204);
      expect(await statusOf(token)).toBe(403);
      await until(async () => (await pod.admin("DELETE", `/runners/${id}`)).status === 404);
    });
  });

  test("tokens are read from the body first, and from all headers that clients use", async () => {
    const { token } = await pod.createRunner();
    for (const headers of [
      { "runner-token": token },
      { "private-token": token },
      { "job-token": token },
      { authorization: `Bearer ${token}` },
    ])
      expect((await call("POST", "/runners/verify", { headers, body: "{}" })).status).toBe(200);
    const headers = { "runner-token": "glrt-nobody" };
    const body = new URLSearchParams({ token });
    expect((await call("POST", "/runners/verify", { headers, body })).status).toBe(200);
  });
});
