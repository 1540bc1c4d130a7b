import {
  ANY,
  BOOLEAN,
  COMMANDS,
  either,
  listOf,
  mapOf,
  mapping,
  numberFrom,
  oneOf,
  oneOfOrVariable,
  type Shape,
  TEXT,
  TEXTS,
} from "./shape.ts";

const PULL_POLICY: Shape = oneOf("always", "never", "if-not-present");
const USER: Shape = either(TEXT, numberFrom(0, Number.MAX_SAFE_INTEGER));

const IMAGE_KEYS: Readonly<Record<string, Shape>> = {
  name: TEXT,
  entrypoint: either(TEXTS, TEXT),
  docker: mapping({ platform: TEXT, user: USER }),
  kubernetes: mapping({ user: USER }),
  pull_policy: either(PULL_POLICY, listOf(PULL_POLICY)),
};

/** The shape of `image`. */
export const IMAGE: Shape = either(TEXT, mapping(IMAGE_KEYS, ["name"]));

const SERVICE: Shape = mapping(
  { ...IMAGE_KEYS, alias: TEXT, command: COMMANDS, variables: { is: "variables", scope: "job" } },
  ["name"],
);

/** The shape of `services`. */
export const SERVICES: Shape = listOf(either(TEXT, SERVICE), { isNested: true });

const WHEN_SAVED: Shape = oneOf("on_success", "on_failure", "always");

const KEY_FILES: Shape = listOf(TEXT, { isFilled: true });

const CACHE_ITEM: Shape = mapping({
  key: either(TEXT, mapping({ files: KEY_FILES, files_commits: KEY_FILES, prefix: TEXT })),
  paths: TEXTS,
  policy: oneOfOrVariable("pull-push", "pull", "push"),
  unprotect: BOOLEAN,
  untracked: BOOLEAN,
  when: WHEN_SAVED,
  fallback_keys: listOf(TEXT, { max: 5 }),
});

/** The shape of `cache`. */
export const CACHE: Shape = either(CACHE_ITEM, listOf(CACHE_ITEM, { max: 4, isNested: true }));

const REPORT: Shape = either(TEXT, TEXTS);

const REPORT_NAMES = [
  "accessibility",
  "annotations",
  "api_fuzzing",
  "browser_performance",
  "cluster_image_scanning",
  "codequality",
  "container_scanning",
  "coverage_fuzzing",
  "cyclonedx",
  "dast",
  "dependency_scanning",
  "dotenv",
  "junit",
  "license_management",
  "license_scanning",
  "load_performance",
  "lsif",
  "metrics",
  "performance",
  "repository_xray",
  "requirements",
  "requirements_v2",
  "sarif",
  "sast",
  "sbom_scan",
  "scip",
  "secret_detection",
  "terraform",
];

/** The shape of `artifacts`. */
export const ARTIFACTS: Shape = mapping({
  paths: TEXTS,
  exclude: TEXTS,
  expose_as: TEXT,
  name: TEXT,
  untracked: BOOLEAN,
  when: WHEN_SAVED,
  access: oneOf("none", "developer", "maintainer", "all"),
  public: BOOLEAN,
  expire_in: TEXT,
  reports: mapping({
    ...Object.fromEntries(REPORT_NAMES.map((name) => [name, REPORT])),
    coverage_report: mapping({ coverage_format: oneOf("cobertura", "jacoco"), path: TEXT }),
  }),
});

/** The shape of `id_tokens`. */
export const ID_TOKENS: Shape = mapOf(mapping({ aud: either(TEXT, TEXTS) }, ["aud"]));

/** The shape of `secrets`. */
export const SECRETS: Shape = mapOf(
  mapping({
    akeyless: ANY,
    aws_secrets_manager: ANY,
    azure_key_vault: ANY,
    file: BOOLEAN,
    gcp_secret_manager: ANY,
    gitlab_secrets_manager: ANY,
    token: TEXT,
    vault: ANY,
  }),
);
