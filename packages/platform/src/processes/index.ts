export { findProgram, type FoundProgram, lookForProgram, type ProgramPlaces } from "./find-program.ts";
export { coverInherited, descriptorLimit } from "./inherited-descriptors.ts";
export { type BriefAnswer, type BriefCall, runBriefly } from "./run-briefly.ts";
export { type InteractiveCall, runInteractive } from "./run-interactive.ts";
export { sendSignal, signalGroup } from "./send-signal.ts";
export { type DetachedCall, startDetached } from "./start-detached.ts";
