import { mkdir, open, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

/** The data folder cannot be used; `message` is one sentence for the operator. */
export class DataFolderUnusable extends Error {
  override readonly name = 'DataFolderUnusable'
}

/** Timeout in ms for writing a few bytes: a network share that is unavailable waits forever. */
const patienceMs = 10_000

/**
 * Creates the data folder, with mode 700, and checks that a file can be written to it.
 *
 * Folders are created one by one: Node's recursive `mkdir` never returns where the parent exists and cannot contain
 * folders, as under /proc.
 *
 * @throws {DataFolderUnusable}
 */
export const openDataFolder = async (folder: string, waitMs: number = patienceMs): Promise<void> => {
  const path = resolve(folder)
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => late.reject(new Error(`nothing was written in ${waitMs / 1000} s; is it a network share that is away?`)),
    waitMs,
  )
  try {
    await Promise.race([makeAndTry(path), late.promise])
  } catch (error) {
    throw new DataFolderUnusable(`DATA_DIR ${path} cannot be used: ${reasonOf(error)}.`, { cause: error })
  } finally {
    clearTimeout(timer)
  }
}

const makeAndTry = async (path: string): Promise<void> => {
  await makeFolder(path)
  if (!(await stat(path)).isDirectory()) throw new Error('it is no folder')
  const probe = join(path, `.probe-${process.pid}`)
  const file = await open(probe, 'w', 0o600)
  try {
    await file.write('troupe')
    await file.sync()
  } finally {
    await file.close()
    await rm(probe, { force: true })
  }
}

/** Creates a folder and its parents, level by level. */
export const makeFolder = async (path: string): Promise<void> => {
  if (await exists(path)) return
  if (dirname(path) !== path) await makeFolder(dirname(path))
  await mkdir(path, 0o700).catch((error: unknown) => {
    // another process that is starting has created it meanwhile
    if (codeOf(error) !== 'EEXIST') throw error
  })
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    (error: unknown) => {
      if (codeOf(error) === 'ENOENT') return false
      throw error
    },
  )

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write there; give it the folder, or name another one',
  EPERM: 'this user may not write there; give it the folder, or name another one',
  EROFS: 'it is on a read-only file system; name another one',
  ENOSPC: 'the disk is full; make room, or name another one',
  ENOTDIR: 'a part of the path is a file; name another one',
  ENOENT: 'no folder can be made there; name another one',
}

const reasonOf = (error: unknown): string => {
  const known = reasons[codeOf(error)]
  return known ?? (error instanceof Error ? error.message : String(error))
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '')
