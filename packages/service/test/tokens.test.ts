import { Code, ConnectError } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { TOKEN_HEADER } from "../src/index.ts";
import { clientsOf, openWorld, readAll, type World } from "./harness.ts";

const request = { id: "a", ciScript: "echo secret output; exit 3" };
const steps = "{}\n---\nrun: [{name: a, script: 'true'}]\n";

async function codeOf(call: Promise<unknown>): Promise<Code | "ok"> {
  try {
    await call;
    return "ok";
  } catch (error) {
    return ConnectError.from(error).code;
  }
}

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const item of stream) void item;
}

function everyCall({ ours, theirs }: Pick<World, "ours" | "theirs">): Promise<Code | "ok">[] {
  return [
    ours.run(request),
    drain(ours.follow({ id: "a" })),
    drain(ours.followIO({ id: "a" })),
    drain(ours.getTrace({ id: "a" })),
    drain(theirs.followLogs({ id: "a" })),
    theirs.run({ id: "a", steps }),
    ours.cancel({ id: "a" }),
    theirs.cancel({ id: "a" }),
    ours.close({ id: "a" }),
    theirs.close({ id: "a" }),
  ].map(codeOf);
}

describe("a job with a token", () => {
  test("is only for whoever knows it", async () => {
    const world = await openWorld();
    const owner = clientsOf(world.socket, { [TOKEN_HEADER]: "right" });
    await owner.ours.run(request);
    expect(new Set(await Promise.all(everyCall(world)))).toEqual(new Set([Code.Unauthenticated]));
    const { rawMessage } = await world.ours.cancel({ id: "a" }).then(
      () => new ConnectError(""),
      (error: unknown) => ConnectError.from(error),
    );
    expect(rawMessage).toMatch(/^Job "a" has a token, and the call has none\n {2}hint: .*metadata .*--token\.$/);
    const stranger = clientsOf(world.socket, { [TOKEN_HEADER]: "wrong" });
    expect(new Set(await Promise.all(everyCall(stranger)))).toEqual(new Set([Code.PermissionDenied]));
    expect((await readAll(owner.ours, "a")).stdout).toBe("secret output\n");
    await drain(owner.ours.follow({ id: "a" }));
    for (const call of everyCall(owner)) expect(await call).toBe("ok");
  });

  test("is seen by all, and why it failed only by whoever knows the token", async () => {
    const world = await openWorld();
    const owner = clientsOf(world.socket, { [TOKEN_HEADER]: "right" });
    await owner.ours.run(request);
    await drain(owner.ours.follow({ id: "a" }));
    const [mine] = (await owner.ours.list({})).jobs;
    expect(mine?.error?.message).toContain("exit status 3");
    const [others] = (await world.ours.list({})).jobs;
    expect(others).toMatchObject({ id: "a", exitCode: 3 });
    expect(others?.error).toBeUndefined();
    const [full] = (await owner.theirs.status({ id: "a" })).jobs;
    expect(full?.message).toMatch(/step .*: exit status 3$/);
    for (const id of ["", "a"]) expect((await world.theirs.status({ id })).jobs[0]?.message).toBe("exit status 3");
  });

  test("is not told by its digest", async () => {
    const world = await openWorld();
    await clientsOf(world.socket, { [TOKEN_HEADER]: "right" }).ours.run(request);
    const digest = world.jobs.get("a")?.info.tokenDigest ?? "";
    expect(digest).toMatch(/^[0-9a-f]{64}$/);
    expect(await codeOf(clientsOf(world.socket, { [TOKEN_HEADER]: digest }).ours.cancel({ id: "a" }))).toBe(
      Code.PermissionDenied,
    );
  });
});

test("a job without a token is for everybody", async () => {
  const world = await openWorld();
  await world.ours.run(request);
  const someone = clientsOf(world.socket, { [TOKEN_HEADER]: "any" });
  expect((await readAll(someone.ours, "a")).stdout).toBe("secret output\n");
});

test("a service can refuse jobs without a token, from either service", async () => {
  const world = await openWorld({ requiresToken: true });
  expect(await codeOf(world.ours.run(request))).toBe(Code.Unauthenticated);
  expect(await codeOf(world.theirs.run({ id: "b", steps }))).toBe(Code.Unauthenticated);
  expect((await world.ours.list({})).jobs).toEqual([]);
  const owner = clientsOf(world.socket, { [TOKEN_HEADER]: "right" });
  expect(await codeOf(owner.theirs.run({ id: "b", steps }))).toBe("ok");
});
