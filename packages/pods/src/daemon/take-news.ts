import { podOfId } from "@steps/pod-tokens";
import type { Database, Sql } from "../database/database.ts";
import { HttpError } from "../http/http-error.ts";
import type { NewsBatch } from "../link/messages.ts";

/** The most offers of one pod that a daemon holds. The others are asked for when half of them have gone. */
const MAX_OFFERS = 100_000;

/** The outcome of a batch: new offers came, nothing did, or the pod has to begin a new session. */
export type TakenNews = "offers" | "nothing" | "begin anew";

interface Link {
  readonly session: string;
  readonly batch: number;
  readonly is_whole: boolean;
}

/**
 * Takes a batch of a pod: once, and only as the next of its session. A daemon that lost its data, or got older ones back, asks for a new
 * session, and so does one that held too many offers to take all of them.
 *
 * @throws {HttpError} 400 when the jobs are not those of the pod
 */
export async function takeNews(database: Database, news: NewsBatch): Promise<TakenNews> {
  if (news.jobs.some(({ id }) => podOfId(id) !== news.pod))
    throw new HttpError(400, "400 Bad Request: a job is that of another pod");
  return await database.transaction(async (sql) => {
    const [known] = await sql.query<Link>("SELECT session, batch, is_whole FROM links WHERE pod = $1 FOR UPDATE", [
      news.pod,
    ]);
    const isFirst = news.batch === 1 && known?.session !== news.session;
    if (!isFirst) {
      if (known?.session !== news.session || news.batch > known.batch + 1) return "begin anew";
      if (news.batch <= known.batch) return await greet(sql, news.pod, known);
    }
    await sql.query(
      `INSERT INTO links (pod, session, batch, is_whole) VALUES ($1, $2, $3, true)
       ON CONFLICT (pod) DO UPDATE SET session = excluded.session, batch = excluded.batch, contacted_at = now(),
         is_whole = links.is_whole OR $4`,
      [news.pod, news.session, news.batch, isFirst],
    );
    const taken = await apply(sql, news);
    if (news.completes === true) await forgetOthers(sql, news);
    if (!isFirst && known?.is_whole === false && (await hasRoom(sql, news.pod))) return "begin anew";
    return taken > 0 ? "offers" : "nothing";
  });
}

async function greet(sql: Sql, pod: number, link: Link): Promise<TakenNews> {
  await sql.query("UPDATE links SET contacted_at = now() WHERE pod = $1", [pod]);
  return !link.is_whole && (await hasRoom(sql, pod)) ? "begin anew" : "nothing";
}

async function hasRoom(sql: Sql, pod: number): Promise<boolean> {
  return (await countOffers(sql, pod, MAX_OFFERS / 2)) < MAX_OFFERS / 2;
}

async function countOffers(sql: Sql, pod: number, most: number): Promise<number> {
  const [row] = await sql.query<{ offers: number }>(
    "SELECT count(*)::int AS offers FROM (SELECT FROM offers WHERE pod = $1 LIMIT $2) o",
    [pod, most],
  );
  return row?.offers ?? 0;
}

/** Makes the jobs what the news say. Gives the number of offers. */
async function apply(sql: Sql, { pod, session, jobs }: NewsBatch): Promise<number> {
  const over = jobs.filter(({ offer }) => offer === undefined).map(({ id }) => id);
  if (over.length > 0) await sql.query("DELETE FROM offers WHERE job_id = ANY ($1::bigint[])", [over]);
  const free = jobs.filter(({ held }) => held === undefined).map(({ id }) => id);
  if (free.length > 0) await sql.query("DELETE FROM hands WHERE job_id = ANY ($1::bigint[])", [free]);
  const held = jobs.flatMap(({ id, held: by }) => (by === undefined ? [] : [{ id, ...by }]));
  if (held.length > 0)
    await sql.query(
      `INSERT INTO hands (job_id, pod, project_id, runner_id, session)
       SELECT h.id, $2, h.project_id, h.runner_id, $3
       FROM jsonb_to_recordset($1::jsonb) AS h (id bigint, project_id bigint, runner_id bigint)
       ON CONFLICT (job_id) DO UPDATE SET session = excluded.session, runner_id = excluded.runner_id`,
      [JSON.stringify(held), pod, session],
    );
  return await takeOffers(sql, { pod, session, jobs });
}

async function takeOffers(
  sql: Sql,
  { pod, session, jobs }: Pick<NewsBatch, "pod" | "session" | "jobs">,
): Promise<number> {
  const all = jobs.flatMap(({ id, attempt, offer }) => (offer === undefined ? [] : [{ id, attempt, ...offer }]));
  if (all.length === 0) return 0;
  const room = MAX_OFFERS - (await countOffers(sql, pod, MAX_OFFERS));
  const offers = all.slice(0, Math.max(0, room));
  if (offers.length < all.length) await sql.query("UPDATE links SET is_whole = false WHERE pod = $1", [pod]);
  const rows = JSON.stringify(
    offers.map((offer) => ({ ...offer, tags: sorted(offer.tags), features: sorted(offer.features) })),
  );
  // A statement of its own: the next one then sees lanes that others have made in the meantime.
  await sql.query(
    `INSERT INTO offer_lanes (pod, project_id, tags, protected, features)
     SELECT DISTINCT $2::int, r.project_id, r.tags, r.protected, r.features FROM ${RECORDS} ON CONFLICT DO NOTHING`,
    [rows, pod],
  );
  await sql.query(
    `INSERT INTO offers (job_id, pod, lane_id, attempt, queued_at, session)
     SELECT r.id, $2, l.id, r.attempt, now() - make_interval(secs => r.age), $3
     FROM ${RECORDS} JOIN offer_lanes l USING (project_id, tags, protected, features) WHERE l.pod = $2
     ON CONFLICT (job_id) DO UPDATE SET lane_id = excluded.lane_id, attempt = excluded.attempt, session = excluded.session,
       queued_at = excluded.queued_at,
       claim_id = CASE WHEN offers.attempt = excluded.attempt THEN offers.claim_id END,
       reserved_until = CASE WHEN offers.attempt = excluded.attempt THEN offers.reserved_until END`,
    [rows, pod, session],
  );
  return offers.length;
}

const RECORDS = `jsonb_to_recordset($1::jsonb) AS r (id bigint, attempt int, project_id bigint, tags text[], protected boolean,
  features text[], age float8)`;

function sorted(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].toSorted();
}

/** Forgets what the pod did not speak of when it said everything. */
async function forgetOthers(sql: Sql, { pod, session }: NewsBatch): Promise<void> {
  await sql.query("DELETE FROM offers WHERE pod = $1 AND session <> $2", [pod, session]);
  await sql.query("DELETE FROM hands WHERE pod = $1 AND session <> $2", [pod, session]);
}
