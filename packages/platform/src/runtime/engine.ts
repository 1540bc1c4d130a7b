/** A process that Bun has started. Its streams are there where they are pipes. */
interface BunProcess {
  readonly pid: number;
  readonly stdin: {
    write(text: string): number | Promise<number>;
    flush(): number | Promise<number>;
    end(): number | Promise<number>;
  };
  readonly stdout: ReadableStream<Uint8Array>;
  ref(): void;
  unref(): void;
}

/** The parts of Bun that the executable uses and that Node does not have. */
export interface BunEngine {
  readonly version: string;
  file(fd: number): { stream(): ReadableStream<Uint8Array> };
  readonly CryptoHasher: {
    new (algorithm: "sha256"): { update(data: string | Uint8Array): unknown; digest(encoding: "hex"): string };
    hash(algorithm: "sha256", data: string | Uint8Array, encoding: "hex"): string;
  };
  readonly unsafe: {
    /** Sets how often code has to run before it is compiled: as often as usual for 1, and so many times as often for more. */
    setJITPolicy(scale: number): void;
  };
  gc(isForced: boolean): void;
  spawn(
    command: readonly string[],
    options: {
      readonly argv0?: string;
      readonly cwd: string;
      readonly env: Readonly<Record<string, string>>;
      readonly stdio: readonly ("ignore" | "pipe" | number)[];
      readonly detached: boolean;
      readonly onExit: (process: unknown, code: number | null, signal: string | null) => void;
    },
  ): BunProcess;
}

/** The engine that the packed executable was built with. Absent under Node. */
export const bun: BunEngine | undefined = (globalThis as { readonly Bun?: BunEngine }).Bun;

/** Says whether this process is an executable that holds the program, and not a Node that runs a file. */
export const isPacked: boolean = bun !== undefined && (process.argv[1] ?? "").startsWith("/$bunfs/");
