import { readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tempDir } from "@steps/testkit";
import { beforeEach, expect, test, vi } from "vitest";
import { findRecord, openRecord, removeRecord } from "./job-records.ts";

let folder = "";
beforeEach(() => {
  const home = tempDir();
  vi.stubEnv("XDG_STATE_HOME", home);
  folder = join(home, "runner-bridge/jobs");
  return () => vi.unstubAllEnvs();
});

test("a job has one token and one nonce until it is closed", () => {
  const { isNew, ...first } = openRecord("a", "docker x", undefined);
  expect(isNew).toBe(true);
  expect(openRecord("a", "docker x", undefined)).toEqual({ ...first, isNew: false });
  expect(findRecord("a", "docker x")).toEqual(first);
  removeRecord(first);
  expect(findRecord("a", "docker x")).toBeUndefined();
  const second = openRecord("a", "docker x", undefined);
  expect(second.token).not.toBe(first.token);
  expect(second.nonce).not.toBe(first.nonce);
});

test("a token that is given wins, and is another job's than one with another token", () => {
  const first = openRecord("a", "x", "given");
  expect(first.token).toBe("given");
  expect(openRecord("a", "x", "given").nonce).toBe(first.nonce);
  expect(openRecord("a", "x", "other").nonce).not.toBe(first.nonce);
});

test("jobs of other targets are told apart, and found when there is no better one", () => {
  const here = openRecord("a", "this machine", undefined);
  const there = openRecord("a", "ssh host", undefined);
  expect(here.token).not.toBe(there.token);
  expect(findRecord("a", "ssh host")).toMatchObject({ token: there.token });
  removeRecord(there);
  expect(findRecord("a", "socket /s")).toMatchObject({ token: here.token });
  expect(findRecord("b", "this machine")).toBeUndefined();
});

test("nobody else can read them, and old ones go", () => {
  openRecord("../../etc/passwd", "x", undefined);
  const [name = ""] = readdirSync(folder);
  expect(name).toMatch(/^[0-9a-f]{24}-[0-9a-f]{24}\.json$/);
  expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  utimesSync(join(folder, name), 0, 0);
  openRecord("b", "x", undefined);
  expect(readdirSync(folder)).toHaveLength(1);
  expect(findRecord("b", "x")).toBeDefined();
});

test("a file that was cut off is no record", () => {
  const record = openRecord("a", "x", undefined);
  const [name = ""] = readdirSync(folder);
  writeFileSync(join(folder, name), '{"id":"a"');
  expect(findRecord("a", "x")).toBeUndefined();
  expect(openRecord("a", "x", undefined).nonce).not.toBe(record.nonce);
});
