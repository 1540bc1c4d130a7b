import type { CommandSink } from "../src/commands/interpreter.ts";

/** A sink that remembers what it was told, in order. */
export function createRecorder(addMatcher: (file: string) => void = () => {}): {
  readonly sink: CommandSink;
  readonly calls: unknown[][];
} {
  const calls: unknown[][] = [];
  const sink: CommandSink = {
    setOutput: (name, value) => void calls.push(["setOutput", name, value]),
    saveState: (name, value) => void calls.push(["saveState", name, value]),
    setEnv: (name, value) => void calls.push(["setEnv", name, value]),
    addPath: (path) => void calls.push(["addPath", path]),
    addMask: (values) => void calls.push(["addMask", values[0]]),
    annotate: (annotation) => void calls.push(["annotate", annotation]),
    problem: (message) => void calls.push(["problem", message]),
    addMatcher(file) {
      calls.push(["addMatcher", file]);
      addMatcher(file);
    },
  };
  return { sink, calls };
}
