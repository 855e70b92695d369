import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, it } from 'vitest'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
import { eventBytes, mergeTurns, removeTurns, writeTurns } from '#test/storage/turn-bytes.ts'

const folder = mkdtempSync(join(tmpdir(), 'troupe-bytes-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const pragma = (path: string, name: string): number => {
  const db = new DatabaseSync(path, { readOnly: true })
  const value = Object.values(db.prepare(`pragma ${name}`).get() ?? {})[0]
  db.close()
  return Number(value)
}

/** Bytes of the used pages of the file; SQLite writes new rows into the free pages. */
const used = (path: string): number =>
  (pragma(path, 'page_count') - pragma(path, 'freelist_count')) * pragma(path, 'page_size')

it('SQLite uses at most three times the bytes of its events for a merged turn, including all indexes', async () => {
  const path = join(folder, 'turns.db')
  const storage = openSqliteStorage({ path })
  await writeTurns(storage)
  const bytes = await eventBytes(storage)
  const before = used(path) / bytes
  await mergeTurns(storage)
  expect(await eventBytes(storage)).toBe(bytes)
  await storage.close()
  const after = used(path) / bytes
  expect(before).toBeGreaterThan(3)
  expect(after).toBeLessThanOrEqual(3)
})

it('SQLite writes new turns into the space of merged and removed turns', async () => {
  const path = join(folder, 'again.db')
  const storage = openSqliteStorage({ path })
  for (let round = 0; round < 3; round++) {
    await writeTurns(storage)
    await mergeTurns(storage)
    await removeTurns(storage)
  }
  await storage.close()
  const once = openSqliteStorage({ path: join(folder, 'once.db') })
  await writeTurns(once)
  await once.close()
  expect(pragma(path, 'page_count')).toBeLessThan(1.2 * pragma(join(folder, 'once.db'), 'page_count'))
})
