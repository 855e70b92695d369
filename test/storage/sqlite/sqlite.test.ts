import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { NewerStore, storeVersion } from '#storage/newer-store.ts'
import { type RecordKind, StoreUnavailable } from '#storage/ports.ts'
import { projectScope, tenantScope } from '#storage/scope.ts'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
import { storageContract } from '#test/storage/contract.ts'
import { commitOf, letters, recordOf, widgets } from '#test/storage/samples.ts'

const folder = mkdtempSync(join(tmpdir(), 'troupe-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

storageContract('sqlite', (now) => openSqliteStorage({ path: join(folder, 'contract.db'), now }))

describe('the SQLite file', () => {
  it('contains every acknowledged write after a restart', async () => {
    const path = join(folder, 'new', 'restart.db')
    const first = openSqliteStorage({ path })
    await first.records.prepare([widgets])
    const commits = [commitOf('ses_1', 1), commitOf('ses_1', 2, { open: true })]
    await first.commits.append(commits)
    await first.records.insert(widgets, recordOf('wid_1'))
    await first.blobs.put('prj_1', 'hash', 'content')
    await first.close()
    const second = openSqliteStorage({ path })
    await second.records.prepare([widgets])
    expect(await second.commits.open({ limit: 10 })).toMatchObject([{ actor: 'ses_1', seq: 2 }])
    expect(await second.commits.at('ses_1', 2)).toEqual(commits[1])
    expect(await second.records.get(widgets, projectScope('prj_1'), 'wid_1')).toEqual(recordOf('wid_1'))
    expect(await second.blobs.get('prj_1', 'hash')).toBe('content')
    await second.close()
  })

  const bytesOf = (path: string): string =>
    [path, `${path}-wal`]
      .filter((file) => existsSync(file))
      .map((file) => readFileSync(file, 'latin1'))
      .join('')

  it('and its write-ahead log have nothing left of what was removed, once purged', async () => {
    const path = join(folder, 'purged.db')
    const storage = openSqliteStorage({ path })
    await storage.records.prepare([widgets])
    const secret = 'the sea is grey in winter '
    const long = secret.repeat(500)
    await storage.records.insert(widgets, { ...recordOf('wid_1'), data: { name: secret } })
    await storage.records.insert(widgets, { ...recordOf('wid_2'), data: { name: long } })
    await storage.records.replace(widgets, { ...recordOf('wid_1'), version: 2, data: { name: `another ${secret}` } })
    await storage.blobs.put('prj_1', 'hash', long)
    await storage.commits.append([commitOf('ses_1', 1, { event: { type: 'said', text: long } })])
    expect(bytesOf(path)).toContain(secret)
    for (const id of ['wid_1', 'wid_2']) await storage.records.remove(widgets, projectScope('prj_1'), id)
    await storage.blobs.remove('prj_1', 'hash')
    await storage.commits.forget('ses_1')
    expect(await storage.purge()).toBe('overwritten')
    expect(bytesOf(path)).not.toContain('the sea')
    await storage.close()
  })

  it('is purged after a removal without a call, and says while another process prevents it', async () => {
    const path = join(folder, 'read.db')
    const storage = openSqliteStorage({ path })
    await storage.records.prepare([widgets])
    await storage.records.insert(widgets, { ...recordOf('wid_1'), data: { name: 'the sea' } })
    const reader = new DatabaseSync(path)
    reader.exec('begin; select * from records_widgets')
    await storage.records.remove(widgets, projectScope('prj_1'), 'wid_1')
    expect(await storage.purge()).toBe('pending')
    expect(bytesOf(path)).toContain('the sea')
    reader.exec('rollback')
    reader.close()
    await vi.waitFor(() => expect(bytesOf(path)).not.toContain('the sea'), 30_000)
    await storage.close()
  })

  it('of a newer release is refused with one sentence and left unchanged', async () => {
    const path = join(folder, 'newer.db')
    await openSqliteStorage({ path }).close()
    const file = new DatabaseSync(path)
    expect(file.prepare('pragma user_version').get()).toEqual({ user_version: storeVersion })
    file.exec(`pragma user_version = ${storeVersion + 1}; pragma journal_mode = delete`)
    file.close()
    const before = readFileSync(path)
    expect(() => openSqliteStorage({ path })).toThrow(
      new NewerStore(
        `${path} was written by a newer release: its store version is ${storeVersion + 1}, and this release supports ${storeVersion}. Nothing was changed. Start the newer release, or restore a backup from before the upgrade.`,
      ),
    )
    expect(readFileSync(path).equals(before)).toBe(true)
    expect(existsSync(`${path}-wal`)).toBe(false)
  })

  it('of a release without store versions is accepted and gets a version', async () => {
    const path = join(folder, 'unversioned.db')
    await openSqliteStorage({ path }).close()
    const file = new DatabaseSync(path)
    file.exec('pragma user_version = 0')
    file.close()
    await openSqliteStorage({ path }).close()
    const again = new DatabaseSync(path)
    expect(again.prepare('pragma user_version').get()).toEqual({ user_version: storeVersion })
    again.close()
  })

  it('is searched for open and due commits by an index, with and without shards', async () => {
    const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare')
    const path = join(folder, 'plans.db')
    const store = openSqliteStorage({ path })
    for (const shards of [undefined, [1, 2]]) {
      const look = { limit: 10, ...(shards && { shards }) }
      await store.commits.due({ now: 2, from: 1, ...look })
      await store.commits.open({ ...look, from: { shard: 1, at: 1, seq: 1 }, until: 5 })
    }
    const texts = prepare.mock.calls.map(([text]) => text).filter((text) => /due between|open = 1/.test(text))
    prepare.mockRestore()
    const file = new DatabaseSync(path)
    const plans = texts.map((text) => JSON.stringify(file.prepare(`explain query plan ${text}`).all()))
    file.close()
    await store.close()
    expect(plans).toHaveLength(4)
    for (const plan of plans) expect(plan).toMatch(/SEARCH commits USING INDEX commits_(due|open)/)
  })

  it('supports outboxes for a kind whose table was created without them', async () => {
    const path = join(folder, 'earlier.db')
    const earlier = new DatabaseSync(path)
    earlier.exec(`create table records_letters (id text primary key, project text not null, tenant text, user text,
      version integer not null, created_at integer not null, updated_at integer not null, expires_at integer,
      data text not null)`)
    earlier.exec(`insert into records_letters values ('let_1', 'prj_1', null, null, 1, 1, 1, null, '{"a":1}')`)
    earlier.close()
    const store = openSqliteStorage({ path })
    await store.records.prepare([letters])
    const record = await store.records.get(letters, projectScope('prj_1'), 'let_1')
    expect(record?.data).toEqual({ a: 1 })
    const outbox = [{ id: 'n', to: 'act_1', event: { type: 'sent' } }]
    expect(await store.records.replace(letters, recordOf('let_1', { version: 2, outbox }))).toBe('done')
    expect(await store.records.openOutboxes(letters, null, 10)).toEqual([recordOf('let_1', { version: 2, outbox })])
    await store.close()
  })

  it('gets newly declared indexes, loses undeclared ones, and keeps the others', async () => {
    const path = join(folder, 'indexes.db')
    const prepared = async (kind: RecordKind) => {
      const store = openSqliteStorage({ path })
      await store.records.prepare([kind])
      await store.close()
      const file = new DatabaseSync(path)
      const found = file.prepare("select name, rootpage from sqlite_schema where type = 'index' and sql is not null")
      const pages = new Map(found.all().map(({ name, rootpage }) => [String(name), rootpage]))
      file.close()
      return pages
    }
    const kind = { name: 'leaves', filters: ['colour', 'size'] }
    const first = await prepared(kind)
    expect(await prepared(kind)).toEqual(first)
    const narrower = { ...kind, filters: ['size', { fields: ['size'], within: 'tenant' as const }] }
    const second = await prepared(narrower)
    expect([...first.keys()].filter((name) => !second.has(name))).toEqual(['records_leaves_filter_colour'])
    expect([...second.keys()].filter((name) => !first.has(name))).toEqual(['records_leaves_filter_tenant_size'])
    expect(second.get('records_leaves_filter_size')).toBe(first.get('records_leaves_filter_size'))
  })

  it('gets a new index in place of an outdated one of the same name', async () => {
    const path = join(folder, 'renewed.db')
    const first = openSqliteStorage({ path })
    await first.records.prepare([widgets])
    await first.records.insert(widgets, recordOf('wid_1', { tenant: 'ten_1' }))
    await first.close()
    const file = new DatabaseSync(path)
    file.exec('drop index records_widgets_by_tenant')
    file.exec('create index records_widgets_by_tenant on records_widgets (project, tenant, id)')
    file.close()
    const second = openSqliteStorage({ path })
    await second.records.prepare([widgets])
    const listed = await second.records.list(widgets, tenantScope('prj_1', 'ten_1'), { limit: 5 })
    expect(listed.map(({ id }) => id)).toEqual(['wid_1'])
    await second.close()
    const after = new DatabaseSync(path)
    const stored = after.prepare("select sql from sqlite_schema where name = 'records_widgets_by_tenant'").get()
    after.close()
    expect(String(stored?.sql)).toContain('(project, tenant, id, expires_at)')
  })

  it('completes started writes when it is closed, and is unavailable afterwards', async () => {
    const path = join(folder, 'closed.db')
    const store = openSqliteStorage({ path })
    await store.records.prepare([widgets])
    const begun = store.commits.append([commitOf('ses_1', 1)])
    await store.close()
    await store.close()
    expect(await begun).toEqual(['done'])
    expect(await store.commits.append([commitOf('ses_1', 2)])).toEqual(['unknown'])
    await expect(store.commits.head('ses_1')).rejects.toThrow(StoreUnavailable)
    await expect(store.commits.settle({ close: [], undue: [], retire: [] })).rejects.toThrow(StoreUnavailable)
    await expect(store.records.insert(widgets, recordOf('wid_1'))).rejects.toThrow(StoreUnavailable)
    await expect(store.records.list(widgets, projectScope('prj_1'), { limit: 1 })).rejects.toThrow(StoreUnavailable)
    await expect(store.blobs.get('prj_1', 'hash')).rejects.toThrow(StoreUnavailable)
    await expect(store.ping()).rejects.toThrow(StoreUnavailable)
  })

  it('has unknown outcomes while another process locks it, and works once it is free', async () => {
    const path = join(folder, 'held.db')
    const store = openSqliteStorage({ path })
    const holder = new DatabaseSync(path)
    holder.exec('begin immediate')
    expect(await store.commits.append([commitOf('ses_1', 1)])).toEqual(['unknown'])
    holder.exec('rollback')
    holder.close()
    expect(await store.commits.head('ses_1')).toBeNull()
    expect(await store.commits.append([commitOf('ses_1', 1)])).toEqual(['done'])
    await store.close()
  })

  it('is rolled back by a whole group when SQLite fails within it, and works afterwards', async () => {
    const path = join(folder, 'broken.db')
    const store = openSqliteStorage({ path })
    await store.records.prepare([widgets])
    const other = new DatabaseSync(path)
    other.exec('alter table commits rename to away')
    const inserted = store.records.insert(widgets, recordOf('wid_1'))
    const appended = store.commits.append([commitOf('ses_1', 1)])
    await expect(inserted).rejects.toThrow(StoreUnavailable)
    expect(await appended).toEqual(['unknown'])
    expect(await store.records.get(widgets, projectScope('prj_1'), 'wid_1')).toBeNull()
    other.exec('alter table away rename to commits')
    other.close()
    expect(await store.commits.append([commitOf('ses_1', 1)])).toEqual(['done'])
    await store.close()
  })

  it('is refused if its path is a folder', () => {
    expect(() => openSqliteStorage({ path: folder })).toThrow(StoreUnavailable)
  })
})
