import type { TraceSchema } from "@steps/proto";

// protobuf-es's own names for these are out of reach without depending on it for its types alone.
type Message = typeof TraceSchema;

/** A field of a message, by reflection. */
export type DescField = Message["fields"][number];

/** A message, by reflection. */
export type DescMessage = NonNullable<DescField["message"]>;

/** An enum, by reflection. */
export type DescEnum = NonNullable<DescField["enum"]>;

/** protobuf's numbers of its scalar types, as far as the schema uses them. */
export const scalar = { double: 1, uint64: 4, int32: 5, bool: 8, string: 9, bytes: 12, uint32: 13 } as const;
