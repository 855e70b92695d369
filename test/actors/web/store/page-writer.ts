import { webKinds } from '#actors/web/kinds.ts'
import { PageStore } from '#actors/web/store/page-store.ts'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
import { madePage, urlOf } from './made-pages.ts'

/** Stores pages endlessly in the file named as argument, and prints how many are in segments. */
const [, , path = ''] = process.argv
const { records, blobs } = openSqliteStorage({ path })
await records.prepare(webKinds)
const store = new PageStore(records, blobs, { now: Date.now })
for (let n = 0; ; n += 3) {
  for (const page of [n, n + 1, n + 2]) await store.save('prj_a', urlOf(page), madePage(page))
  await store.changed('prj_a')
  process.stdout.write(`${n + 3}\n`)
}
