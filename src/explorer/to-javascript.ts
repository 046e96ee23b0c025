/** Takes the types out of TypeScript, as Node itself does when it runs this. */

import { stripTypeScriptTypes } from 'node:module'

export function toJavaScript(source: string): string {
  const { emitWarning } = process
  // That it is experimental is for those who develop this to know, not for whoever starts the service.
  process.emitWarning = (...args: unknown[]) => {
    if (!String(args[0]).includes('stripTypeScriptTypes')) Reflect.apply(emitWarning, process, args)
  }
  try {
    return stripTypeScriptTypes(source)
  } finally {
    process.emitWarning = emitWarning
  }
}
