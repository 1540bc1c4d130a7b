export { createActionRunner } from "./create-action-runner.ts";
export type { ActionDescription, ActionFacts, ActionHost } from "./job/action-host.ts";
