import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "@steps/testkit";
import { expect, test } from "vitest";
import { type Job, kill, PodMachine } from "./pod-machine.ts";
import { numbersIn, numbersTo } from "./runner-harness.ts";

function scriptPayload(script: readonly string[], more: object = {}): object {
  return {
    variables: [{ key: "GIT_STRATEGY", value: "none", public: true, masked: false, file: false, raw: false }],
    steps: [{ name: "script", script, timeout: 3600, when: "on_success", allow_failure: false }],
    ...more,
  };
}

const ENDED = ({ state }: Job): boolean => ["success", "failed", "canceled"].includes(state);

test("a pod and its runner, both killed in the middle of a pipeline: artifacts are passed on, traces are exact, nothing runs twice", async () => {
  const machine = new PodMachine();
  const port = await freePort();
  const pod = await machine.serve(port);
  const { token } = JSON.parse(await machine.run("pod", "create-runner", "--run-untagged", "--report", "json")) as {
    token: string;
  };
  await machine.run("runner-bridge", "register", "--url", pod.url, "--token", token);
  const count = "i=0; while [ $i -lt 600 ]; do i=$((i+1)); echo n$i; [ $((i % 20)) = 0 ] && sleep 0.1; done";
  const artifacts = [{ name: "a", paths: ["made"], artifact_type: "archive", artifact_format: "zip" }];
  const [build, use] = await machine.pipeline(
    ["build", "test"],
    [
      {
        name: "build",
        stage: "build",
        payload: scriptPayload(["echo run >>runs", count, "cat runs >made"], { artifacts }),
      },
      { name: "use", stage: "test", payload: scriptPayload(["rm -f runs", "cat made", "exit 4"]) },
    ],
  );
  const [buildId, useId] = [build?.id ?? 0, use?.id ?? 0];
  const first = machine.start("runner-bridge", "start");
  await machine.until(buildId, ({ state }) => state === "running");
  await delay(500);
  await kill(first);
  await kill(pod);
  const second = machine.start("runner-bridge", "start");
  await delay(500);
  await machine.serve(port);
  expect(await machine.until(buildId, ENDED)).toMatchObject({ state: "success" });
  expect(numbersIn(Buffer.from(await machine.trace(buildId)))).toEqual(numbersTo(600));
  expect(await machine.until(useId, ENDED)).toMatchObject({ state: "failed" });
  const trace = await machine.trace(useId);
  expect(trace.match(/^run$/gmu)).toHaveLength(1);
  expect(trace).toContain("Job failed: exit code 4");
  second.child.kill("SIGTERM");
  expect(await second.ended).toMatchObject({ code: 0 });
});
