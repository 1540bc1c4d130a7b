import { parse, type PGlite, protocol } from "@electric-sql/pglite";
import type { Database, Sql } from "./database.ts";

/** A statement that the session has read and planned. */
interface Prepared {
  readonly name: string;
  /** The types of its values, as PostgreSQL numbers them. */
  readonly types: readonly number[];
}

const MAX_PREPARED = 500;
const { serialize } = protocol;

/**
 * Runs statements on an embedded database: each is read and planned once, and is one call of the protocol from then on, where
 * `query()` of PGlite itself makes six and plans each time. Nobody else may use the database meanwhile.
 */
export function pgliteSession(pglite: PGlite): Pick<Database, "query" | "transaction"> {
  const known = new Map<string, Prepared>();
  let last: Promise<unknown> = Promise.resolve();
  // There is one session: a statement of another caller would be part of whatever transaction is open.
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = last.then(work, work);
    last = mine.catch(() => {});
    return mine;
  };

  const prepare = async (text: string): Promise<Prepared> => {
    const name = known.size < MAX_PREPARED ? `pod-${known.size}` : "";
    const reading = [serialize.parse({ name, text }), serialize.describe({ type: "S", name }), serialize.sync()];
    const { messages } = await pglite.execProtocol(Buffer.concat(reading));
    const prepared = { name, types: parse.parseDescribeStatementResults(messages) };
    if (name !== "") known.set(text, prepared);
    return prepared;
  };

  const run = async <Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> => {
    const { name, types } = known.get(text) ?? (await prepare(text));
    const running = [
      serialize.bind({ statement: name, values: values.map((value, i) => textOf(pglite, value, types[i] ?? 0)) }),
      serialize.describe({ type: "P" }),
      serialize.execute({}),
      serialize.sync(),
    ];
    const { messages } = await pglite.execProtocol(Buffer.concat(running));
    return (parse.parseResults(messages, pglite.parsers)[0]?.rows ?? []) as Row[];
  };

  const sql: Sql = { query: run };
  return {
    query: async (text, values) => await inTurn(async () => await run(text, values)),
    transaction: async (work) =>
      await inTurn(async () => {
        await run("BEGIN");
        try {
          const done = await work(sql);
          await run("COMMIT");
          return done;
        } catch (error) {
          await run("ROLLBACK");
          throw error;
        }
      }),
  };
}

function textOf(pglite: PGlite, value: unknown, type: number): string | null {
  if (value === null || value === undefined) return null;
  const write = pglite.serializers[type];
  if (write !== undefined) return write(value);
  return typeof value === "string" ? value : JSON.stringify(value);
}
