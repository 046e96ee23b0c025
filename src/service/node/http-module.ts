/**
 * The HTTP module of the runtime, for values. An `import` of it from a module reads each of its exports, and in Node one of them
 * loads a whole HTTP client: a fifth of the time that a server takes to start.
 */
export const http = process.getBuiltinModule('node:http')
