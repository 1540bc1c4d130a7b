import { MESSAGE_LIMITS } from "../names.ts";
import { type Message, messageOf } from "../shape/message.ts";
import {
  anything,
  count,
  defaulted,
  flag,
  nullable,
  optional,
  record,
  type Shape,
  text,
  word,
} from "../shape/shape.ts";
import { type RunnerInfo, runnerInfo } from "./runner-info.ts";

/** Which jobs a runner takes: all, or those of protected refs. */
export type AccessLevel = "not_protected" | "ref_protected";

/** `POST /runners`: registers a runner with a registration token (legacy). */
export interface RegisterRequest {
  readonly token: string;
  readonly description?: string | undefined;
  /** Also read from its old name, `maintainer_note`. */
  readonly maintenance_note?: string | undefined;
  /** Names with commas between them; a list is read too. */
  readonly tag_list?: string | undefined;
  readonly run_untagged?: boolean | undefined;
  readonly locked?: boolean | undefined;
  readonly access_level?: AccessLevel | (string & {}) | undefined;
  /** Seconds. */
  readonly maximum_timeout?: number | undefined;
  /** Also read from the opposite of its old name, `active`. */
  readonly paused?: boolean | undefined;
  readonly info: RunnerInfo;
}

/** `POST /user/runners`, by which a user with a token of their own creates a runner. */
export interface CreateRunnerRequest extends Omit<RegisterRequest, "token" | "info"> {
  readonly runner_type: "instance_type" | "group_type" | "project_type" | (string & {});
  readonly group_id?: number | undefined;
  readonly project_id?: number | undefined;
}

/** `POST /runners/verify`: asks whether a token is valid. */
export interface VerifyRequest {
  /** Read as empty where a header has it. */
  readonly token: string;
  /** Absent of old clients. */
  readonly system_id?: string | undefined;
  readonly info: RunnerInfo;
}

/** `DELETE /runners`, and `POST /runners/reset_authentication_token`. */
export interface TokenRequest {
  /** Absent where a header has it. */
  readonly token?: string | undefined;
}

/** `DELETE /runners/managers`: forgets one machine with a runner's configuration. */
export interface ManagerRequest extends TokenRequest {
  readonly system_id?: string | undefined;
}

/** The answer to registering (201), verifying (200) and creating (201). */
export interface RegisteredRunner {
  /** Never 0, which gitlab-runner does not survive. */
  readonly id: number;
  readonly token: string;
  /** A time as in RFC 3339. Null: never. */
  readonly token_expires_at: string | null;
}

/** The answer to `reset_authentication_token` (201). */
export type ResetToken = Omit<RegisteredRunner, "id">;

/** The body of an answer that is an error. */
export interface ApiErrorBody {
  /** A text, or an object with lists of texts by field. */
  readonly message: unknown;
}

const settings = {
  description: optional(text),
  maintenance_note: optional(text),
  tag_list: optional(tags),
  run_untagged: optional(flag),
  locked: optional(flag),
  access_level: optional(word("not_protected", "ref_protected")),
  maximum_timeout: optional(count),
  paused: optional(flag),
};

/** `POST /runners`. */
export const REGISTER_REQUEST: Message<RegisterRequest> = messageOf(
  withOldNames(record<RegisterRequest>({ token: text, ...settings, info: runnerInfo })),
  MESSAGE_LIMITS.request,
);

/** `POST /user/runners`. */
export const CREATE_RUNNER_REQUEST: Message<CreateRunnerRequest> = messageOf(
  withOldNames(
    record<CreateRunnerRequest>({
      runner_type: word("instance_type", "group_type", "project_type"),
      group_id: optional(count),
      project_id: optional(count),
      ...settings,
    }),
  ),
  MESSAGE_LIMITS.request,
);

/** `POST /runners/verify`. */
export const VERIFY_REQUEST: Message<VerifyRequest> = messageOf(
  record<VerifyRequest>({ token: defaulted(text, ""), system_id: optional(text), info: runnerInfo }),
  MESSAGE_LIMITS.request,
);

/** `DELETE /runners`, `POST /runners/reset_authentication_token`. */
export const TOKEN_REQUEST: Message<TokenRequest> = messageOf(
  record<TokenRequest>({ token: optional(text) }),
  MESSAGE_LIMITS.request,
);

/** `DELETE /runners/managers`. */
export const MANAGER_REQUEST: Message<ManagerRequest> = messageOf(
  record<ManagerRequest>({ token: optional(text), system_id: optional(text) }),
  MESSAGE_LIMITS.request,
);

/** The answer to registering, verifying and creating. */
export const REGISTERED_RUNNER: Message<RegisteredRunner> = messageOf(
  record<RegisteredRunner>({ id: count, token: text, token_expires_at: nullable(text) }),
  MESSAGE_LIMITS.request,
);

/** The answer to `reset_authentication_token`. */
export const RESET_TOKEN: Message<ResetToken> = messageOf(
  record<ResetToken>({ token: text, token_expires_at: nullable(text) }),
  MESSAGE_LIMITS.request,
);

/** The body of an error. */
export const API_ERROR: Message<ApiErrorBody> = messageOf(
  record<ApiErrorBody>({ message: anything }),
  MESSAGE_LIMITS.request,
);

function tags(...[value, place]: Parameters<Shape<string>>): string {
  return !place.isStrict && Array.isArray(value)
    ? value.map((tag: unknown) => text(tag, place)).join(",")
    : text(value, place);
}

function withOldNames<T>(shape: Shape<T>): Shape<T> {
  return (value, place) => {
    if (place.isStrict || typeof value !== "object" || value === null) return shape(value, place);
    const given = value as Readonly<Record<string, unknown>>;
    return shape(
      {
        ...given,
        maintenance_note: given["maintenance_note"] ?? given["maintainer_note"],
        paused: given["paused"] ?? (typeof given["active"] === "boolean" ? !given["active"] : undefined),
      },
      place,
    );
  };
}
