import { createRequire } from "node:module";

// The runtime belongs to @steps/proto; the tests hold our own reader and writer against it.
const require = createRequire(new URL("../../proto/package.json", import.meta.url));

const runtime = require("@bufbuild/protobuf") as {
  fromJson: (schema: unknown, json: unknown, options?: { readonly ignoreUnknownFields?: boolean }) => object;
  toJson: (schema: unknown, message: object) => unknown;
};

export const { fromJson, toJson } = runtime;
