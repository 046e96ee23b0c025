/** Changes in a directory that a power cut cannot take back. */

import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isSystemError } from './failure.ts'

/** Whoever reads the file finds the old text or the new one, never a part of either. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const beside = `${path}.new`
  await writeSynced(beside, text, 'w')
  await rename(beside, path)
}

/** Fails with EEXIST where there is one already. */
export async function createFile(path: string, text: string): Promise<void> {
  await writeSynced(path, text, 'wx')
}

export async function removeFile(path: string): Promise<void> {
  await rm(`${path}.new`, { force: true })
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

async function writeSynced(path: string, text: string, flags: string): Promise<void> {
  const file = await open(path, flags)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}
