import { readFileSync } from "node:fs";
import { awaitServices } from "./await-services.ts";
import { giveTo, openToAll, type Owner, ownerOf } from "./hand-over.ts";
import type { Preparation, Prepared, Restoration } from "./preparation.ts";

/** Does in a job's container, as its root, what has to be done before the job begins. @throws for a reference that is not there */
export async function prepareContainer(preparation: Preparation): Promise<Prepared> {
  const { reference, own, open, services, timeoutMs } = preparation;
  const outside = ownerOf(reference);
  const user = userOfFirstProcess();
  const isStranger = user.uid !== outside.uid;
  const isRootAlone = user.uid === 0 && outside.uid === 0;
  const [silent, ...problems] = await Promise.all([
    awaitServices(services, timeoutMs),
    isStranger ? giveTo(user, own) : [],
    // Root reads and writes whatever it likes.
    isStranger && user.uid !== 0 ? openToAll(open) : [],
  ]);
  return { hasStrangers: !isRootAlone, silent, problems: problems.flat() };
}

/** Gives folders back to the user outside. Returns what could not be done. @throws for a reference that is not there */
export async function restoreFolders({ reference, folders }: Restoration): Promise<readonly string[]> {
  return giveTo(ownerOf(reference), folders);
}

// The first process is the service that runs the job, or becomes it.
function userOfFirstProcess(): Owner {
  const status = readFileSync("/proc/1/status", "utf8");
  const read = (name: string): number => Number(new RegExp(`^${name}:\\s*(\\d+)`, "m").exec(status)?.[1] ?? 0);
  return { uid: read("Uid"), gid: read("Gid") };
}
