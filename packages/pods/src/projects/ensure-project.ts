import type { Sql } from "../database/database.ts";

/** A project of the pod. */
export interface Project {
  readonly id: number;
  readonly path: string;
  /** The groups that it is in, the outermost first. */
  readonly group_ids: readonly number[];
  /** The limit for its jobs in seconds. */
  readonly timeout_s: number | null;
}

/** The form of a path of a project or a group: names with slashes between them, as GitLab has them. */
export const PATH_PATTERN: RegExp =
  /^(?!.*\.\.)[\p{L}\p{N}_][\p{L}\p{N}_.-]*(?:\/[\p{L}\p{N}_][\p{L}\p{N}_.-]*){0,20}$/u;

/** Gives the project with this path, and makes it, with its groups, if there is none. */
export async function ensureProject(sql: Sql, path: string): Promise<Project> {
  const known = await findProject(sql, path);
  if (known !== undefined) return known;
  const parts = path.split("/");
  const groups = parts.slice(0, -1).map((_, index) => parts.slice(0, index + 1).join("/"));
  const ids: number[] = [];
  for (const group of groups) ids.push(await ensureGroup(sql, group));
  await sql.query(
    `INSERT INTO projects (id, path, group_ids) VALUES (nextval('project_ids'), $1, $2::bigint[]) ON CONFLICT DO NOTHING`,
    [path, ids],
  );
  return (await findProject(sql, path)) as Project;
}

/** Gives the id of the group with this path, and makes it if there is none. */
export async function ensureGroup(sql: Sql, path: string): Promise<number> {
  await sql.query(
    `INSERT INTO groups (id, path) SELECT nextval('group_ids'), $1
    WHERE NOT EXISTS (SELECT FROM groups WHERE path = $1) ON CONFLICT DO NOTHING`,
    [path],
  );
  const [row] = await sql.query<{ id: number }>("SELECT id FROM groups WHERE path = $1", [path]);
  return row?.id as number;
}

async function findProject(sql: Sql, path: string): Promise<Project | undefined> {
  const [row] = await sql.query<Project>("SELECT id, path, group_ids, timeout_s FROM projects WHERE path = $1", [path]);
  return row;
}
