import type { RunnerInfo } from "@steps/runner-api/messages";
import type { Sql } from "../database/database.ts";

/** How long a contact may go unnoticed: a poll does not write. */
const CONTACT_EVERY_MS = 60_000;
const MAX_KNOWN = 50_000;

/** The machines of runners, as this process knows them. */
export class Managers {
  readonly #known = new Map<string, { readonly id: number; readonly told: string; readonly at: number }>();

  /** The id of the machine with this system id; what it says about itself is written down now and then. */
  async contact(sql: Sql, runnerId: number, systemId: string, info: RunnerInfo | undefined): Promise<number> {
    const key = `${runnerId} ${systemId}`;
    const told = JSON.stringify(info ?? {});
    const known = this.#known.get(key);
    if (known !== undefined && known.told === told && performance.now() - known.at < CONTACT_EVERY_MS) return known.id;
    const [row] = await sql.query<{ id: number }>(
      `INSERT INTO managers (id, runner_id, system_id, info) VALUES (nextval('manager_ids'), $1, $2, $3::jsonb)
       ON CONFLICT (runner_id, system_id) DO UPDATE SET info = excluded.info, contacted_at = now() RETURNING id`,
      [runnerId, systemId, told],
    );
    const { id } = row as { readonly id: number };
    if (this.#known.size > MAX_KNOWN) this.#known.clear();
    this.#known.set(key, { id, told, at: performance.now() });
    return id;
  }

  /** Forgets a machine. Gives whether there was one. */
  async remove(sql: Sql, runnerId: number, systemId: string): Promise<boolean> {
    this.#known.delete(`${runnerId} ${systemId}`);
    const removed = await sql.query("DELETE FROM managers WHERE runner_id = $1 AND system_id = $2 RETURNING id", [
      runnerId,
      systemId,
    ]);
    return removed.length > 0;
  }
}
