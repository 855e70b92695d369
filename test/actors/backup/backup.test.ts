import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { projects } from '#actors/accounts/kinds.ts'
import { exportProject, inventoryOf } from '#actors/backup/export-project.ts'
import { kinds } from '#actors/capabilities.ts'
import { RetentionSettings } from '#actors/retention/retention-settings.ts'
import { ProjectEraser } from '#actors/tenants/project-eraser.ts'
import { type Storage, StoreUnavailable } from '#storage/ports.ts'
import { wholeProjectScope } from '#storage/scope.ts'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { approve, calls, functionTool, pausedTurn, statusOf } from '../sessions/approving.ts'
import { callOf, newSession, openWorld, turn, typesOf, type World } from '../sessions/harness.ts'
import { addProject, exported, imported, openPlace, type Place, project, thingsIn } from './moving.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

const open = async (options: Parameters<typeof openWorld>[0]): Promise<World> => {
  const world = await openWorld(options)
  await world.host.recovery.over()
  closing.push(() => world.runtime.drain(0))
  return world
}

const sqlite = (): Storage => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-backup-'))
  const storage = openSqliteStorage({ path: join(folder, 'troupe.db') })
  closing.push(
    () => rmSync(folder, { recursive: true }),
    () => storage.close(),
  )
  return storage
}

const approvalTool = [functionTool('confirm', true)]

/** A project with a session after a turn, one that waits for an approval, and one with a value in a separate blob. */
const livedIn = async (place: Place) => {
  const key = await addProject(place)
  const scripts = [{ text: ['Hello ', '\u2028 world'] }, calls('confirm'), { text: ['x'.repeat(70_000)] }]
  const world = await openWorld({ storage: place.storage, scripts })
  const [plain, paused, large] = [await newSession(world), await newSession(world), await newSession(world)]
  await turn(world, plain, { input: 'hi' })
  const { waiting } = await pausedTurn(world, paused, { input: 'go', tools: approvalTool })
  await turn(world, large, { input: 'y'.repeat(80_000) })
  await world.runtime.drain(0)
  return { key, sessions: [plain, paused, large] as const, paused, action: waiting.confirm ?? '' }
}

const logOf = async ({ storage }: Place, session: string): Promise<string> =>
  JSON.stringify(await storage.commits.events(session, 0, 1000))

describe('a project that is moved', () => {
  it.each([
    ['memory to SQLite', openMemoryStorage, sqlite],
    ['SQLite to memory', sqlite, openMemoryStorage],
  ])('from %s has the same logs byte for byte, and its paused session can be approved', async (_, from, to) => {
    const here = await openPlace(from())
    const { sessions, paused, action } = await livedIn(here)
    const there = await openPlace(to())
    const { file, report } = await exported(here)
    expect(await imported(there, file)).toEqual({ project, inventory: report.inventory, missing: [], before: false })
    for (const session of sessions) expect(await logOf(there, session)).toBe(await logOf(here, session))
    const world = await open({ storage: there.storage, scripts: [{ text: ['done'] }] })
    expect(await statusOf(world, paused)).toBe('paused')
    expect(typesOf(await approve(world, paused, action))).toEqual([
      'turn.resumed',
      'output_text.delta',
      'turn.completed',
    ])
    const page = callOf({}, { page: 1, limit: 10 } as const, undefined)
    expect((await world.useCases['sessions.list'](page)).data.map(({ id }) => id)).toEqual(sessions.toReversed())
  })

  it('is the same after it is moved again', async () => {
    const places = [await openPlace(), await openPlace(sqlite()), await openPlace()] as const
    await livedIn(places[0])
    await imported(places[1], (await exported(places[0])).file)
    await imported(places[2], (await exported(places[1])).file)
    const [first, ...others] = await Promise.all(places.map((place) => inventoryOf({ ...place, kinds, project })))
    expect(first?.commits.count).toBeGreaterThan(8)
    expect(first?.blobs.count).toBeGreaterThan(0)
    for (const other of others) expect(other).toEqual(first)
  })

  it('continues in every installation, although each counts its starts separately', async () => {
    let here = await openPlace()
    const { sessions, paused, action } = await livedIn(here)
    for (let moves = 0; moves < 3; moves++) {
      const there = await openPlace()
      await imported(there, (await exported(here)).file)
      const world = await openWorld({ storage: there.storage, scripts: [{ text: ['more'] }] })
      expect(typesOf(await turn(world, sessions[0], { input: 'again' })).at(-1)).toBe('turn.completed')
      expect(await statusOf(world, paused)).toBe('paused')
      await world.runtime.drain(0)
      here = there
    }
    const world = await open({ storage: here.storage, scripts: [{ text: ['done'] }] })
    expect(typesOf(await approve(world, paused, action)).at(-1)).toBe('turn.completed')
  })

  it('keeps its retention settings', async () => {
    const [here, there] = [await openPlace(), await openPlace(sqlite())]
    await addProject(here)
    const days = { sessions_days: 30, runs_days: 7, actions_days: null }
    const settings = new RetentionSettings(here.storage.records, Date.now)
    await settings.change(project, callOf({}, {}, undefined), (data) => ({ ...data, ...days }))
    await settings.change('prj_other', callOf({}, {}, undefined), (data) => ({ ...data, ...days, runs_days: 1 }))
    await imported(there, (await exported(here)).file)
    const moved = new RetentionSettings(there.storage.records, Date.now)
    expect((await moved.read(project)).data).toMatchObject(days)
    expect(await moved.row('prj_other')).toBeNull()
  })

  it('can be imported again after it was deleted there, and all of it stays', async () => {
    const [here, there] = [await openPlace(), await openPlace()]
    const { sessions } = await livedIn(here)
    const { file, report } = await exported(here)
    await imported(there, file)
    const clock = new VirtualClock()
    const before = await openWorld({ storage: there.storage, clock })
    const eraser = new ProjectEraser({ ...there, host: before.host, clock, kinds, actorRows: [] })
    while (Object.keys(await eraser.erase(project)).length > 0) await clock.advance(100)
    await there.storage.records.clear(projects, wholeProjectScope('org_2'), 10)
    await before.runtime.drain(0)
    expect(await thingsIn(there)).toBe(0)
    expect(await imported(there, file)).toEqual({ project, inventory: report.inventory, missing: [], before: false })
    const later = new VirtualClock()
    const world = await open({ storage: there.storage, clock: later })
    await later.advance(60_000)
    for (const session of sessions) expect(await logOf(there, session)).toBe(await logOf(here, session))
    expect(await statusOf(world, sessions[1])).toBe('paused')
  })

  it('joins the organization of the new installation, and its secret keys work under the same master key', async () => {
    const [here, there] = [await openPlace(), await openPlace()]
    const key = await addProject(here)
    await imported(there, (await exported(here)).file)
    expect(await there.auth.projects.settings(project)).toMatchObject({ organization: 'org_2', name: 'Shop' })
    expect(await there.auth.apiKeys.verify(key)).toMatchObject({ project })
    expect(await there.auth.projects.signingSecrets(project)).toEqual(await here.auth.projects.signingSecrets(project))
  })

  it('has its open work resumed at the next start, whatever the number of starts of its old installation', async () => {
    const [first, here, there] = [await openPlace(), await openPlace(), await openPlace()]
    const world = await openWorld({ storage: first.storage, scripts: [calls('confirm')] })
    const session = await newSession(world)
    const { waiting } = await pausedTurn(world, session, { input: 'go', tools: approvalTool })
    await world.runtime.drain(0)
    // the state after a crash: the session has requested the action, which does not exist yet
    await addProject(here)
    for (const commit of await first.storage.commits.ofProject(project, null, 100)) {
      if (commit.actor === session) await here.storage.commits.append([{ ...commit, epoch: 9, open: true }])
    }
    await imported(there, (await exported(here)).file)
    const next = await open({ storage: there.storage, scripts: [{ text: ['done'] }] })
    expect((await there.storage.commits.head(waiting.confirm ?? ''))?.seq).toBe(1)
    expect(typesOf(await approve(next, session, waiting.confirm ?? '')).at(-1)).toBe('turn.completed')
  })

  it('has sessions that expire at their original time', async () => {
    const clock = new VirtualClock(Date.now())
    const [here, there] = [await openPlace(), await openPlace()]
    await addProject(here)
    const world = await openWorld({ storage: here.storage, clock })
    const session = await newSession(world)
    await world.runtime.drain(0)
    await imported(there, (await exported(here)).file)
    const next = await open({ storage: there.storage, clock })
    await clock.leap(7 * 24 * 60 * 60 * 1000 + 1000)
    expect(await statusOf(next, session)).toBe('completed')
  })
})

describe('an export', () => {
  it('contains nothing of other projects', async () => {
    const here = await openPlace()
    await livedIn(here)
    await here.storage.blobs.put('prj_b', 'a'.repeat(64), 'theirs')
    const [commit] = await here.storage.commits.ofProject(project, null, 1)
    if (commit === undefined) throw new Error('no commit')
    await here.storage.commits.append([{ ...commit, actor: 'ses_theirs', project: 'prj_b' }])
    const { file } = await exported(here)
    expect(file).not.toContain('theirs')
    expect(file).not.toContain('prj_b')
  })

  it('fails if the project changes while it is read', async () => {
    const here = await openPlace()
    const { sessions } = await livedIn(here)
    let lines = 0
    const changing = exportProject({ ...here, kinds, project, now: Date.now }, async () => {
      if (++lines !== 5) return
      const head = await here.storage.commits.head(sessions[0])
      if (head !== null)
        await here.storage.commits.append([{ ...head, seq: head.seq + 1, cause: 'late', nonce: 'late' }])
    })
    await expect(changing).rejects.toThrow(/changed while it was read: commits/)
  })

  it('reads little further than it has written', async () => {
    const here = await openPlace()
    await livedIn(here)
    const [commit] = await here.storage.commits.ofProject(project, null, 1)
    if (commit === undefined) throw new Error('no commit')
    const many = Array.from({ length: 350 }, (_, i) => ({ ...commit, actor: 'ses_z', seq: i + 1, cause: `${i}` }))
    await here.storage.commits.append(many)
    let [pages, lines, max] = [0, 0, 0]
    const commits = wrapped(here.storage.commits, {
      ofProject: (...args) => {
        pages++
        return here.storage.commits.ofProject(...args)
      },
    })
    await exportProject(
      { ...here, storage: { ...here.storage, commits }, kinds, project, now: Date.now },
      async (text) => {
        if (!text.startsWith('{"type":"commit"')) return
        lines++
        max = Math.max(max, pages * 100 - lines)
      },
    )
    expect(pages).toBeGreaterThan(8)
    expect(max).toBeLessThan(400 / 2)
  })

  it('refuses an unknown project', async () => {
    await expect(exported(await openPlace())).rejects.toThrow('There is no project prj_a')
  })
})

describe('an import', () => {
  it('detects a file that is truncated anywhere, and writes nothing of it', async () => {
    const here = await openPlace()
    await livedIn(here)
    const { file } = await exported(here)
    const lines = file.split('\n')
    const there = await openPlace()
    for (let count = 0; count < lines.length - 1; count++) {
      const whole = lines.slice(0, count).map((line) => `${line}\n`)
      await expect(imported(there, whole.join(''))).rejects.toThrow(/truncated|empty/)
      await expect(imported(there, whole.join('') + (lines[count] ?? '').slice(0, 30))).rejects.toThrow(
        /truncated|empty/,
      )
    }
    expect(await thingsIn(there)).toBe(0)
  })

  it.each([
    ['with another text', (file: string) => file.replace('Hello', 'HELLO'), 'its hash does not match'],
    ['without a line', (file: string) => file.replace(/\{"type":"commit".*\n/, ''), 'its hash does not match'],
    ['with something behind its end', (file: string) => `${file}{}\n`, 'content after its end'],
    ['with another blob', (file: string) => file.replace('yyyy', 'yyyz'), 'a blob that does not belong'],
    ['of a later format', (file: string) => file.replace('troupe-project/1', 'troupe-project/9'), 'this release reads'],
    ['whose header names no format', () => '{"type":"header"}\n', 'this release reads'],
    ['that is a picture', () => 'PNG\n', 'not JSON'],
  ])('refuses a file %s, and writes nothing of it', async (_, change, why) => {
    const here = await openPlace()
    await livedIn(here)
    const there = await openPlace()
    await expect(imported(there, change((await exported(here)).file))).rejects.toThrow(why)
    expect(await thingsIn(there)).toBe(0)
  })

  it('refuses a project that already exists, and leaves it unchanged', async () => {
    const [here, there] = [await openPlace(), await openPlace()]
    await livedIn(here)
    await addProject(there, 'org_2')
    const before = await thingsIn(there)
    await expect(imported(there, (await exported(here)).file)).rejects.toThrow('already has a project prj_a')
    expect(await thingsIn(there)).toBe(before)
  })

  it('refuses kinds of records that this release does not know, and writes nothing', async () => {
    const [here, there] = [await openPlace(), await openPlace()]
    await livedIn(here)
    const known = kinds.filter(({ name }) => name !== 'sessions')
    await expect(imported(there, (await exported(here)).file, { kinds: known })).rejects.toThrow(
      'The file has sessions,',
    )
    expect(await thingsIn(there)).toBe(0)
  })

  it('continues after a failure at any write, and ends with the whole project', async () => {
    const here = await openPlace()
    await livedIn(here)
    const { file, report } = await exported(here)
    for (let writes = 0; ; writes++) {
      const storage = openMemoryStorage()
      const broken = await openPlace(failingAfter(storage, writes))
      const done = await imported(broken, file, { pause }).then(
        () => true,
        () => false,
      )
      const there = await openPlace(storage)
      expect((await imported(there, file)).before).toBe(done)
      expect(await inventoryOf({ ...there, kinds, project })).toEqual(report.inventory)
      if (done) break
      expect(writes).toBeLessThan(60)
    }
  })

  it('does nothing the second time, even if the project has changed since', async () => {
    const [here, there] = [await openPlace(), await openPlace()]
    const { sessions } = await livedIn(here)
    const { file } = await exported(here)
    await imported(there, file)
    const world = await open({ storage: there.storage, scripts: [{ text: ['more'] }] })
    await turn(world, sessions[0], { input: 'again' })
    const before = await thingsIn(there)
    expect(await imported(there, file)).toMatchObject({ before: true })
    expect(await thingsIn(there)).toBe(before)
  })

  it('refuses another file of a project that it has imported', async () => {
    const [here, there] = [await openPlace(), await openPlace()]
    await livedIn(here)
    await imported(there, (await exported(here)).file)
    const later = { ...here, secrets: { ...here.secrets, passphrase: 'a passphrase of mine' } }
    const { file } = await exported(later)
    await expect(
      imported({ ...there, secrets: { ...there.secrets, passphrase: 'a passphrase of mine' } }, file),
    ).rejects.toThrow('already has a project prj_a')
  })

  it('detects another item in the place of a commit', async () => {
    const [here, there] = [await openPlace(), await openPlace()]
    const { sessions } = await livedIn(here)
    const head = await here.storage.commits.at(sessions[1], 2)
    if (head === null) throw new Error('no commit')
    await there.storage.commits.append([{ ...head, project: 'prj_b', nonce: 'other' }])
    await expect(imported(there, (await exported(here)).file)).rejects.toThrow('already has another item')
  })

  it('accepts no key of the project before everything is imported', async () => {
    const here = await openPlace()
    const { file, key } = { ...(await livedIn(here)), ...(await exported(here)) }
    for (let writes = 1; writes < 60; writes++) {
      const storage = openMemoryStorage()
      await imported(await openPlace(failingAfter(storage, writes)), file, { pause }).catch(() => {})
      const there = await openPlace(storage)
      if ((await there.auth.apiKeys.verify(key)) === null) continue
      const { records, ...rest } = await inventoryOf({ ...there, kinds, project })
      const { records: all, ...wanted } = await inventoryOf({ ...here, kinds, project })
      expect(rest).toEqual(wanted)
      expect(records).toMatchObject({ sessions: all.sessions, actions: all.actions })
      return
    }
    expect.unreachable()
  })
})

const pause = async (): Promise<void> => {}

/** A store that accepts `writes` writes and then none. */
const failingAfter = (storage: Storage, writes: number): Storage => {
  let left = writes
  const counted = <Args extends readonly unknown[], T>(write: (...args: Args) => Promise<T>) => {
    return async (...args: Args): Promise<T> => {
      if (left-- <= 0) throw new StoreUnavailable('away')
      return write(...args)
    }
  }
  const { commits, records, blobs } = storage
  const append = counted(commits.append.bind(commits))
  return {
    ...storage,
    commits: wrapped(commits, {
      append: (each) => append(each).catch(() => each.map(() => 'unknown' as const)),
    }),
    records: wrapped(records, {
      insert: counted(records.insert.bind(records)),
      replace: counted(records.replace.bind(records)),
    }),
    blobs: wrapped(blobs, { put: counted(blobs.put) }),
  }
}

/** `target` with some of its methods replaced. */
const wrapped = <T extends object>(target: T, instead: Partial<T>): T =>
  new Proxy(target, {
    get: (_, name) => {
      if (name in instead) return Reflect.get(instead, name)
      const method: unknown = Reflect.get(target, name)
      return typeof method === 'function' ? method.bind(target) : method
    },
  })
