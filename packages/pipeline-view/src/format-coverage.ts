/** A coverage as people read it: `87.5 %`. */
export function formatCoverage(coverage: number): string {
  return `${coverage} %`;
}
