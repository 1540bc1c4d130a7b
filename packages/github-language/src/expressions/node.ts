/** A range of an expression, in UTF-16 units from its start. */
interface Span {
  readonly offset: number;
  readonly length: number;
}

interface LiteralNode {
  readonly type: "literal";
  readonly value: null | boolean | number | string;
}

export interface ContextNode extends Span {
  readonly type: "context";
  /** The name in lower case. */
  readonly name: string;
  /** The name as it was written. */
  readonly text: string;
}

export interface IndexNode {
  readonly type: "index";
  readonly object: Node;
  /** `*`: a filter. */
  readonly key: Node | "*";
  /** `a.b` rather than `a['b']`. */
  readonly isDotted: boolean;
}

export interface CallNode extends Span {
  readonly type: "call";
  /** The name in lower case. */
  readonly name: string;
  /** The name as it was written. */
  readonly text: string;
  readonly args: readonly Node[];
}

interface NotNode {
  readonly type: "not";
  readonly operand: Node;
}

export interface CompareNode {
  readonly type: "compare";
  readonly operator: "==" | "!=" | "<" | ">" | "<=" | ">=";
  readonly left: Node;
  readonly right: Node;
}

/** `a && b && c`: at least two operands, none of them the same operation again. */
export interface LogicNode {
  readonly type: "logic";
  readonly operator: "&&" | "||";
  readonly operands: readonly Node[];
}

/** An expression, at most 50 levels deep. */
export type Node = LiteralNode | ContextNode | IndexNode | CallNode | NotNode | CompareNode | LogicNode;
