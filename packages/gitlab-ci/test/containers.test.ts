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

type Texts = Readonly<Record<string, string>>;

function read(text: string, variables: Texts = {}, inputs: Texts = {}): Containers {
  const report: CiReport = new Report();
  const test = job(loaded(`${text}\n`), "test");
  const image = readImage(test, { variables, inputs }, report);
  const services = readServices(test, { variables, inputs }, report);
  return {
    image,
    services,
    complaints: report.finish().map(({ code, message, hint }) => `${code} ${message} ${hint}`),
  };
}

describe("inputs of the job", () => {
  const text = `test:
  script: [x]
  inputs: {version: {default: 22, type: number}, db: {default: pg}, user: {default: me}}
  image: {name: "node:\${{ job.inputs.version }}-$OS", docker: {user: "\${{ job.inputs.user }}"}, entrypoint: [sh, "\${{ job.inputs.db }}"]}
  services: [{name: "\${{ job.inputs.db }}:1", alias: "\${{ job.inputs.db }}-alias", variables: {V: "\${{ job.inputs.version + 1 }}"}}]`;

  test("are filled into image and services, their defaults where none are given, and before the variables", () => {
    const { image, services, complaints } = read(text, { OS: "slim" });
    expect(complaints).toEqual([]);
    expect(image).toMatchObject({ name: "node:22-slim", user: "me", entrypoint: ["sh", "pg"] });
    expect(services).toMatchObject([{ name: "pg:1", hostNames: ["pg-alias", "pg"], variables: { V: "23" } }]);
    const given = read(text, { OS: "slim" }, { version: "24", db: "maria", user: "$OS" });
    expect(given.image).toMatchObject({ name: "node:24-slim", user: "slim" });
    expect(given.services).toMatchObject([{ name: "maria:1", variables: { V: "25" } }]);
  });

  test("that the job has not are told, and other expressions are left", () => {
    const { image, complaints } = read(text.replace("inputs.version }}-", "inputs.verion }}-"));
    expect(image).toBeUndefined();
    expect(complaints.join()).toContain('The inputs of the job are "version", "db", "user"');
    expect(complaints.join()).toContain("invalid-image");
    expect(read(`test: {script: [x], image: "a\${{ env.x }}"}`).complaints.join()).toContain("invalid-image");
  });
});

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
