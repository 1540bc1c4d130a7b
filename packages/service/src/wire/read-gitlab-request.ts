import { toJson } from "@bufbuild/protobuf";
import { secretVariableNames } from "@steps/engine";
import { digestOf } from "@steps/model";
import type { gitlab } from "@steps/proto/service";
import { gitlab as schema } from "@steps/proto/service";
import type { JobSpec } from "../job-spec.ts";
import { ServiceError } from "../service-error.ts";
import { compileDefinition } from "./compile-definition.ts";
import { DEFAULT_GRACE_MS, readNewerRunFields } from "./gitlab-newer.ts";
import { assertEnvironment, readWorkDir } from "./read-environment.ts";

const MAX_ID_BYTES = 256;

/**
 * A job from GitLab's request: the steps are the text of a step file, whose spec is `{}`; the project's folder wins over
 * `work_dir`. `workDir` is where a job runs that says neither.
 *
 * @throws {ServiceError} REQUEST_INVALID
 */
export async function readGitlabRequest(
  request: gitlab.RunRequest,
  workDir: string,
): Promise<Omit<JobSpec, "tokenDigest">> {
  if (request.id === "" || Buffer.byteLength(request.id) > MAX_ID_BYTES)
    throw new ServiceError("REQUEST_INVALID", `id: it has to have 1 to ${MAX_ID_BYTES} bytes`);
  assertEnvironment("env", request.env);
  const variables = (request.job?.variables ?? []).map(({ key, value, file, masked }) => ({
    key,
    value,
    isFile: file,
    isMasked: masked || secretVariableNames([key]).length > 0,
  }));
  const secrets = variables.filter(({ isMasked }) => isMasked).map(({ value }) => value);
  const given = request.job?.buildDir ?? "";
  return {
    id: request.id,
    requestDigest: digestOf(toJson(schema.RunRequestSchema, request)),
    // GitLab's service takes any second request under an id for a repetition.
    isStrict: false,
    source: "steps",
    ...(await compileDefinition({ name: "steps", text: request.steps }, secrets)),
    inputs: {},
    variables,
    env: request.env,
    secrets: [],
    workDir: readWorkDir(given === "" ? request.workDir : given, workDir),
    graceMs: DEFAULT_GRACE_MS,
    ...readNewerRunFields(request.$unknown),
  };
}
