import type { Storage } from '#storage/ports.ts'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'

/**
 * Opens a store that ends with the process, for tests and trials.
 *
 * @example
 * const system = await open({ storage: openMemoryStorage(), machines: [order] })
 */
export const openMemoryStorage = (options: { readonly now?: () => number } = {}): Storage => ({
  ...openSqliteStorage({ ...options, path: ':memory:' }),
  name: 'memory',
})
