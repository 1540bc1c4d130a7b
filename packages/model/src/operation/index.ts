export { type Log, LOG_LEVELS, type LogLevel } from "./log.ts";
export { Counters, formatGauge, type Labels, METRICS_TYPE } from "./metrics.ts";
