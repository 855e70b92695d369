import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
import { listStatement } from '#storage/sqlite/records.ts'
import { filteredKinds, listsOf } from '../declared-lists.ts'

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
