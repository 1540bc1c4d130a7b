import { array, assert, boolean, property, string } from "fast-check";
import { expect, test } from "vitest";
import { PAYLOAD } from "./payload-message.ts";

const small = { id: 1, token: "t" };

test("a payload may leave everything out but its id and its token", () => {
  const payload = PAYLOAD.read(JSON.stringify(small));
  expect(payload).toMatchObject({ id: 1, token: "t", variables: [], steps: [], image: null, allow_git_fetch: false });
  expect(payload.git_info).toMatchObject({ repo_object_format: "sha1", depth: 0, protected: null });
  expect(payload.runner_info.timeout).toBe(0);
});

test("null is the same as absent, also for run, which is never written as null", () => {
  const given = {
    ...small,
    run: null,
    steps: null,
    artifacts: null,
    dependencies: null,
    image: { name: null },
    inputs: null,
  };
  const payload = PAYLOAD.read(JSON.stringify(given));
  expect(payload.run).toBeUndefined();
  expect(payload.image).toBeNull();
  expect(JSON.parse(PAYLOAD.write(payload))).not.toHaveProperty("run");
});

test("a reader leaves unknown keys out, a writer refuses them", () => {
  const read = PAYLOAD.read(JSON.stringify({ ...small, future: 1, job_info: { name: "a", future: 2 } }));
  expect(read).not.toHaveProperty("future");
  expect(read.job_info).not.toHaveProperty("future");
  expect(() => PAYLOAD.write({ ...read, future: 1 } as never)).toThrow("future: the API has no such key");
});

test("a wrong type is an error that names the place and quotes nothing", () => {
  const secret = { ...small, variables: [{ key: "A", value: { nested: "hunter2" } }] };
  expect(() => PAYLOAD.read(JSON.stringify(secret))).toThrow("variables[0].value: must be a string, not an object");
  expect(() => PAYLOAD.read(JSON.stringify({ id: 1 }))).toThrow("token: missing; it must be a string");
  expect(() => PAYLOAD.read('{"token":"hunter2"')).toThrow("The message is no JSON");
  const noValue = { ...small, inputs: [{ key: "a", value: { type: "string", content: null } }] };
  expect(() => PAYLOAD.read(JSON.stringify(noValue))).toThrow("inputs[0].value.content");
});

test("a job with run is written without steps", () => {
  const written = JSON.parse(PAYLOAD.write(PAYLOAD.readValue({ ...small, run: "[]" }))) as object;
  expect(written).toHaveProperty("run", "[]");
  expect(written).not.toHaveProperty("steps");
});

test("nesting has an end", () => {
  const deep = `{"id":1,"token":"t","secrets":{"a":${"[".repeat(5_000)}${"]".repeat(5_000)}}}`;
  expect(() => PAYLOAD.read(deep)).toThrow("nested too deeply");
});

test("what is written is read back, whatever the texts", () => {
  assert(
    property(string(), array(string()), boolean(), (value, script, flag) => {
      const payload = PAYLOAD.readValue({
        ...small,
        variables: [{ key: "A", value, masked: flag }],
        steps: [{ name: "script", script }],
        run: JSON.stringify([{ name: value }]),
      });
      expect(PAYLOAD.read(PAYLOAD.write(payload))).toEqual(payload);
    }),
  );
});
