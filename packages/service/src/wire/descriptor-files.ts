import { type DescExtension, type DescFile, type DescMessage, type DescService, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";

/**
 * The files that reflection looks up. They are given with all their imports, each file before those that it imports.
 */
export interface DescriptorFiles {
  readonly services: readonly string[];
  fileByName(name: string): Uint8Array[] | undefined;
  /** Finds a file by the full name of a message, enum, enum value, field, oneof, extension, service or method. */
  fileContaining(symbol: string): Uint8Array[] | undefined;
  fileOfExtension(extendee: string, number: number): Uint8Array[] | undefined;
  /** `undefined` for a message that is not there. */
  extensionNumbers(extendee: string): number[] | undefined;
}

/** An index over the files of services and of all that they import. */
export function indexDescriptorFiles(services: readonly DescService[]): DescriptorFiles {
  const files = new Map<string, DescFile>();
  for (const { file } of services) collect(file, files);
  const symbols = new Map<string, DescFile>();
  const messages = new Set<string>();
  const extensions = new Map<string, Map<number, DescFile>>();
  for (const file of files.values()) {
    indexSymbols(file, symbols, messages);
    for (const extension of extensionsOf(file)) {
      const numbers = extensions.get(extension.extendee.typeName) ?? new Map<number, DescFile>();
      extensions.set(extension.extendee.typeName, numbers.set(extension.number, file));
    }
  }
  const encode = (file: DescFile | undefined) =>
    file === undefined ? undefined : [...collect(file, new Map()).values()].toReversed().map(encodeFile);
  return {
    services: services.map(({ typeName }) => typeName).toSorted(),
    fileByName: (name) => encode(files.get(name)),
    fileContaining: (symbol) => encode(symbols.get(symbol.replace(/^\./, ""))),
    fileOfExtension: (extendee, number) => encode(extensions.get(extendee)?.get(number)),
    extensionNumbers: (extendee) =>
      messages.has(extendee) ? [...(extensions.get(extendee)?.keys() ?? [])].toSorted((a, b) => a - b) : undefined,
  };
}

const encodeFile = (file: DescFile): Uint8Array => toBinary(FileDescriptorProtoSchema, file.proto);

// The imported files first.
function collect(file: DescFile, files: Map<string, DescFile>): Map<string, DescFile> {
  if (files.has(file.proto.name)) return files;
  for (const dependency of file.dependencies) collect(dependency, files);
  return files.set(file.proto.name, file);
}

function indexSymbols(file: DescFile, symbols: Map<string, DescFile>, messages: Set<string>): void {
  for (const service of file.services) {
    symbols.set(service.typeName, file);
    for (const method of service.methods) symbols.set(`${service.typeName}.${method.name}`, file);
  }
  for (const extension of extensionsOf(file)) symbols.set(extension.typeName, file);
  for (const item of [...file.enums, ...allMessages(file).flatMap((message) => message.nestedEnums)]) {
    symbols.set(item.typeName, file);
    // The values of an enum are its neighbours.
    const scope = item.typeName.slice(0, item.typeName.lastIndexOf(".") + 1);
    for (const value of item.values) symbols.set(`${scope}${value.name}`, file);
  }
  for (const message of allMessages(file)) {
    messages.add(message.typeName);
    symbols.set(message.typeName, file);
    for (const member of [...message.fields, ...message.oneofs])
      symbols.set(`${message.typeName}.${member.name}`, file);
  }
}

function allMessages(file: DescFile): DescMessage[] {
  const below = (message: DescMessage): DescMessage[] => [message, ...message.nestedMessages.flatMap(below)];
  return file.messages.flatMap(below);
}

function extensionsOf(file: DescFile): DescExtension[] {
  return [...file.extensions, ...allMessages(file).flatMap((message) => message.nestedExtensions)];
}
