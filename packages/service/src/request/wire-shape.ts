import { type DescField, type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { WireType } from "@bufbuild/protobuf/wire";

/** The shape of a field, as far as the wire shows it. */
export interface FieldShape {
  /** The wire type of one value. */
  readonly wireType: WireType;
  /** The text has to be UTF-8. */
  readonly isText: boolean;
  /**
   * The shape of the message in the field. It is made when it is first asked for, since messages can contain one
   * another.
   */
  readonly message: (() => WireShape) | undefined;
  /** The least size in bytes of a value, where many values may be packed into one field; 0 where none may. */
  readonly packedBytes: number;
}

/** The fields of a message by their numbers. */
export interface WireShape {
  readonly name: string;
  readonly fields: ReadonlyMap<number, FieldShape>;
}

const shapes = new WeakMap<DescMessage, WireShape>();

/** Returns the shape that the wire may have for a message of a schema. */
export function wireShapeOf(schema: DescMessage): WireShape {
  let shape = shapes.get(schema);
  if (shape === undefined) {
    shape = {
      name: schema.typeName,
      fields: new Map(schema.fields.map((field) => [field.number, fieldShape(field)])),
    };
    shapes.set(schema, shape);
  }
  return shape;
}

function fieldShape(field: DescField): FieldShape {
  switch (field.fieldKind) {
    case "message":
      return messageShape(field.message, field.delimitedEncoding);
    case "map":
      return entryShape(field);
    case "scalar":
      return scalarShape(field.scalar, false);
    case "enum":
      return scalarShape(ScalarType.INT32, false);
    case "list":
      if (field.listKind === "message") return messageShape(field.message, field.delimitedEncoding);
      return scalarShape(field.listKind === "enum" ? ScalarType.INT32 : field.scalar, true);
  }
}

function messageShape(message: DescMessage, isGroup: boolean): FieldShape {
  const wireType = isGroup ? WireType.StartGroup : WireType.LengthDelimited;
  return { wireType, isText: false, message: () => wireShapeOf(message), packedBytes: 0 };
}

// An item of a map is a message of two fields.
function entryShape(field: DescField & { readonly fieldKind: "map" }): FieldShape {
  const value =
    field.mapKind === "message"
      ? messageShape(field.message, false)
      : scalarShape(field.mapKind === "enum" ? ScalarType.INT32 : field.scalar, false);
  const entry: WireShape = {
    name: `${field.parent.typeName}.${field.name}`,
    fields: new Map([
      [1, scalarShape(field.mapKey, false)],
      [2, value],
    ]),
  };
  return { wireType: WireType.LengthDelimited, isText: false, message: () => entry, packedBytes: 0 };
}

const FIXED: ReadonlyMap<ScalarType, WireType> = new Map([
  [ScalarType.DOUBLE, WireType.Bit64],
  [ScalarType.FIXED64, WireType.Bit64],
  [ScalarType.SFIXED64, WireType.Bit64],
  [ScalarType.FLOAT, WireType.Bit32],
  [ScalarType.FIXED32, WireType.Bit32],
  [ScalarType.SFIXED32, WireType.Bit32],
]);

function scalarShape(scalar: ScalarType, isRepeated: boolean): FieldShape {
  const isText = scalar === ScalarType.STRING;
  if (isText || scalar === ScalarType.BYTES)
    return { wireType: WireType.LengthDelimited, isText, message: undefined, packedBytes: 0 };
  const wireType = FIXED.get(scalar) ?? WireType.Varint;
  const bytes = wireType === WireType.Varint ? 1 : wireType === WireType.Bit32 ? 4 : 8;
  return { wireType, isText, message: undefined, packedBytes: isRepeated ? bytes : 0 };
}
