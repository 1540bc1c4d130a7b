import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Cancelled } from "@steps/executor";
import { tempDir } from "@steps/testkit";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { docker, hasContainers, importBusybox, leftOf, type RanJob, runJob } from "./job-container-world.ts";

const WAITING = "Waiting until it is healthy\n";
const TEST_MS = 60_000;
const ACTION = {
  "act/action.yml": "name: act\ninputs: {who: {default: you}}\nruns: {using: node20, main: main.js, post: post.js}\n",
  "act/main.js": `const fs = require("fs");
    fs.appendFileSync(process.env.GITHUB_OUTPUT, "cwd=" + process.cwd() + "\\n");
    const again = require("child_process").execFileSync(process.execPath, ["-p", "40 + 2"]).toString().trim();
    fetch(process.env.ACTIONS_CACHE_URL + "none").then(({ status }) => console.log("cache", status));
    console.log("node", process.env["INPUT_WHO"], again, fs.existsSync("/bin/busybox"), fs.existsSync("/usr/bin"));`,
  "act/post.js": `console.log("post", process.env.FOO);`,
};

const names = ({ result }: RanJob): (string | undefined)[] =>
  (result.trace().root?.children ?? []).map(({ name }) => name);
const statusOf = ({ result }: RanJob, name: string): string | undefined =>
  result.trace().root?.children?.find((child) => child.name === name)?.det?.status;

describe.skipIf(!hasContainers)("a job in a container", () => {
  let image = "";
  beforeAll(async () => void (image = await importBusybox()));
  afterAll(async () => void (await docker("rmi", "--force", image)));

  test(
    "runs its scripts and actions there, beside its services",
    async () => {
      const dir = tempDir();
      const work = join(dir, "work");
      const answers: Promise<string>[] = [];
      const ran = await runJob(
        `env: {OF_JOB: job}
container:
  image: docker://${image}
  env: {OF_CONTAINER: "\${{ runner.os }}'s"}
services:
  _My-web_1:
    image: ${image}
    env: {SAYS: hello}
    ports: ["8080"]
    command: sh -c 'mkdir /www; echo $SAYS >/www/index.html; exec httpd -f -p 8080 -h /www'
    options: --health-cmd "wget -qO- http://localhost:8080/" --health-interval 200ms
  odd--: {image: ${image}, command: sleep 1000}
  none: {image: "\${{ github.none }}"}
steps:
  - id: first
    run: |
      echo "$OF_JOB $OF_CONTAINER $FROM_IMAGE [$OF_THE_HOST] $(cat in.txt) $PWD $GITHUB_WORKSPACE"
      echo "FOO=ba r" >>$GITHUB_ENV; echo "v=a=b" >>$GITHUB_OUTPUT; echo /added >>$GITHUB_PATH
      echo written >out.txt; echo in-home >$HOME/x; cat $GITHUB_EVENT_PATH >/dev/null
      case \${{ job.container.network }} in steps-*) echo "on \${{ job.services['_My-web_1'].network == job.container.network }}";; esac
  - run: echo "$FOO \${{ steps.first.outputs.v }} $PATH"; wget -qO- http://_My-web_1:8080/; cat $HOME/x
  - run: pwd
    working-directory: /tmp
  - run: echo port=\${{ job.services['_My-web_1'].ports['8080'] }}; while [ ! -e go ]; do sleep 0.1; done
  - id: act
    uses: ./act
    with: {who: "me \\" x"}
  - run: echo "\${{ steps.act.outputs.cwd }}"; exit 7
    continue-on-error: true
  - uses: docker://${image}
    with: {args: "wget -qO- http://_My-web_1:8080/"}
  - run: (setsid sleep 1000 &) ; (sleep 1001 &)
  - run: ps | grep -c "[s]leep 100" || true
`,
        {
          dir,
          files: { ...ACTION, "in.txt": "from outside" },
          onOutput: (output) => {
            const port = /port=(\d+)\n/.exec(output)?.[1];
            if (port === undefined || answers.length > 0) return;
            const answer = fetch(`http://127.0.0.1:${port}/`).then((response) => response.text());
            answers.push(answer.finally(() => writeFileSync(join(work, "go"), "")));
          },
        },
      );
      expect(ran.result.outcome, ran.output).toEqual({ status: "success" });
      expect(await Promise.all(answers)).toEqual(["hello\n"]);
      // It may be healthy at once.
      expect(ran.output.replace(WAITING, "").split("\n")).toEqual([
        `job Linux's yes [] from outside ${work} ${work}`,
        "on true",
        "ba r a=b /added:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "hello",
        "in-home",
        "/tmp",
        expect.stringMatching(/^port=\d+$/),
        'node me " x 42 true false',
        expect.stringMatching(/^cache 4\d\d$/),
        work,
        "hello",
        // A process that a step leaves running lives until the end of the job.
        "2",
        "post ba r",
        "",
      ]);
      expect(readFileSync(join(work, "out.txt"), "utf8")).toBe("written\n");
      expect(names(ran).filter((name) => /^(?:Start|Wait)/.test(name ?? ""))).toEqual([
        "Start service _My-web_1",
        "Start service odd--",
        "Wait for service _My-web_1",
        "Start container",
      ]);
      // No command holds anything that differs from run to run.
      const told = ran.result.trace().root?.children?.map(({ det }) => det);
      expect(JSON.stringify(told)).not.toContain(ran.result.trace().traceId);
      expect(await leftOf(image, ran.result)).toBe("");
    },
    TEST_MS,
  );

  test(
    "ends what a timeout and a cancel end, with time to clean up, and leaves nothing",
    async () => {
      const controller = new AbortController();
      const ran = await runJob(
        `container: ${image}
steps:
  - run: trap '' TERM; echo deaf; while :; do sleep 1; done
    timeout-minutes: 0.03
    continue-on-error: true
  - run: "ps | grep -c '[t]rap .. TERM; echo deaf' || true"
  - run: |
      trap 'echo cleaned; exit 0' TERM
      echo waiting
      while :; do sleep 0.1; done
  - run: echo never
  - run: echo always
    if: always()
`,
        {
          graceMs: 1000,
          signal: controller.signal,
          onOutput: (output) => output.includes("waiting\n") && controller.abort(new Cancelled()),
        },
      );
      expect(ran.result.outcome.status).toBe("cancelled");
      // The shell may say what became of its child.
      expect(ran.output.replace("Terminated\n", "")).toBe("deaf\n0\nwaiting\ncleaned\nalways\n");
      expect(await leftOf(image, ran.result)).toBe("");
    },
    TEST_MS,
  );

  test(
    "runs scripts and takes what they write for a user that is not root, and shows nobody of this machine anything",
    async () => {
      const dir = tempDir();
      const ran = await runJob(
        `container: {image: ${image}, options: --user 4242}
steps:
  - id: first
    run: |
      echo v=written >>$GITHUB_OUTPUT; echo FOO=bar >>$GITHUB_ENV; echo x >$HOME/x; cat $GITHUB_EVENT_PATH >/dev/null
      while read -r key value rest; do [ "$key" = Uid: ] && echo "as $value"; done </proc/self/status; :
  - run: echo "$FOO \${{ steps.first.outputs.v }} $(cat $HOME/x)"
  - uses: ./act
`,
        { dir, files: ACTION },
      );
      expect(ran.output).toContain("as 4242\nbar written x\n");
      expect(ran.output).toContain("node you 42");
      const runs = join(dir, "state/runs");
      for (const name of readdirSync(runs)) expect(statSync(join(runs, name)).mode & 0o77).toBe(0);
      expect(await leftOf(image, ran.result)).toBe("");
    },
    TEST_MS,
  );

  test(
    "does not begin with a service that is unhealthy or an image that is not there",
    async () => {
      const sick = await runJob(
        `services:
  db:
    image: ${image}
    command: sh -c 'echo cannot open the database; exec sleep 1000'
    options: --health-cmd false --health-interval 100ms --health-retries 2
steps:
  - run: echo never
    if: always()
`,
      );
      const message = 'step "Wait for service db": the service is unhealthy';
      expect(sick.result.outcome).toEqual({ status: "failure", error: { code: "CONTAINER_FAILED", message } });
      expect(sick.output).toContain("The end of its log:\ncannot open the database\n");
      expect(sick.output).not.toContain("never");
      const missing = await runJob(
        `container: {image: "127.0.0.1:9/none", credentials: {username: me, password: pass}}\nsteps:\n  - run: echo never\n`,
      );
      expect(missing.result.outcome.error?.message).toMatch(
        /^step "Start container": the image "127.0.0.1:9\/none" cannot/,
      );
      expect(missing.output).toContain("127.0.0.1:9");
      const noShell = await runJob(
        `container: {image: "${image}", options: "--workdir=/ --volume /nothing:/bin"}\nsteps:\n  - run: echo never\n`,
      );
      expect(noShell.output).toContain("/bin/sh");
      expect(statusOf(noShell, "Start container")).toBe("failure");
      for (const { result } of [sick, missing, noShell]) expect(await leftOf(image, result)).toBe("");
    },
    TEST_MS,
  );

  test("works for services of a job that runs on the machine itself", async () => {
    const ran = await runJob(
      `services:
  web:
    image: ${image}
    ports: ["8080/tcp"]
    options: --health-cmd "wget -qO- http://localhost:8080/" --health-interval 100ms
    entrypoint: /bin/sh
    command: -c 'echo here >/index.html; exec httpd -f -p 8080 -h /'
steps:
  - run: curl -s http://127.0.0.1:\${{ job.services.web.ports[8080] }}/; echo "$OF_THE_HOST \${{ job.container.id }}"
`,
    );
    expect(ran.output.replace(WAITING, "")).toBe("here\n1 \n");
    expect(await leftOf(image, ran.result)).toBe("");
  });
});

test("a job with a container says before it begins that there is no engine", async () => {
  vi.stubEnv("PATH", tempDir());
  onTestFinished(() => void vi.unstubAllEnvs());
  const ran = await runJob("container: any\nsteps:\n  - run: echo never\n");
  const message = expect.stringContaining("the container of the job cannot be started: Containers need the docker");
  expect(ran.result.outcome).toEqual({ status: "failure", error: { code: "CONTAINER_FAILED", message } });
});

test.each(["--network host", "--net=host", "--entrypoint=/x"])("the option %s is refused", async (options) => {
  const ran = await runJob(`container: {image: any, options: "${options}"}\nsteps:\n  - run: echo never\n`);
  expect(ran.result.outcome.error?.message).toBe(`container: the option "${options.split(" ")[0]}" is not supported`);
});
