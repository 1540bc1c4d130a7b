/** The sum of a metric over its labels, in the text format of Prometheus; 0 if it is not there. */
export function sumOfMetric(metrics: string, name: string): number {
  const rows = metrics.split("\n").filter((row) => row.startsWith(`${name} `) || row.startsWith(`${name}{`));
  return rows.reduce((sum, row) => sum + Number(row.slice(row.lastIndexOf(" "))), 0);
}
