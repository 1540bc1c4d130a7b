import { setTimeout as sleep } from "node:timers/promises";
import { commandOf, GRACE_MS, whatIsLeft } from "../kit/processes.ts";
import type { Random } from "../kit/random.ts";
import { startService } from "../kit/service.ts";
import { type User, withUser } from "../kit/user.ts";
import type { Outcome, Trial } from "../trial.ts";
import { startJob } from "@steps/client";

/** The commands that a step starts; `N` is a number of seconds that nothing else sleeps for. */
const SHAPES: Readonly<Record<string, string>> = {
  "in front": "echo up; sleep N",
  "instead of the shell": "echo up; exec sleep N",
  behind: "sleep N & echo up; sleep N",
  "in a session of its own": "setsid sleep N & echo up; sleep N",
  "in a session of its own, by a parent that ended": "(setsid sh -c 'sleep N; true' &); echo up; sleep N",
  "deaf to TERM": "trap '' TERM; echo up; while :; do sleep 0.05; done",
  "deaf to HUP, without output": "nohup sleep N >/dev/null 2>&1 & echo up; sleep N",
  "with its descriptors closed": "sleep N <&- >&- 2>&- & echo up; sleep N",
  many: "for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do sleep N & done; echo up; wait",
  "one that starts the next": "sh -c 'while :; do (sleep 0.02); done' & echo up; sleep N",
};

export const orphans: Trial = trialOf({
  name: "orphans",
  holds: "After kill -9 of `ci` nothing that its steps started lives on.",
  count: 80,
  smallCount: 3,
  async kill(user, script, random) {
    const steps = JSON.stringify(
      random.next() < 0.3
        ? [
            {
              name: "both",
              parallel: [
                { name: "a", script },
                { name: "b", script },
              ],
            },
          ]
        : [{ name: "a", script }],
    );
    const runner = user.start(["ci"], { env: { STEPS: steps } });
    await runner.printed("up");
    await sleep(random.int(0, 100));
    runner.child.kill("SIGKILL");
    await runner.ended;
  },
});

export const orphansOfService: Trial = trialOf({
  name: "orphans-service",
  holds: "After kill -9 of the service nothing that the steps of its jobs started lives on.",
  count: 40,
  smallCount: 1,
  async kill(user, script, random) {
    const service = await startService(user);
    const jobs = Array.from({ length: random.int(1, 3) }, () => script);
    for (const ciScript of jobs) await startJob(service.dial, { ciScript, workDir: user.work });
    await sleep(random.int(50, 500));
    await service.kill();
  },
});

interface Killer extends Pick<Trial, "name" | "holds" | "count" | "smallCount"> {
  readonly kill: (user: User, script: string, random: Random) => Promise<void>;
}

function trialOf({ kill, ...trial }: Killer): Trial {
  const names = Object.keys(SHAPES);
  return {
    ...trial,
    attempt: ({ random, seed }) =>
      withUser(async (user): Promise<Outcome> => {
        const name = names[seed % names.length] as string;
        const script = (SHAPES[name] as string).replaceAll("N", String(300 + random.int(0, 300)));
        await kill(user, script, random);
        const at = performance.now();
        const left = await whatIsLeft(user.dir, GRACE_MS);
        const ms = Math.round(performance.now() - at);
        if (left.length === 0) return { measured: { kills: 1, "largest time until the last had ended, ms": ms } };
        const failure = `${left.length} processes of a step live on (${name}): ${left.map(commandOf).join("; ")}`;
        return { failure, measured: { kills: 1, "kills that left processes": 1, "processes left": left.length } };
      }),
  };
}
