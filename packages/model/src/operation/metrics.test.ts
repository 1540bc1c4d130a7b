import { expect, test } from "vitest";
import { Counters, formatGauge } from "./metrics.ts";

test("counters are written with their help, their type, and a row for each set of labels", () => {
  const counters = new Counters("pod", { jobs_total: "Jobs.", bytes_total: "Bytes." });
  counters.add("jobs_total", { state: "failed" });
  counters.add("jobs_total", { state: "success" }, 2);
  counters.add("jobs_total", { state: "failed" });
  expect(counters.format()).toBe(
    [
      "# HELP pod_jobs_total Jobs.",
      "# TYPE pod_jobs_total counter",
      'pod_jobs_total{state="failed"} 2',
      'pod_jobs_total{state="success"} 2',
      "# HELP pod_bytes_total Bytes.",
      "# TYPE pod_bytes_total counter",
      "pod_bytes_total 0",
      "",
    ].join("\n"),
  );
});

test("a gauge escapes what would end the value of a label", () => {
  expect(formatGauge("jobs", "Jobs.", [[{ tags: 'a"b\\c\nd', pod: 1 }, 3]])).toBe(
    `# HELP jobs Jobs.\n# TYPE jobs gauge\njobs{tags="a\\"b\\\\c\\nd",pod="1"} 3\n`,
  );
  expect(formatGauge("jobs", "Jobs.", [])).toBe("# HELP jobs Jobs.\n# TYPE jobs gauge\n");
});
