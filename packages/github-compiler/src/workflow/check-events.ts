import { childOf, type YamlNode } from "@steps/source";
import { nearest, quote } from "@steps/model/diagnostic";
import { isNull } from "../reading/mapping.ts";
import type { Reading } from "../reading/reading.ts";
import { scalarText } from "../reading/texts.ts";
import { cronProblem } from "./cron.ts";

// https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows
const EVENTS: readonly string[] = (
  "branch_protection_rule check_run check_suite create delete deployment deployment_status discussion discussion_comment fork " +
  "gollum image_version issue_comment issues label merge_group milestone page_build project project_card project_column public " +
  "pull_request pull_request_comment pull_request_review pull_request_review_comment pull_request_target push registry_package " +
  "release repository_dispatch schedule status watch workflow_call workflow_dispatch workflow_run"
).split(" ");

/** Says which events in `on` GitHub does not have, and which times in `schedule` are none. */
export function checkEvents(reading: Reading, on: YamlNode): void {
  for (const { name, node } of namesOf(on)) {
    if (!EVENTS.includes(name)) reportEvent(reading, name, node);
  }
  checkSchedule(reading, childOf(on, "schedule"));
}

function namesOf(on: YamlNode): readonly { readonly name: string; readonly node: YamlNode }[] {
  if (on.kind === "mapping") return [...on.entries].map(([name, { key }]) => ({ name, node: key }));
  const items = on.kind === "list" ? on.items : [on];
  return items.flatMap((node) => (node.kind === "scalar" ? [{ name: scalarText(node), node }] : []));
}

// GitHub makes new ones, so it is no error.
function reportEvent(reading: Reading, name: string, node: YamlNode): void {
  reading.report.add("warning", node, () => {
    const near = nearest(name, EVENTS);
    return {
      code: "unknown-event",
      message: `No event of GitHub is called ${quote(name)}`,
      hint: near === undefined ? "Nothing will start the workflow for it." : `Did you mean "${near}"?`,
    };
  });
}

function checkSchedule(reading: Reading, node: YamlNode | undefined): void {
  if (node === undefined) return;
  const items = node.kind === "list" ? node.items : [];
  if (items.length === 0 && !isNull(node)) {
    const message = `"schedule" must be a list of times`;
    reading.report.error(node, { code: "wrong-type", message, hint: 'Write - cron: "30 5 * * 1".' });
  }
  for (const item of items) {
    const cron = childOf(item, "cron");
    if (cron === undefined) {
      const message = `An item of "schedule" has no "cron"`;
      reading.report.error(item, { code: "missing-key", message, hint: 'Write - cron: "30 5 * * 1".' });
      continue;
    }
    const problem = cron.kind === "scalar" ? cronProblem(scalarText(cron)) : "it is no text";
    if (problem === undefined) continue;
    const hint = "It has five fields: minute, hour, day of the month, month, day of the week.";
    reading.report.error(cron, {
      code: "invalid-cron",
      message: `The time of "schedule" is malformed: ${problem}`,
      hint,
    });
  }
}
