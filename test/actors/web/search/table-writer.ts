import { webKinds } from '#actors/web/kinds.ts'
import { npmPackages } from '#scripts/services/npm-packages.ts'
import { lanceOf } from '#storage/lance/lance-package.ts'
import { withLance } from '#storage/lance/open-lance.ts'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
import { pageNode } from './page-node.ts'

/** Stores pages endlessly in the file and the folder named as arguments, and prints how many are made known. */
const [, , path = '', uri = ''] = process.argv
const require = await npmPackages('lancedb')
const packages = lanceOf(require)
const storage = await withLance(openSqliteStorage({ path }), { uri, min: 1 }, packages)
await storage.records.prepare(webKinds)
const node = pageNode(storage, { ...(storage.search && { engine: storage.search }) })
for (let n = 0; ; n += 3) {
  await node.save([n, n + 1, n + 2])
  process.stdout.write(`${n + 3}\n`)
}
