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
  it('is created for its owner only, with its parents, and left empty', async () => {
    const path = join(folder(), 'a', 'b')
    await openDataFolder(path)
    expect(modeOf(path)).toBe(0o700)
    expect(readdirSync(path)).toEqual([])
    await openDataFolder(path)
  })

  it('is refused with one sentence if a part of its path is a file', async () => {
    const file = join(folder(), 'file')
    writeFileSync(file, '')
    await expect(openDataFolder(join(file, 'data'))).rejects.toThrow(
      /a part of the path is a file; name another one\.$/,
    )
    await expect(openDataFolder(file)).rejects.toThrow(/it is no folder\.$/)
  })

  // mkdir with `recursive` would never return here
  it.runIf(process.platform === 'linux')('is refused without hanging if no folder can be created', async () => {
    await expect(openDataFolder('/proc/troupe/data')).rejects.toThrow(DataFolderUnusable)
  })
})

describe('the file of the embedded store', () => {
  it('is readable by its owner only, including its log, even if it was readable for others before', async () => {
    const path = join(folder(), 'troupe.db')
    writeFileSync(path, '')
    chmodSync(path, 0o644)
    const storage = openSqliteStorage({ path })
    onTestFinished(() => storage.close())
    expect(modeOf(path)).toBe(0o600)
    expect(modeOf(`${path}-wal`)).toBe(0o600)
  })
})
