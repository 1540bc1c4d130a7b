// The words and lines of the tree that shows a trace, for who shows a run in the same way while it goes on.
export { colorOf, DIM, formatLines, type Line, MARKS, railsOf } from "../tree-line.ts";
