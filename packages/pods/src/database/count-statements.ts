import type { Database, Sql } from "./database.ts";

/** The same database, which calls back with each statement that it runs. */
export function countStatements(database: Database, onStatement: (text: string) => void): Database {
  const counted = ({ query }: Sql): Sql => ({
    query(text, values) {
      onStatement(text);
      return query(text, values);
    },
  });
  return {
    ...database,
    ...counted(database),
    transaction: async (work) => await database.transaction(async (sql) => await work(counted(sql))),
  };
}
