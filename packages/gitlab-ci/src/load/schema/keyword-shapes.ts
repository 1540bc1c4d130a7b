import { DEFAULT_KEYWORDS } from "../../keywords.ts";
import { ARTIFACTS, CACHE, ID_TOKENS, IMAGE, SECRETS, SERVICES } from "./container-shapes.ts";
import {
  ALLOW_FAILURE,
  ENVIRONMENT,
  FILTER,
  NEEDS,
  RELEASE,
  RETRY,
  RULES,
  TRIGGER,
  WHEN,
  WORKFLOW,
} from "./flow-shapes.ts";
import {
  ANY,
  BOOLEAN,
  COMMANDS,
  either,
  listOf,
  mapOf,
  mapping,
  NESTED_TEXTS,
  oneOf,
  type Shape,
  TEXT,
  TEXTS,
} from "./shape.ts";

const CHOICE: Shape = either(BOOLEAN, NESTED_TEXTS);

const JOB_INPUT: Shape = mapping(
  {
    default: ANY,
    description: TEXT,
    options: listOf(ANY, { max: 50 }),
    regex: TEXT,
    type: oneOf("string", "number", "boolean", "array"),
  },
  ["default"],
);

/**
 * The keywords of a job with the shapes of their values, from the schema that GitLab's editor checks files with and from
 * [CI/CD YAML syntax](https://docs.gitlab.com/ci/yaml/). `run` is checked by whatever compiles it, `parallel` by whatever makes the instances.
 */
export const JOB_SHAPES: Readonly<Record<string, Shape>> = {
  after_script: COMMANDS,
  allow_failure: ALLOW_FAILURE,
  artifacts: ARTIFACTS,
  before_script: COMMANDS,
  cache: CACHE,
  coverage: TEXT,
  dast_configuration: mapping({ site_profile: TEXT, scanner_profile: TEXT }),
  dependencies: NESTED_TEXTS,
  environment: ENVIRONMENT,
  except: FILTER,
  extends: either(TEXT, TEXTS),
  hooks: mapping({ pre_get_sources_script: COMMANDS }),
  id_tokens: ID_TOKENS,
  identity: oneOf("google_cloud"),
  image: IMAGE,
  inherit: mapping({ default: CHOICE, variables: CHOICE }),
  inputs: mapOf(JOB_INPUT),
  interruptible: BOOLEAN,
  manual_confirmation: TEXT,
  needs: NEEDS,
  only: FILTER,
  pages: either(BOOLEAN, mapping({ expire_in: TEXT, path_prefix: TEXT, publish: TEXT })),
  parallel: ANY,
  publish: TEXT,
  release: RELEASE,
  resource_group: TEXT,
  retry: RETRY,
  rules: RULES,
  run: ANY,
  script: COMMANDS,
  secrets: SECRETS,
  services: SERVICES,
  stage: TEXT,
  start_in: TEXT,
  tags: NESTED_TEXTS,
  timeout: TEXT,
  trigger: TRIGGER,
  variables: { is: "variables", scope: "job" },
  when: WHEN,
};

/** The shape of `default`: the keywords that jobs may inherit. */
const DEFAULT_SHAPE: Shape = mapping(
  Object.fromEntries(DEFAULT_KEYWORDS.map((keyword) => [keyword, JOB_SHAPES[keyword] as Shape])),
);

/** The keywords at the top of a configuration with the shapes of their values; the others there are jobs. */
export const ROOT_SHAPES: Readonly<Record<string, Shape>> = {
  after_script: COMMANDS,
  before_script: COMMANDS,
  cache: CACHE,
  default: DEFAULT_SHAPE,
  image: IMAGE,
  services: SERVICES,
  variables: { is: "variables", scope: "global" },
  workflow: WORKFLOW,
};
