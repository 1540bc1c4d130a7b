import { expect, test } from "vitest";
import { CREATE_RUNNER_REQUEST, JOB_REQUEST, JOB_UPDATE, REGISTER_REQUEST, REGISTERED_RUNNER } from "./index.ts";
import { type RunnerInfo } from "./index.ts";

const info: RunnerInfo = {
  name: "steps",
  version: "1",
  revision: "",
  platform: "linux",
  architecture: "amd64",
  executor: "host",
  shell: "bash",
  labels: {},
  config: {},
  features: { refspecs: true },
};

test("a registration is read under its old names too", () => {
  const read = REGISTER_REQUEST.read('{"token":"t","maintainer_note":"n","active":false,"tag_list":["a","b"]}');
  expect(read).toMatchObject({ token: "t", maintenance_note: "n", paused: true, tag_list: "a,b" });
  expect(read.info.features).toEqual({});
});

test("a request for a job needs nothing: its token may be in a header", () => {
  expect(JOB_REQUEST.read("{}").token).toBeUndefined();
  expect(JOB_REQUEST.read('{"info":{"features":{"a":true,"b":"x"}}}').info.features).toEqual({ a: true });
});

test("a request larger than 32 KiB is refused before it is read", () => {
  expect(() => JOB_REQUEST.read(`{"token":"${"a".repeat(40_000)}"}`)).toThrow("larger than 32768 bytes");
});

test("an update may have no state, and a state that is not known is for the server to refuse", () => {
  expect(JOB_UPDATE.read("{}").state).toBeUndefined();
  expect(JOB_UPDATE.read('{"state":"dancing"}').state).toBe("dancing");
  expect(() => JOB_UPDATE.write({ info, state: "dancing" })).toThrow("state: must be one of pending, running");
  expect(JOB_UPDATE.read(JOB_UPDATE.write({ info, state: "failed", exit_code: 3 })).exit_code).toBe(3);
});

test("answers and creation requests go there and back", () => {
  const runner = { id: 3, token: "glrt-a", token_expires_at: null };
  expect(REGISTERED_RUNNER.read(REGISTERED_RUNNER.write(runner))).toEqual(runner);
  expect(() => CREATE_RUNNER_REQUEST.write({ runner_type: "cluster" })).toThrow("runner_type");
  expect(CREATE_RUNNER_REQUEST.read('{"runner_type":"instance_type"}')).toEqual({ runner_type: "instance_type" });
});
