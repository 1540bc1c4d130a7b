import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { health } from "@steps/proto/service";

const { NOT_SERVING, SERVICE_UNKNOWN, SERVING } = health.HealthCheckResponse_ServingStatus;

/** `grpc.health.v1.Health` of the services by these names; all of them serve until `stopping` is aborted. */
export function healthService(
  names: ReadonlySet<string>,
  stopping: AbortSignal,
): Required<Pick<ServiceImpl<typeof health.Health>, "check" | "watch">> {
  const status = () => (stopping.aborted ? NOT_SERVING : SERVING);
  const isKnown = (service: string) => service === "" || names.has(service);
  return {
    check({ service }) {
      if (!isKnown(service)) throw new ConnectError("There is no such service here", Code.NotFound);
      return { status: status() };
    },
    async *watch({ service }, { signal }) {
      yield { status: isKnown(service) ? status() : SERVICE_UNKNOWN };
      await anyAborted([signal, stopping]);
      if (stopping.aborted && !signal.aborted && isKnown(service)) yield { status: NOT_SERVING };
    },
  };
}

// `AbortSignal.any()` would keep a signal on `stopping` for each call that ever watched.
function anyAborted(signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      for (const signal of signals) signal.removeEventListener("abort", end);
      resolve();
    };
    for (const signal of signals) signal.addEventListener("abort", end);
    if (signals.some((signal) => signal.aborted)) end();
  });
}
