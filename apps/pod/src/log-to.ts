import { errors } from "@steps/console/terminal";
import type { PodLog } from "@steps/pods";

/** Writes one line an event to standard error: for people, or JSON with a time. */
export function logTo(report: "text" | "json"): PodLog {
  return (level, message, facts = {}) => {
    if (report === "json") {
      void errors.writeLines(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...facts })}\n`);
      return;
    }
    const details = Object.entries(facts).map(([name, value]) => ` ${name}=${String(value)}`);
    void errors.writeLines(`pod: ${level === "info" ? "" : `${level}: `}${message}${details.join("")}\n`);
  };
}
