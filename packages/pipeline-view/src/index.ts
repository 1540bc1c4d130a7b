export { alignColumns, escapeCell, firstLine } from "./columns.ts";
export { formatCoverage } from "./format-coverage.ts";
export { escapeXml, formatTable } from "./format-pipeline.ts";
export { LinePrefix } from "./line-prefix.ts";
export { type PipelineRow, PipelineRows, SEPARATOR } from "./pipeline-rows.ts";
export { pipelineExitCode, statusOf } from "./pipeline-status.ts";
export { PipelineView, type ViewOptions } from "./pipeline-view.ts";
export type { OrderedJob } from "./row-order.ts";
export { printReport, type ReportKind } from "./print-report.ts";
