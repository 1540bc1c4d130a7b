import { Report } from "@steps/source";
import { describe, expect, test } from "vitest";
import type { CiReport } from "../src/ci-rules.ts";
import { hostNamesOf, type JobImage, type JobService, readImage, readServices } from "../src/containers/index.ts";
import { job, loaded } from "./load/fixtures.ts";

interface Containers {
  readonly image: JobImage | undefined;
  readonly services: readonly JobService[];
  readonly complaints: readonly string[];
}

function read(text: string, variables: Readonly<Record<string, string>> = {}): Containers {
  const report: CiReport = new Report();
  const test = job(loaded(`${text}\n`), "test");
  const image = readImage(test, variables, report);
  const services = readServices(test, variables, report);
  return {
    image,
    services,
    complaints: report.finish().map(({ code, message, hint }) => `${code} ${message} ${hint}`),
  };
}

describe("readImage()", () => {
  test("fills in variables of the name, the platform and the user, once", () => {
    const text = `test: {script: [x], image: {name: "$REGISTRY/a:\${TAG}", docker: {platform: "linux/$CPU", user: $USER_ID}}}`;
    const { image } = read(text, { REGISTRY: "host:5000/$TAG", TAG: "1.2", CPU: "arm64", USER_ID: "1000:1000" });
    expect(image).toMatchObject({ name: "host:5000/$TAG/a:1.2", platform: "linux/arm64", user: "1000:1000" });
  });

  test("leaves the entry point to the container's shell", () => {
    const { image } = read(`test: {script: [x], image: {name: a, entrypoint: [sh, -c, 'exec "$@"', ""]}}`, {
      "@": "no",
    });
    expect(image?.entrypoint).toEqual(["sh", "-c", 'exec "$@"', ""]);
    expect(read("test: {script: [x], image: {name: a, entrypoint: ''}}").image?.entrypoint).toEqual([""]);
    expect(read("test: {script: [x], image: a}").image?.entrypoint).toBeUndefined();
  });

  test("takes one pull policy or a list, and a number for the user", () => {
    expect(read("test: {script: [x], image: {name: a, pull_policy: never}}").image?.pullPolicies).toEqual(["never"]);
    const { image } = read(
      "test: {script: [x], image: {name: a, pull_policy: [always, if-not-present], docker: {user: 1000}}}",
    );
    expect(image).toMatchObject({ pullPolicies: ["always", "if-not-present"], user: "1000" });
  });

  test("takes that of default, which null takes away", () => {
    expect(read("image: a\ntest: {script: [x]}").image?.name).toBe("a");
    expect(read("default: {image: a}\ntest: {script: [x], inherit: {default: false}}").image).toBeUndefined();
    expect(read("test: {script: [x]}").image).toBeUndefined();
  });

  test("reports a name that is nothing once it is filled in, and one that is an option", () => {
    const empty = read("test: {script: [x], image: $NONE}");
    expect(empty.image).toBeUndefined();
    expect(empty.complaints).toEqual([
      'invalid-image "image" names no image: "$NONE", which becomes nothing Give the variables that it refers to, as with --variable.',
    ]);
    expect(read("test: {script: [x], image: $A}", { A: "--privileged" }).complaints).toHaveLength(1);
    expect(read("test: {script: [x], image: 'a b'}").complaints).toEqual([
      'invalid-image "image" names no image: "a b" undefined',
    ]);
  });
});

describe("readServices()", () => {
  test("gives each its host names: those of alias, which takes no variables, then those of the image", () => {
    const { services } = read(
      `test: {script: [x], services: [redis, {name: "$DB/postgres:16", alias: "db, pg $DB", command: [postgres, -c, "x=$DB"]}]}`,
      { DB: "library" },
    );
    expect(services.map(({ name, hostNames, command }) => ({ name, hostNames, command }))).toEqual([
      { name: "redis", hostNames: ["redis"], command: undefined },
      {
        name: "library/postgres:16",
        hostNames: ["db", "pg", "$DB", "library__postgres", "library-postgres"],
        command: ["postgres", "-c", "x=$DB"],
      },
    ]);
  });

  test("fills the variables of the job into those of a service", () => {
    const { services } = read(
      "test: {script: [x], services: [{name: a, variables: {P: '$Q-$P', R: {value: $Q, expand: false}}}]}",
      {
        P: "outer",
        Q: "of $P",
      },
    );
    expect({ ...services[0]?.variables }).toEqual({ P: "of $P-outer", R: "$Q" });
  });

  test("flattens lists that references bring, and leaves out what is wrong", () => {
    const text = ".a: {services: [b, c]}\ntest: {script: [x], services: [a, !reference [.a, services], $NONE]}";
    const { services, complaints } = read(text);
    expect(services.map(({ name }) => name)).toEqual(["a", "b", "c"]);
    expect(complaints).toHaveLength(1);
  });
});

test.each([
  ["postgres", ["postgres"]],
  ["tutum/wordpress:latest", ["tutum__wordpress", "tutum-wordpress"]],
  ["registry.example.com:5000/a/b:1@sha256:00", ["registry.example.com__a__b", "registry.example.com-a-b"]],
])("hostNamesOf() makes names of %s", (image, names) => {
  expect(hostNamesOf(image)).toEqual(names);
});
