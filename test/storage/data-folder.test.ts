import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { DataFolderUnusable, openDataFolder } from '#storage/data-folder.ts'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'

const folder = (): string => {
  const made = mkdtempSync(join(tmpdir(), 'troupe-folder-'))
  onTestFinished(() => rmSync(made, { recursive: true, force: true }))
  return made
}

const modeOf = (path: string): number => statSync(path).mode & 0o777

describe('the data folder', () => {
  it('is made for its owner only, with those above it, and is left empty', async () => {
    const path = join(folder(), 'a', 'b')
    await openDataFolder(path)
    expect(modeOf(path)).toBe(0o700)
    expect(readdirSync(path)).toEqual([])
    await openDataFolder(path)
  })

  it('is refused with one sentence where a part of its path is a file', async () => {
    const file = join(folder(), 'file')
    writeFileSync(file, '')
    await expect(openDataFolder(join(file, 'data'))).rejects.toThrow(
      /a part of the path is a file; name another one\.$/,
    )
    await expect(openDataFolder(file)).rejects.toThrow(/it is no folder\.$/)
  })

  // where mkdir with `recursive` would never come back
  it.runIf(process.platform === 'linux')('is refused, and does not hang, where no folder can be made', async () => {
    await expect(openDataFolder('/proc/troupe/data')).rejects.toThrow(DataFolderUnusable)
  })
})

describe('the file of the embedded store', () => {
  it('is readable by its owner only, with the log beside it, also when it was not before', async () => {
    const path = join(folder(), 'troupe.db')
    writeFileSync(path, '')
    chmodSync(path, 0o644)
    const storage = openSqliteStorage({ path })
    onTestFinished(() => storage.close())
    expect(modeOf(path)).toBe(0o600)
    expect(modeOf(`${path}-wal`)).toBe(0o600)
  })
})
