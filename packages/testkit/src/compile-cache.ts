/**
 * The variable by which programs of Node share the compiled form of what they load. A home of its own has none yet, and to make
 * it anew takes a test's command longer than all else that it does.
 */
export function compileCache(): { readonly NODE_COMPILE_CACHE?: string } {
  const dir = process.env["NODE_COMPILE_CACHE"];
  return dir === undefined ? {} : { NODE_COMPILE_CACHE: dir };
}
