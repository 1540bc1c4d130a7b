/** The parts of Bun that the executable uses and that Node does not have. */
export interface BunEngine {
  readonly version: string;
  file(fd: number): { stream(): ReadableStream<Uint8Array> };
  gc(isForced: boolean): void;
}

/** The engine that the packed executable was built with. Absent under Node. */
export const bun: BunEngine | undefined = (globalThis as { readonly Bun?: BunEngine }).Bun;

/** Says whether this process is an executable that holds the program, and not a Node that runs a file. */
export const isPacked: boolean = bun !== undefined && (process.argv[1] ?? "").startsWith("/$bunfs/");
