export { collectGarbage, keepHeapSmall } from "./garbage.ts";
export { holdOpen, letGo } from "./hold-open.ts";
export { loginName } from "./login-name.ts";
export { ownCommand, steeringVariables } from "./own-command.ts";
export { ownNode, type NodeProgram } from "./own-node.ts";
export { type PackedProgram, packedProgram } from "./packed-program.ts";
export { readPipe } from "./read-pipe.ts";
export { runtimeVersion } from "./runtime-version.ts";
