import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, it } from 'vitest'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { newSession, openWorld, type Script, turn } from '../harness.ts'

const folder = mkdtempSync(join(tmpdir(), 'troupe-turns-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const [everyMs, sessions] = [12.5, 10]
const words = ['the', ' answer', ' of', ' a', ' model', ' in', ' words', ',']

/** An answer of so many tokens, 80 of which come in a second. */
const scriptOf = (clock: VirtualClock, tokens: number): Script => ({
  text: Array.from({ length: tokens }, (_, n) => [
    new Promise<void>((resolve) => clock.after((n + 1) * everyMs, resolve)),
    words[n % words.length] ?? '',
  ]).flat(),
})

/** Sessions in an SQLite file, each of which begins a turn of so many tokens; `streamed` resolves at the end of all. */
const begun = async (name: string, tokens: number) => {
  const path = join(folder, name)
  const [storage, clock] = [openSqliteStorage({ path }), new VirtualClock()]
  const scripts = Array.from({ length: sessions }, () => scriptOf(clock, tokens))
  const world = await openWorld({ storage, clock, scripts })
  await storage.purge()
  const ids = await Promise.all(scripts.map(() => newSession(world)))
  const created = async () => {
    await clock.advance(2000)
    await storage.purge()
    return sizesOf(path).disk
  }
  const streamed = async () => {
    const turns = Promise.all(ids.map((id) => turn(world, id, { input: 'Say something.' })))
    for (let ms = 0; ms <= tokens * everyMs; ms += everyMs) await clock.advance(everyMs)
    return turns
  }
  const close = async () => {
    await world.runtime.drain(0)
    await storage.close()
  }
  return { path, storage, clock, world, ids, created, streamed, close }
}

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
  const { path, storage, clock, ids, created, streamed, close } = await begun('turns.db', 640)
  const text = Array.from({ length: 640 }, (_, n) => words[n % words.length]).join('')
  const before = await created()
  const [events = []] = await streamed()
  expect(events.at(-1)?.payload.output).toBe(text)
  for (const id of ids) expect(sizesOf(path, id).log).toBeLessThanOrEqual(2 * text.length + 2048)
  expect((await storage.commits.ofActor(ids[0] ?? '', 0, 20)).length).toBeLessThanOrEqual(3)
  const log = await storage.commits.events(ids[0] ?? '', 0, 2000)
  expect(log.map(({ at: _, ...event }) => event)).toEqual(events)
  await clock.advance(60_000)
  await storage.purge()
  expect((sizesOf(path).disk - before) / sessions).toBeLessThanOrEqual(3 * text.length)
  await close()
}, 60_000)

it.each([
  { tokens: 320, commits: 8, kb: 145 },
  { tokens: 20, commits: 4, kb: 58 },
])(
  'a session with a turn of $tokens tokens makes at most $commits commits, and writes $kb KB if none shares a page',
  async ({ tokens, commits, kb }) => {
    const { path, clock, world, streamed, close } = await begun(`written-${tokens}.db`, tokens)
    await streamed()
    await clock.advance(10_000)
    expect(world.runtime.host.committed / sessions).toBeLessThanOrEqual(commits)
    // each write of a page is one more frame of the log, until a checkpoint of 16 MB; time stands still between commits
    expect(statSync(`${path}-wal`).size / sessions / 1024).toBeLessThanOrEqual(kb)
    await close()
  },
  60_000,
)
