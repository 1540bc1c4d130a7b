// The words and lines of the tree that shows a trace, for code that shows a run in the same way while it goes on.
export { shownLabel } from "../shown-label.ts";
export { colorOf, DIM, formatLines, type Line, MARKS, railsOf } from "../tree-line.ts";
