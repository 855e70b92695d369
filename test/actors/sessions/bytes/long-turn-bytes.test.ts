import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, it } from 'vitest'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { newSession, openWorld, type Script, turn } from '../harness.ts'

const folder = mkdtempSync(join(tmpdir(), 'troupe-turns-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const [tokens, everyMs, sessions] = [640, 12.5, 10]
const words = ['the', ' answer', ' of', ' a', ' model', ' in', ' words', ',']

/** An answer of 640 tokens, 80 of which come in a second. */
const scriptOf = (clock: VirtualClock): Script => ({
  text: Array.from({ length: tokens }, (_, n) => [
    new Promise<void>((resolve) => clock.after((n + 1) * everyMs, resolve)),
    words[n % words.length] ?? '',
  ]).flat(),
})

const text = Array.from({ length: tokens }, (_, n) => words[n % words.length]).join('')

/** Bytes of the used pages of a file, and of the stored log of one session. */
const sizesOf = (path: string, session?: string) => {
  const db = new DatabaseSync(path, { readOnly: true })
  const value = (sql: string, ...of: readonly string[]): number =>
    Number(Object.values(db.prepare(sql).get(...of) ?? {})[0])
  const pages = value('pragma page_count') - value('pragma freelist_count')
  const log = value('select sum(length(cast(events as blob))) from commits where actor = ?', session ?? '')
  db.close()
  return { disk: pages * 4096, log }
}

it('a turn of 640 tokens has a log of twice its text and 2 KB at its end, and thrice its text on disk', async () => {
  const path = join(folder, 'turns.db')
  const [storage, clock] = [openSqliteStorage({ path }), new VirtualClock()]
  const scripts = Array.from({ length: sessions }, () => scriptOf(clock))
  const world = await openWorld({ storage, clock, scripts })
  const ids = await Promise.all(scripts.map(() => newSession(world)))
  await storage.purge()
  const before = sizesOf(path).disk
  const turns = Promise.all(ids.map((id) => turn(world, id, { input: 'Say something.' })))
  for (let ms = 0; ms <= tokens * everyMs; ms += everyMs) await clock.advance(everyMs)
  const [events = []] = await turns
  expect(events.at(-1)?.payload.output).toBe(text)
  for (const id of ids) expect(sizesOf(path, id).log).toBeLessThanOrEqual(2 * text.length + 2048)
  expect((await storage.commits.ofActor(ids[0] ?? '', 0, 20)).length).toBeLessThanOrEqual(3)
  const log = await storage.commits.events(ids[0] ?? '', 0, 2000)
  expect(log.map(({ at: _, ...event }) => event)).toEqual(events)
  await clock.advance(60_000)
  await storage.purge()
  expect((sizesOf(path).disk - before) / sessions).toBeLessThanOrEqual(3 * text.length)
  await world.runtime.drain(0)
  await world.runtime.drain(0)
  await storage.close()
}, 60_000)
