import type { Value } from "@steps/model";
import { describe, expect, test } from "vitest";
import { readContainerSpec } from "./container-spec.ts";

const evaluate = (text: string): string => text.replaceAll("${{ x }}", "X").replaceAll("${{ none }}", "");
const read = (value: Parameters<typeof readContainerSpec>[0]): ReturnType<typeof readContainerSpec> =>
  readContainerSpec(value, "container", evaluate);

describe("readContainerSpec()", () => {
  test("evaluates every text", () => {
    const spec = read({
      image: "docker://${{ x }}:1",
      env: { A: "${{ x }}", B: 1, "C=D": "no", "": "no" },
      ports: ["80:${{ x }}", 6379, "${{ none }}"],
      volumes: ["/a:/b", ""],
      options: `--cpus 1 --health-cmd "a \${{ x }}"`,
      credentials: { username: "${{ x }}", password: "p" },
      entrypoint: "/${{ x }}",
      command: "a 'b c'",
    });
    expect(spec).toEqual({
      image: "X:1",
      env: { A: "X", B: "1" },
      ports: ["80:X", "6379"],
      volumes: ["/a:/b"],
      options: ["--cpus", "1", "--health-cmd", "a X"],
      credentials: { username: "X", password: "p" },
      entrypoint: "/X",
      command: ["a", "b c"],
    });
  });

  test("is none where the image evaluates to nothing", () => {
    for (const image of ["", "${{ none }}", null, " docker:// "]) expect(read({ image })).toBeUndefined();
    expect(read({})).toBeUndefined();
    expect(read("text")).toBeUndefined();
  });

  test("refuses credentials of which a part is empty", () => {
    const incomplete: Value[] = [{ username: "me", password: "${{ none }}" }, { username: "", password: "p" }, {}];
    for (const credentials of incomplete) {
      expect(() => read({ image: "a", credentials })).toThrow(/the (?:password|username) of its credentials is empty/);
    }
    expect(read({ image: "a" })?.credentials).toBeUndefined();
  });

  test.each(["--network=x", "--network x", "--net x", "--entrypoint=/x", "-entrypoint /x"])("refuses %s", (options) => {
    expect(() => read({ image: "a", options: `--cpus 1 ${options}` })).toThrow(/the option "--?[enot]/);
  });

  test.each(["-v", "a b", "a\nb"])("refuses the image %j", (image) => {
    expect(() => read({ image })).toThrow("No image is named by");
  });
});
