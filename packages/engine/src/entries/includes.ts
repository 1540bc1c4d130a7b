export { createIncludes, type Includes, type IncludesOptions } from "../includes/create-includes.ts";
export { gitBaseOf, type IncludeServer, withCredentials } from "../includes/include-server.ts";
