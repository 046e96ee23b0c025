/** Judges a packed package as whoever installs it would: what npm, bundlers and TypeScript make of it. */

import { readFileSync } from 'node:fs'
import { checkPackage as checkTypes, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'

/** Answers with what is wrong, in words; nothing where all is well. */
export async function checkPackage(tarball: string): Promise<string[]> {
  const bytes = new Uint8Array(readFileSync(tarball))
  const { messages } = await publint({ pack: { tarball: bytes.buffer }, strict: true })
  const result = await checkTypes(createPackageFromTarballData(bytes))
  const problems = result.types === false ? [{ kind: 'NoTypes' }] : result.problems
  // Before "exports" there were no such imports, and CommonJS of Node 24 takes ES modules.
  const serious = problems.filter((problem) => {
    const isOld = 'resolutionKind' in problem && problem.resolutionKind === 'node10'
    return !isOld && problem.kind !== 'CJSResolvesToESM'
  })
  return [...messages, ...serious].map((each) => JSON.stringify(each))
}
