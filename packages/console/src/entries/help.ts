export { completionCommand } from "../completion/completion-command.ts";
export { manualCommand } from "../manual/manual-command.ts";
