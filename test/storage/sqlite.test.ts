import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { projectScope } from '../../specs/scope.ts'
import { StoreUnavailable } from '../../src/storage/ports.ts'
import { openSqliteStorage } from '../../src/storage/sqlite/open-sqlite-storage.ts'
import { storageContract } from './contract.ts'
import { commitOf, letters, recordOf, widgets } from './samples.ts'

const folder = mkdtempSync(join(tmpdir(), 'troupe-sqlite-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

storageContract('sqlite', (now) => openSqliteStorage({ path: join(folder, 'contract.db'), now }))

describe('the sqlite file', () => {
  it('holds after a restart all that was acknowledged', async () => {
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
    expect(await second.commits.open(10)).toEqual([commits[1]])
    expect(await second.records.get(widgets, projectScope('prj_1'), 'wid_1')).toEqual(recordOf('wid_1'))
    expect(await second.blobs.get('prj_1', 'hash')).toBe('content')
    await second.close()
  })

  it('takes messages of a kind whose table was made before there were any', async () => {
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

  it('writes what was begun when it is closed, and is unavailable from then on', async () => {
    const path = join(folder, 'closed.db')
    const store = openSqliteStorage({ path })
    await store.records.prepare([widgets])
    const begun = store.commits.append([commitOf('ses_1', 1)])
    await store.close()
    await store.close()
    expect(await begun).toEqual(['done'])
    expect(await store.commits.append([commitOf('ses_1', 2)])).toEqual(['unknown'])
    await expect(store.commits.head('ses_1')).rejects.toThrow(StoreUnavailable)
    await expect(store.commits.settle({ close: [], undue: [], strip: [] })).rejects.toThrow(StoreUnavailable)
    await expect(store.records.insert(widgets, recordOf('wid_1'))).rejects.toThrow(StoreUnavailable)
    await expect(store.records.list(widgets, projectScope('prj_1'), { limit: 1 })).rejects.toThrow(StoreUnavailable)
    await expect(store.blobs.get('prj_1', 'hash')).rejects.toThrow(StoreUnavailable)
    await expect(store.ping()).rejects.toThrow(StoreUnavailable)
  })

  it('says unknown while another process holds the file, and goes on when it is free', async () => {
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

  it('takes a whole group back when SQLite fails in the middle of it, and goes on afterwards', async () => {
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

  it('refuses a file that is no database', () => {
    expect(() => openSqliteStorage({ path: folder })).toThrow(StoreUnavailable)
  })
})
