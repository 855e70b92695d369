import type { Storage } from '#storage/ports.ts'
import { blobPrefix } from '#storage/record-keys.ts'
import { MemoryCommits } from './commits.ts'
import { MemoryLeases } from './leases.ts'
import { MemoryRecords } from './records.ts'

/**
 * Opens a store in memory for pure tests. It fulfils the whole contract except durability.
 *
 * @param options.now clock in ms since the epoch, for the expiry of records and leases.
 */
export const openMemoryStorage = ({ now = Date.now }: { readonly now?: () => number } = {}): Storage => {
  const blobs = new Map<string, string>()
  return {
    name: 'memory',
    commits: new MemoryCommits(),
    records: new MemoryRecords(now),
    leases: new MemoryLeases(now),
    vectors: null,
    blobs: {
      put: async (project, hash, content) => void blobs.set(`${project}:${hash}`, content),
      get: async (project, hash) => blobs.get(`${project}:${hash}`) ?? null,
      hashes: async (project, after, limit) =>
        [...blobs.keys()]
          .filter((key) => key.startsWith(`${project}:`))
          .map((key) => key.slice(project.length + 1))
          .filter((hash) => after === null || hash > after)
          .sort()
          .slice(0, limit),
      remove: async (project, prefix) => {
        const start = `${project}:${blobPrefix(prefix)}`
        for (const key of blobs.keys()) if (key.startsWith(start)) blobs.delete(key)
      },
    },
    ping: async () => {},
    purge: async () => 'overwritten',
    close: async () => {},
  }
}
