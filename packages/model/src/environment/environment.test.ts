import { describe, expect, test } from "vitest";
import { Environment } from "./environment.ts";
import { sensitive } from "../value/value.ts";

describe("Environment", () => {
  test("lets later base records win", () => {
    expect({ ...Environment.create({ A: "os", B: "os" }, { B: "runner" }).flatten() }).toEqual({
      A: "os",
      B: "runner",
    });
  });

  test("shows an export to siblings inside a composite that was entered before it", () => {
    const job = Environment.create({ PATH: "/bin" });
    const composite = job.with({ X: "1" });
    const first = composite.with({ Y: "first" });
    first.export({ PATH: "/opt/bin:/bin" });
    expect(composite.with({ Y: "second" }).flatten()["PATH"]).toBe("/opt/bin:/bin");
    expect(job.flatten()["PATH"]).toBe("/opt/bin:/bin");
  });

  test("lets every explicit env win over an export, at any depth", () => {
    const outer = Environment.create({ A: "os" }).with({ A: "outer" });
    const inner = outer.with({ B: "inner" });
    inner.export({ A: "exported", B: "exported", C: "exported" });
    expect({ ...inner.flatten() }).toEqual({ A: "outer", B: "inner", C: "exported" });
    expect({ ...outer.flatten() }).toEqual({ A: "outer", B: "exported", C: "exported" });
  });

  test("keeps the environments of two jobs apart", () => {
    const base = { A: "1" };
    Environment.create(base).export({ A: "2" });
    expect(Environment.create(base).flatten()["A"]).toBe("1");
    expect(base).toEqual({ A: "1" });
  });

  test("takes `__proto__` as a name like any other", () => {
    const record = JSON.parse('{"__proto__":"x"}') as Record<string, string>;
    const job = Environment.create(record);
    job.export(record);
    const flat = job.with(record).flatten();
    expect(Object.getPrototypeOf(flat)).toBeNull();
    expect(Object.entries(flat)).toEqual([["__proto__", "x"]]);
  });

  test("keeps the marks of sensitive variables", () => {
    const token = sensitive("t");
    expect(Environment.create({ TOKEN: "x" }).with({ TOKEN: token }).flatten()["TOKEN"]).toBe(token);
  });

  test("tells what a variable is at every depth, whatever a level declares", () => {
    const environment = Environment.create({ PATH: "/bin", HOME: "/root" }).with({ PATH: "/own:/bin" });
    expect(environment.shared("PATH")).toBe("/bin");
    environment.export({ PATH: "/added:/bin" });
    expect(environment.shared("PATH")).toBe("/added:/bin");
    expect(environment.shared("HOME")).toBe("/root");
    expect(environment.shared("NONE")).toBeUndefined();
  });
});
