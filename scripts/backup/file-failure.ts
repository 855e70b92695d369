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

/** SQLite's code for a disk that is full, of the copy that it writes. */
const sqliteFull = 13

/** Why a file or folder that the operator named cannot be used, as one sentence; any other error as it is. */
export const fileFailure = (path: string, error: unknown): unknown => {
  if (!(error instanceof Error)) return error
  const full = 'errcode' in error && Number(error.errcode) % 256 === sqliteFull
  const reason = full ? reasons.ENOSPC : reasons['code' in error ? String(error.code) : '']
  return reason === undefined ? error : new BackupError(`${path} cannot be used: ${reason}.`, { cause: error })
}
