import { toJson } from "@bufbuild/protobuf";
import { secretVariableNames } from "@steps/engine/environment";
import { withDefaults } from "@steps/model";
import { digestOf } from "@steps/platform";
import type { gitlab } from "@steps/proto/service";
import { gitlab as schema } from "@steps/proto/service";
import type { JobSubmission } from "../job-submission.ts";
import { ServiceError } from "../service-error.ts";
import { assertTextLength, compileDefinition } from "./compile-definition.ts";
import { DEFAULT_GRACE_MS, readNewerRunFields } from "./gitlab-newer.ts";
import { assertEnvironment, resolveWorkDir } from "./read-environment.ts";

const MAX_ID_BYTES = 256;

/**
 * A job from GitLab's request: the steps are the text of a step file, whose spec is `{}`; the project's folder wins over
 * `work_dir`. Both are read from `workDir`, which is where a job runs that says neither.
 *
 * @throws {ServiceError} REQUEST_INVALID
 */
export async function readGitlabRequest(
  request: gitlab.RunRequest,
  workDir: string,
): Promise<Omit<JobSubmission, "tokenDigest">> {
  if (request.id === "" || Buffer.byteLength(request.id) > MAX_ID_BYTES)
    throw new ServiceError("REQUEST_INVALID", `id: it has to have 1 to ${MAX_ID_BYTES} bytes`);
  assertTextLength("steps", request.steps);
  assertEnvironment("env", request.env);
  const variables = (request.job?.variables ?? []).map(({ key, value, file, masked }) => ({
    key,
    value,
    isFile: file,
    isMasked: masked || secretVariableNames([key]).length > 0,
  }));
  const maskedValues = variables.filter(({ isMasked }) => isMasked).map(({ value }) => value);
  const given = request.job?.buildDir ?? "";
  return {
    id: request.id,
    requestDigest: digestOf(toJson(schema.RunRequestSchema, request)),
    // GitLab's service takes any second request under an id for a repetition.
    refusesOtherRequest: false,
    job: {
      source: "steps",
      ...(await compileDefinition({ name: "steps", text: request.steps }, maskedValues)),
      inputs: {},
      env: request.env,
      workDir: resolveWorkDir(given === "" ? request.workDir : given, workDir),
    },
    variables,
    ...withDefaults({ graceMs: DEFAULT_GRACE_MS }, readNewerRunFields(request.$unknown)),
  };
}
