import { expect, it } from 'vitest'
import { fileFailure } from '#scripts/backup/file-failure.ts'

it.for([
  ['ENOSPC', 'the disk is full'],
  ['EROFS', 'it is on a read-only file system'],
] as const)('a %s error of a file is reported in one sentence with its path', ([code, reason]) => {
  const failed = fileFailure('/backups/a', Object.assign(new Error('write'), { code }))
  expect(failed).toMatchObject({ name: 'BackupError', message: `/backups/a cannot be used: ${reason}.` })
})

it("SQLite's full-disk error is reported for the copy", () => {
  const full = Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 })
  expect(fileFailure('/backups/a', full)).toMatchObject({ message: '/backups/a cannot be used: the disk is full.' })
})

it('other errors of the store are unchanged', () => {
  const damaged = Object.assign(new Error('malformed'), { code: 'ERR_SQLITE_ERROR', errcode: 11 })
  expect(fileFailure('/backups/a', damaged)).toBe(damaged)
})
