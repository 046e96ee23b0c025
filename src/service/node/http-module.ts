/**
 * The HTTP module of the runtime. An `import` statement would evaluate all of its exports, and in Node one of them loads a whole
 * HTTP client, which makes every start slower. For types, import them from `node:http` as usual.
 */
export const http = process.getBuiltinModule('node:http')
