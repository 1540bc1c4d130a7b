import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { printable } from "@steps/model/bounded-text";
import { KubernetesError } from "../kubernetes-error.ts";
import { isRecord } from "../access/kubeconfig.ts";
import type { KubernetesAccess } from "../access/kubernetes-access.ts";
import { podUrl, type PodTarget } from "./pod-target.ts";

const MAX_BODY_BYTES = 8 * 1024 * 1024;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Asks for the pod why nothing can be run in it: NOT_FOUND when it, or the container, is not there or has ended for good;
 * UNREACHABLE when it has not started yet. Undefined when that is not the reason, or when we may not ask.
 */
export async function explainPod(
  access: KubernetesAccess,
  target: PodTarget,
  { signal }: { signal: AbortSignal },
): Promise<KubernetesError | undefined> {
  const name = `Pod ${JSON.stringify(`${target.namespace}/${target.pod}`)}`;
  let answer: { statusCode: number; pod: unknown };
  try {
    answer = await getPod(access, target, signal);
  } catch (cause) {
    signal.throwIfAborted();
    void cause;
    return undefined;
  }
  if (answer.statusCode === 404) return new KubernetesError("NOT_FOUND", `${name} does not exist`);
  if (answer.statusCode !== 200 || !isRecord(answer.pod)) return undefined;
  const [spec, status] = [fieldsOf(answer.pod, "spec"), fieldsOf(answer.pod, "status")];
  const phase = String(status["phase"]);
  if (phase === "Succeeded" || phase === "Failed") {
    return new KubernetesError("NOT_FOUND", `${name} has ended (${phase.toLowerCase()})`);
  }
  const { container } = target;
  if (container !== undefined && !containerNames(spec).includes(container)) {
    const names = containerNames(spec).map((item) => JSON.stringify(item));
    return new KubernetesError("NOT_FOUND", `${name} has no container ${JSON.stringify(container)}`, {
      hint: `It has ${names.join(", ")}`,
    });
  }
  return explainState(name, { status, phase, container, isFinal: spec["restartPolicy"] === "Never" });
}

function explainState(
  name: string,
  {
    status,
    phase,
    container,
    isFinal,
  }: { status: Fields; phase: string; container: string | undefined; isFinal: boolean },
): KubernetesError | undefined {
  const statuses = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"].flatMap((key) =>
    listOf(status, key),
  );
  const own = statuses.find((item) => item["name"] === container) ?? (statuses.length === 1 ? statuses[0] : undefined);
  const state = fieldsOf(own ?? {}, "state");
  if (isRecord(state["terminated"]) && phase === "Running") {
    return new KubernetesError(isFinal ? "NOT_FOUND" : "UNREACHABLE", `The container of ${name} has ended`);
  }
  if (phase !== "Pending" && !isRecord(state["waiting"])) return undefined;
  const { reason } = fieldsOf(state, "waiting");
  const why = typeof reason === "string" ? ` (${printable(reason).slice(0, 200)})` : "";
  return new KubernetesError("UNREACHABLE", `${name} is not running yet${why}`);
}

function containerNames(spec: Fields): string[] {
  const lists = ["containers", "initContainers", "ephemeralContainers"].flatMap((key) => listOf(spec, key));
  return lists.map((item) => String(item["name"]));
}

async function getPod(
  access: KubernetesAccess,
  target: PodTarget,
  signal: AbortSignal,
): Promise<{ statusCode: number; pod: unknown }> {
  const url = podUrl(access, target);
  const send = url.protocol === "https:" ? httpsRequest : httpRequest;
  const headers = { ...access.headers, accept: "application/json" };
  const request = send(url, { ...access.tls, agent: false, headers, signal });
  try {
    request.end();
    const [response] = (await once(request, "response")) as [IncomingMessage];
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of response) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).length;
      if (size > MAX_BODY_BYTES) throw new Error(`More than ${MAX_BODY_BYTES} bytes`);
    }
    const statusCode = response.statusCode ?? 0;
    return {
      statusCode,
      pod: statusCode === 200 ? (JSON.parse(Buffer.concat(chunks).toString()) as unknown) : undefined,
    };
  } finally {
    request.on("error", () => undefined);
    request.destroy();
  }
}

function fieldsOf(fields: Fields, key: string): Fields {
  const value = fields[key];
  return isRecord(value) ? value : {};
}

function listOf(fields: Fields, key: string): Fields[] {
  const value = fields[key];
  return Array.isArray(value) ? (value as unknown[]).filter(isRecord) : [];
}
