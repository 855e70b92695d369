import { BackupError } from '#actors/backup/backup-error.ts'

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not use it',
  EPERM: 'this user may not use it',
  EDQUOT: 'the disk is full',
  EISDIR: 'it is a folder',
  ENAMETOOLONG: 'its name is too long',
  ENOENT: 'there is no such folder',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is a file',
  EROFS: 'it is on a read-only file system',
}

/** SQLite's error code for a full disk, when it writes the copy. */
const sqliteFull = 13

/**
 * Converts an error about a path that the operator named into a `BackupError` with the reason in one sentence; returns
 * any other error unchanged.
 */
export const fileFailure = (path: string, error: unknown): unknown => {
  if (!(error instanceof Error)) return error
  const full = 'errcode' in error && Number(error.errcode) % 256 === sqliteFull
  const reason = full ? reasons.ENOSPC : reasons['code' in error ? String(error.code) : '']
  return reason === undefined ? error : new BackupError(`${path} cannot be used: ${reason}.`, { cause: error })
}
