import { join } from 'node:path'
import { systemClock } from '#runtime/clock.ts'
import { npmPackages } from '#scripts/services/npm-packages.ts'
import { webKinds } from '#src/actors/web/kinds.ts'
import { PageIndexes } from '#src/actors/web/search/page-indexes.ts'
import { PageStore } from '#src/actors/web/store/page-store.ts'
import { type LancePackages, lanceOf } from '#storage/lance/lance-package.ts'
import { withLance } from '#storage/lance/open-lance.ts'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'

export const lancePackages = async (): Promise<LancePackages> => lanceOf(await npmPackages('lancedb'))

/** What a process has that stores and searches the pages of the folder. */
export const openedPages = async (folder: string, packages: LancePackages, max: number) => {
  const base = openSqliteStorage({ path: join(folder, 'pages.db') })
  const {
    records,
    blobs,
    close,
    search: engine,
  } = await withLance(base, { uri: join(folder, 'tables'), min: 1 }, packages)
  if (engine === undefined) throw new Error('no engine')
  await records.prepare(webKinds)
  const store = new PageStore(records, blobs, { now: Date.now, max })
  /** @param isPatient waits for what a crawl leaves after ten seconds. */
  const indexesOf = (isPatient: boolean): PageIndexes =>
    new PageIndexes({ store, engine, clock: isPatient ? { ...systemClock, after: () => () => {} } : systemClock })
  return { store, engine, indexesOf, close }
}

/** The packages for a process that makes no index of vectors. */
export const withoutVectorIndexes = ({ lance, arrow }: LancePackages): LancePackages => {
  type Connection = Awaited<ReturnType<typeof lance.connect>>
  type Table = Awaited<ReturnType<Connection['openTable']>>
  const bound = <T extends object>(target: T, others: Partial<T>): T =>
    new Proxy(target, {
      get: (_, name) => {
        const other: unknown = Reflect.get(others, name)
        if (other !== undefined) return other
        const value: unknown = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  const tableOf = (table: Table): Table =>
    bound(table, {
      createIndex: async (column, options) => (column === 'vector' ? undefined : table.createIndex(column, options)),
    })
  const connect: typeof lance.connect = async (...given) => {
    const connection = await lance.connect(...given)
    return bound(connection, {
      openTable: async (name) => tableOf(await connection.openTable(name)),
      createEmptyTable: async (...table) => tableOf(await connection.createEmptyTable(...table)),
    })
  }
  return { arrow, lance: { ...lance, connect } }
}
