import { formatPosition } from "@steps/model/diagnostic";
import { describe, expect, test } from "vitest";
import { readRouterConfig } from "../index.ts";

const read = (text: string) => readRouterConfig({ name: "router.yml", text });

describe("readRouterConfig()", () => {
  test("reads pods, the default, and the limits", () => {
    const { config, diagnostics } = read(
      [
        "default: 1",
        "redirect-artifacts: true",
        "idle-timeout: 90",
        "max-connections: 50",
        "max-requests: 100",
        "pods:",
        "  - {number: 1, url: 'http://10.0.0.11:8080'}",
        "  - number: 2",
        "    url: https://pod-2.internal",
        "    public-url: https://pod-2.example.com",
        "    jobs: 1-999",
      ].join("\n"),
    );
    expect(diagnostics).toEqual([]);
    expect(config).toMatchObject({ redirectsArtifacts: true, idleTimeoutMs: 90_000, maxRequestsPerPod: 100 });
    expect(config?.maxConnections).toBe(50);
    expect(config?.defaultPod?.url.href).toBe("http://10.0.0.11:8080/");
    expect(config?.pods.get(2)).toMatchObject({ number: 2, jobs: [1, 999] });
  });

  test("needs no more than one pod", () => {
    const { config } = read('{"pods": [{"number": 7, "url": "http://localhost:1"}]}');
    expect(config).toMatchObject({ redirectsArtifacts: false, maxRequestsPerPod: 20_000, idleTimeoutMs: 120_000 });
    expect([config?.maxConnections, config?.defaultPod]).toEqual([20_000, undefined]);
  });

  test("leaves the flags of the commands that read the file to them", () => {
    const { config, diagnostics } = read("router: {port: 1}\ndaemon: {port: 2}\npods: [{number: 7, url: 'http://a'}]");
    expect([config?.pods.size, diagnostics]).toEqual([1, []]);
  });

  const pod = "{number: 1, url: 'http://a'}";
  test.each([
    ["", "", "The file is empty"],
    ["pods", "1:1", "A mapping is expected, this is a string"],
    ["default: 1", "1:1", '"pods" is missing'],
    ["pods: {}", "1:7", '"pods" is a list of pods, not a mapping'],
    ["pods: []", "1:7", '"pods" is a list of pods, not a list'],
    [`pods: [${pod}]\nlisten: 1`, "2:1", 'There is no key "listen"'],
    [`pods: [${pod}]\ndefault: 2`, "2:10", "There is no pod 2"],
    [`pods: [${pod}, ${pod}]`, "1:38", "There is another pod 1"],
    ["pods: [{number: 1}]", "1:8", '"url" of the pod is missing'],
    ["pods: [{number: -1, url: 'http://a'}]", "1:17", '"number" is a whole number from 0 to 2147483648'],
    ["pods: [{number: '1', url: 'http://a'}]", "1:17", '"number" is a whole number from 0 to 2147483648'],
    ["pods: [{number: 1, url: 'ftp://a'}]", "1:25", '"url" is no URL of a server, without a path and a user'],
    ["pods: [{number: 1, url: 'http://u:secret@a'}]", "1:25", '"url" is no URL of a server, without a path and a user'],
    ["pods: [{number: 1, url: 'http://a/b'}]", "1:25", '"url" is no URL of a server, without a path and a user'],
    [
      "pods: [{number: 1, url: 'http://a', jobs: 9-1}]",
      "1:43",
      '"jobs" are the first and the last id of a job: 1-1000000',
    ],
    [
      "pods: [{number: 1, url: 'http://a', jobs: 1-9}, {number: 2, url: 'http://b', jobs: 9-10}]",
      "1:49",
      "Pod 1 has ids of jobs that this one has too",
    ],
    [`pods: [${pod}]\nredirect-artifacts: 1`, "2:21", '"redirect-artifacts" is true or false, not the number 1'],
    [`pods: [${pod}]\n---\n{}`, "3:1", "There is a second document"],
  ])("refuses %j with its place", (text, place, message) => {
    const { config, diagnostics } = read(text);
    expect(config).toBeUndefined();
    const [first] = diagnostics;
    const at = first?.position === undefined ? "" : formatPosition(first.position).replace(/^router\.yml:/, "");
    expect([at, first?.message]).toEqual([place, message]);
    expect(JSON.stringify(diagnostics.map(({ message, hint }) => [message, hint]))).not.toContain("secret");
  });
});
