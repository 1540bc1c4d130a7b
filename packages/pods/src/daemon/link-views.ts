import { formatGauge, type Labels } from "@steps/model/operation";
import type { Daemon } from "./daemon.ts";

/** The daemon's link with a pod, as its owner sees it. */
export interface LinkView {
  readonly pod: number;
  readonly url: string;
  /** When the pod was last heard of; null before it ever was. */
  readonly contacted_at: Date | null;
  /** Whether the pod answers claims, as far as is known. */
  readonly answers: boolean;
  readonly offers: number;
  /** The jobs of the pod that runners of the daemon have. */
  readonly running: number;
}

/** The links with all pods. */
export async function linkViews({ database, links }: Daemon): Promise<LinkView[]> {
  const rows = await database.query<{ pod: number; contacted_at: Date; offers: number; running: number }>(
    `SELECT l.pod, l.contacted_at, (SELECT count(*) FROM offers o WHERE o.pod = l.pod)::int AS offers,
       (SELECT count(*) FROM hands h WHERE h.pod = l.pod)::int AS running FROM links l`,
  );
  const known = new Map(rows.map((row) => [row.pod, row]));
  return [...links.values()].map(({ number: pod, url, isDown }) => ({
    pod,
    url,
    contacted_at: known.get(pod)?.contacted_at ?? null,
    answers: !isDown,
    offers: known.get(pod)?.offers ?? 0,
    running: known.get(pod)?.running ?? 0,
  }));
}

/** The same as Prometheus reads it, with the requests that wait. */
export async function formatDaemonGauges(daemon: Daemon): Promise<string> {
  const views = await linkViews(daemon);
  const rows = (value: (view: LinkView) => number): [Labels, number][] =>
    views.map((view) => [{ pod: view.pod }, value(view)]);
  const silence = ({ contacted_at: at }: LinkView): number => (at === null ? -1 : (Date.now() - at.getTime()) / 1000);
  return [
    formatGauge(
      "pod_daemon_offers",
      "Jobs that the pod offers.",
      rows(({ offers }) => offers),
    ),
    formatGauge(
      "pod_daemon_running",
      "Jobs of the pod that runners of the daemon have.",
      rows(({ running }) => running),
    ),
    formatGauge(
      "pod_daemon_pod_up",
      "Whether the pod answers claims.",
      rows(({ answers }) => Number(answers)),
    ),
    formatGauge(
      "pod_daemon_silence_seconds",
      "The time since the pod was heard of; -1 before it ever was.",
      rows(silence),
    ),
    formatGauge("pod_held_requests", "Requests for jobs that this process holds.", [[{}, daemon.queue.waiting]]),
  ].join("");
}
