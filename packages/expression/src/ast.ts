/** The syntax tree. Chains of operators are flat, so that only brackets nest. Offsets are into the template. */
export type Node =
  | LiteralNode
  | TextNode
  | NameNode
  | ArrayNode
  | ObjectNode
  | AccessNode
  | CallNode
  | UnaryNode
  | BinaryNode
  | LogicNode;

interface Span {
  readonly start: number;
  readonly end: number;
}

interface LiteralNode extends Span {
  readonly kind: "literal";
  readonly value: null | boolean | number | string;
}

/** A double-quoted string with expressions inside. */
export interface TextNode extends Span {
  readonly kind: "text";
  readonly parts: readonly (string | Node)[];
}

export interface NameNode extends Span {
  readonly kind: "name";
  readonly name: string;
}

export interface ArrayNode extends Span {
  readonly kind: "array";
  readonly items: readonly Node[];
}

export interface ObjectNode extends Span {
  readonly kind: "object";
  readonly pairs: readonly { readonly key: Node; readonly value: Node }[];
}

export type Access =
  | ({ readonly kind: "field"; readonly name: string } & Span)
  | ({ readonly kind: "index"; readonly index: Node } & Span);

/** `base.field[index]…` */
export interface AccessNode extends Span {
  readonly kind: "access";
  readonly base: Node;
  readonly path: readonly Access[];
}

export interface CallNode extends Span {
  readonly kind: "call";
  readonly name: string;
  readonly args: readonly Node[];
}

export type UnaryOperator = "+" | "-" | "!";

export interface UnaryNode extends Span {
  readonly kind: "unary";
  /** The operators as written; the last one is applied first. */
  readonly operators: readonly UnaryOperator[];
  readonly operand: Node;
}

export type BinaryOperator = "+" | "-" | "*" | "/" | "%" | "==" | "!=" | "<" | "<=" | ">" | ">=";

/** Operators of one precedence, applied from left to right. */
export interface BinaryNode extends Span {
  readonly kind: "binary";
  readonly first: Node;
  readonly rest: readonly { readonly operator: BinaryOperator; readonly operand: Node }[];
}

export interface LogicNode extends Span {
  readonly kind: "logic";
  readonly operator: "&&" | "||";
  readonly operands: readonly Node[];
}

/** One `${{ }}` of a template. */
export interface Expression extends Span {
  /** Absent when the text is no Moa and only the dotted language can read it; `error` says why. */
  readonly node: Node | undefined;
  readonly error: Error | undefined;
  /** The names between the dots, when the dotted language reads the text otherwise than Moa. */
  readonly dotted: readonly string[] | undefined;
  /** Names of the scope that are used, whichever language reads the text. */
  readonly roots: readonly string[];
  /** Names of the functions that are called. */
  readonly calls: readonly string[];
}
