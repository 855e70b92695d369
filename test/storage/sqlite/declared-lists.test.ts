import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import type { RecordKind } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { kindIndexes, kindTable } from '#storage/sqlite/kind-table.ts'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
import { listStatement } from '#storage/sqlite/records.ts'
import { filteredKinds, listsOf } from '../contract/declared-lists.ts'

const leaves: RecordKind = { name: 'leaves', filters: ['colour'] }

it('on SQLite, every list that a kind declares is read by its index, in order', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-lists-'))
  const path = join(folder, 'lists.db')
  const store = openSqliteStorage({ path })
  await store.records.prepare(filteredKinds)
  await store.close()
  const file = new DatabaseSync(path)
  for (const kind of filteredKinds) {
    for (const { scope, where } of listsOf(kind)) {
      for (const after of [undefined, 'row_1']) {
        const { sql, values } = listStatement(kind, scope, {
          query: { where, limit: 5, ...(after !== undefined && { after }) },
          now: 1,
        })
        const plan = file.prepare(`explain query plan ${sql}`).all(...values)
        const steps = plan.map(({ detail }) => String(detail))
        expect(steps, `${kind.name} ${JSON.stringify(where)}`).toHaveLength(1)
        // each condition is a part of the key: `project=? AND <expr>=? AND id<?`
        const keys = 1 + (scope.tenant === null ? 0 : 1) + (scope.user === null ? 0 : 1) + Object.keys(where).length
        expect(steps[0]?.match(/=\?/g)?.length, steps[0]).toBe(keys)
        expect(steps[0]).toMatch(/^SEARCH .* USING INDEX /)
      }
    }
  }
  file.close()
  rmSync(folder, { recursive: true })
})

it('stores tables and indexes in exactly the text that declares them, by which a start knows that nothing is missing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-lists-'))
  const path = join(folder, 'declared.db')
  const store = openSqliteStorage({ path })
  await store.records.prepare(filteredKinds)
  await store.close()
  const file = new DatabaseSync(path)
  const found = file.prepare("select sql from sqlite_schema where tbl_name like 'records_%' and sql is not null").all()
  file.close()
  rmSync(folder, { recursive: true })
  const declared = filteredKinds.flatMap((kind) => [kindTable(kind), ...kindIndexes(kind).values()])
  expect(found.map(({ sql }) => String(sql)).toSorted()).toEqual(declared.toSorted())
})

it('lists the rows of a release that keeps no columns of indexed fields, also after it has run again', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-lists-'))
  const path = join(folder, 'earlier.db')
  const listed = async (colour: string) => {
    const store = openSqliteStorage({ path })
    await store.records.prepare([leaves])
    const rows = await store.records.list(leaves, projectScope('prj_1'), { where: { colour }, limit: 5 })
    await store.close()
    return rows.map(({ id }) => id)
  }
  const written = (statements: string) => {
    const file = new DatabaseSync(path)
    file.exec(statements)
    file.close()
  }
  written(`create table records_leaves (id text primary key, project text not null, tenant text, user text,
      version integer not null, created_at integer not null, updated_at integer not null, expires_at integer,
      data text not null, outbox text);
    create index records_leaves_filter_colour on records_leaves (project, nullif(data -> '$."colour"', 'null'), id, expires_at);
    insert into records_leaves values ('l_1', 'prj_1', null, null, 1, 1, 1, null, '{"colour":"red"}', null)`)
  expect(await listed('red')).toEqual(['l_1'])
  written(`drop index records_leaves_filter_colour;
    update records_leaves set data = '{"colour":"blue"}';
    insert into records_leaves (id, project, version, created_at, updated_at, data)
      values ('l_2', 'prj_1', 1, 1, 1, '{"colour":"blue"}')`)
  expect([await listed('red'), await listed('blue')]).toEqual([[], ['l_2', 'l_1']])
  rmSync(folder, { recursive: true })
})

it('on SQLite, many rows are counted in several turns of the loop, with conditions and without', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-counts-'))
  const path = join(folder, 'counts.db')
  const store = openSqliteStorage({ path })
  await store.records.prepare([leaves])
  const file = new DatabaseSync(path)
  const numbers = 'with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < 60000)'
  const columns = '(id, project, version, created_at, updated_at, data, key_colour)'
  file.exec(`insert into records_leaves ${columns} ${numbers}
    select 'lea_' || n, 'prj_a', 1, 1, 1, '{}', case when n % 10 = 0 then '"red"' end from numbers`)
  file.close()
  let turns = 0
  let isDone = false
  const turn = () => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  expect(await store.records.count(leaves, projectScope('prj_a'))).toBe(60_000)
  isDone = true
  expect(turns).toBeGreaterThan(0)
  expect(await store.records.count(leaves, projectScope('prj_a'), { colour: 'red' })).toBe(6_000)
  expect(await store.records.count(leaves, projectScope('prj_b'))).toBe(0)
  await store.close()
  rmSync(folder, { recursive: true })
})
