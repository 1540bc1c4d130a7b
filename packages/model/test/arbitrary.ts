import * as fc from "fast-check";
import type { Value } from "../src/index.ts";
import type {
  Definition,
  InputSpec,
  OutputSpec,
  Spec,
  SpecDefinition,
  StepInvocation,
} from "../src/definition/index.ts";
import type { StepReference } from "../src/reference.ts";

/** Any JSON value; numbers are finite, and `-0` is left out because JSON text does not tell it from `0`. */
export const anyValue: fc.Arbitrary<Value> = fc
  .jsonValue({ maxDepth: 3, depthSize: "small" })
  .map((value) => JSON.parse(JSON.stringify(value)) as Value);

/**
 * Makes names of inputs, outputs, variables and steps. `__proto__` is left out, because protobuf's own maps cannot hold
 * it.
 */
const anyName: fc.Arbitrary<string> = fc
  .stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,8}$/)
  .filter((name) => name !== "__proto__");

const anyText = fc.string({ unit: "grapheme", maxLength: 12 });
const filledText = anyText.filter((text) => text !== "");
const anySegment = fc.stringMatching(/^[a-zA-Z0-9_-]{1,6}$/);
const anyDir = fc.array(anySegment, { maxLength: 3 }).map((parts) => parts.join("/"));
const anyFile = fc.tuple(anySegment, fc.constantFrom(".yml", ".yaml", ".YML")).map(([name, end]) => `${name}${end}`);
const anyVersion = fc.oneof(
  fc.constantFrom("main", "v1", "v1.2.3", "feature/a-b", "release.zip", "0a1b2c3d", "refs/heads/x", "a/-/b"),
  fc.stringMatching(/^[a-z0-9_][a-z0-9_-]{0,9}$/),
);
const anyHost = fc.oneof(fc.constantFrom("gitlab.com", "localhost:8443", "[::1]:80", "h"), fc.domain());

const anyGitUrl = fc
  .tuple(
    fc.constantFrom("https://", "http://", "ssh://", "HTTPS://"),
    anyHost,
    fc.array(
      fc.oneof(anySegment, fc.constantFrom("-", "steps", "a.git", "b.zip", "@scope", "x y".replace(" ", "%20"))),
      {
        minLength: 1,
        maxLength: 4,
      },
    ),
  )
  .map(([scheme, host, path]) => `${scheme}${host}/${path.join("/")}`);

const anyZipUrl = fc
  .tuple(fc.constantFrom("https://h/", "http://h:80//", "file:///srv/", "./", "../", "/srv/", ""), anyDir, anySegment)
  .map(([start, dir, name]) => `${start}${dir === "" ? "" : `${dir}/`}${name}.zip`);

const anyLocalPath = fc
  .tuple(fc.constantFrom(".", "..", "./", "../", "../../", "/"), anyDir)
  .map(([start, dir]) =>
    start.endsWith("/") ? (dir === "" && start !== "/" ? start.slice(0, -1) : start + dir) : start,
  );

const optionalFile = fc.option(
  anyFile.map((file) => ({ file })),
  { nil: {} },
);

const anyGit: fc.Arbitrary<StepReference> = fc
  .tuple(
    anyGitUrl,
    anyVersion,
    fc.oneof(
      anyDir,
      anyDir.map((dir) => (dir === "" ? "steps" : `steps/${dir}`)),
    ),
    optionalFile,
  )
  .map(([url, version, dir, file]) => ({ kind: "git", url, version, dir, ...file }));

const anyZip: fc.Arbitrary<StepReference> = fc
  .tuple(anyZipUrl, anyDir, fc.option(fc.stringMatching(/^[0-9a-f]{64}$/), { nil: undefined }), optionalFile)
  .map(([url, dir, sha256, file]) => ({ kind: "zip", url, dir, sha256, ...file }));

const anyImagePart = fc.stringMatching(/^[a-z0-9]{1,4}((\.|_|__|-{1,3})[a-z0-9]{1,3}){0,2}$/);

const anyOci: fc.Arbitrary<StepReference> = fc
  .tuple(
    fc.constantFrom(
      "registry.gitlab.com",
      "localhost",
      "localhost:5000",
      "127.0.0.1:80",
      "[::1]:5000",
      "host",
      "a.zip",
    ),
    fc.array(anyImagePart, { minLength: 2, maxLength: 4 }),
    fc.oneof(
      fc.stringMatching(/^[a-zA-Z0-9_][a-zA-Z0-9._-]{0,12}$/),
      fc.stringMatching(/^[0-9a-f]{64}$/).map((hex) => `sha256:${hex}`),
      fc.stringMatching(/^[0-9a-f]{128}$/).map((hex) => `sha512:${hex}`),
    ),
    anyDir,
    optionalFile,
  )
  .map(([registry, parts, tag, dir, file]) => ({
    kind: "oci",
    registry,
    repository: parts.join("/"),
    tag,
    dir,
    ...file,
  }));

/** References in the form that `parseReference()` gives; none of them holds a credential. */
export const anyWrittenReference: fc.Arbitrary<StepReference> = fc.oneof(
  fc.tuple(anyLocalPath, optionalFile).map(([path, file]): StepReference => ({ kind: "local", path, ...file })),
  anyGit,
  anyZip,
  anyOci,
  fc
    .tuple(
      anyDir.filter((dir) => dir !== ""),
      optionalFile,
    )
    .map(([path, file]): StepReference => ({ kind: "dist", path, ...file })),
  fc
    .tuple(filledText, anyText)
    .map(([before, inner]): StepReference => ({ kind: "dynamic", text: `${before}\${{${inner}}}`.trim() })),
);

function mapOf<T>(value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> {
  return fc.dictionary(anyName, value, { maxKeys: 3, noNullPrototype: true });
}

const anyType = fc.constantFrom<InputSpec["type"]>("string", "number", "boolean", "struct", "array");

const anyOutput: fc.Arbitrary<OutputSpec> = fc.record(
  { type: anyType, isSensitive: fc.boolean(), default: anyValue, description: filledText },
  { requiredKeys: ["type", "isSensitive"] },
);

const anyInput: fc.Arbitrary<InputSpec> = fc.record(
  {
    type: anyType,
    isSensitive: fc.boolean(),
    default: anyValue,
    description: filledText,
    options: fc.array(anyValue, { minLength: 1, maxLength: 3 }),
    match: filledText,
  },
  { requiredKeys: ["type", "isSensitive"] },
);

const anySpec: fc.Arbitrary<Spec> = fc.record({
  inputs: mapOf(anyInput),
  outputs: fc.oneof(mapOf(anyOutput), fc.constant("delegate" as const)),
});

const { specDefinition } = fc.letrec<{
  specDefinition: SpecDefinition;
  definition: Definition;
  invocation: StepInvocation;
  reference: StepReference;
}>((tie) => ({
  specDefinition: fc.record({ spec: anySpec, definition: tie("definition") }),
  definition: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc
      .record(
        { command: fc.array(anyText, { minLength: 1, maxLength: 3 }), env: mapOf(anyText), workDir: filledText },
        { requiredKeys: ["command", "env"] },
      )
      .map((exec): Definition => ({ type: "exec", ...exec })),
    fc
      .record(
        {
          steps: fc.array(tie("invocation"), { maxLength: 3 }),
          env: mapOf(anyText),
          outputs: mapOf(anyValue),
          delegate: anyName,
        },
        { requiredKeys: ["steps", "env", "outputs"] },
      )
      .map((steps): Definition => ({ type: "steps", ...steps })),
  ),
  invocation: fc.record({
    name: fc.oneof(anyName, fc.constant("")),
    step: tie("reference"),
    inputs: mapOf(anyValue),
    env: mapOf(anyText),
  }),
  reference: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    anyWrittenReference,
    tie("specDefinition").map((inner): StepReference => ({
      kind: "inline",
      specDefinition: inner,
      seesCallerInputs: false,
    })),
    tie("definition").map((definition): StepReference => ({
      kind: "inline",
      specDefinition: { spec: { inputs: {}, outputs: {} }, definition },
      seesCallerInputs: true,
    })),
  ),
}));

/** Everything the baseline can say. */
export const anySpecDefinition: fc.Arbitrary<SpecDefinition> = specDefinition;
