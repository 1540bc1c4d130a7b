import type { Field, MessageType } from "../twirp/message.ts";

const RUN: readonly Field[] = [
  { no: 1, name: "workflow_run_backend_id", kind: "text" },
  { no: 2, name: "workflow_job_run_backend_id", kind: "text" },
];
const OK: Field = { no: 1, name: "ok", kind: "bool" };
const NAME: Field = { no: 3, name: "name", kind: "text" };

/** The fields, as GitHub's `ArtifactService` numbers and names them. */
export const CREATE_REQUEST: MessageType = [...RUN, NAME, { no: 6, name: "mime_type", kind: "wrapped-text" }];
export const CREATE_RESPONSE: MessageType = [OK, { no: 2, name: "signed_upload_url", kind: "text" }];
export const FINALIZE_REQUEST: MessageType = [
  ...RUN,
  NAME,
  { no: 4, name: "size", kind: "int64" },
  { no: 5, name: "hash", kind: "wrapped-text" },
];
export const ID_RESPONSE: MessageType = [OK, { no: 2, name: "artifact_id", kind: "int64" }];
export const LIST_REQUEST: MessageType = [
  ...RUN,
  { no: 3, name: "name_filter", kind: "wrapped-text" },
  { no: 4, name: "id_filter", kind: "wrapped-int64" },
];
export const LIST_RESPONSE: MessageType = [
  {
    no: 1,
    name: "artifacts",
    kind: "messages",
    fields: [
      ...RUN,
      { no: 3, name: "database_id", kind: "int64" },
      { no: 4, name: "name", kind: "text" },
      { no: 5, name: "size", kind: "int64" },
      { no: 6, name: "created_at", kind: "time" },
      { no: 7, name: "digest", kind: "wrapped-text" },
    ],
  },
];
export const NAME_REQUEST: MessageType = [...RUN, NAME];
export const URL_RESPONSE: MessageType = [{ no: 1, name: "signed_url", kind: "text" }];
