/** Changes in a directory that a power cut cannot take back. */

import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isSystemError } from './failure.ts'

/** Whoever reads the file finds the old text or the new one, never a part of either. */
export async function replaceFile(path: string, text: string): Promise<void> {
  await rename(await writeBeside(path, text), path)
}

export async function removeFile(path: string): Promise<void> {
  await rm(nameBeside(path), { force: true })
  await rm(path, { force: true })
}

/** A name is on disk when its directory is. */
export async function syncDirectoryOf(path: string): Promise<void> {
  const directory = await open(dirname(path), 'r')
  try {
    await directory.sync()
  } catch (error) {
    // Some file systems know no such thing.
    if (!isSystemError(error) || error.code !== 'EINVAL') throw error
  } finally {
    await directory.close()
  }
}

function nameBeside(path: string): string {
  return `${path}.new`
}

async function writeBeside(path: string, text: string): Promise<string> {
  const file = await open(nameBeside(path), 'w')
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  return nameBeside(path)
}
