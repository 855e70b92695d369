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
  const blobs = new Map<string, string | Uint8Array>()
  return {
    name: 'memory',
    commits: new MemoryCommits(),
    records: new MemoryRecords(now),
    leases: new MemoryLeases(now),
    vectors: null,
    blobs: {
      put: async (project, hash, content) =>
        void blobs.set(`${project}:${hash}`, typeof content === 'string' ? content : content.slice()),
      get: async (project, hash) => {
        const content = blobs.get(`${project}:${hash}`) ?? null
        return content instanceof Uint8Array ? Buffer.from(content).toString() : content
      },
      bytes: async (project, hash) => {
        const content = blobs.get(`${project}:${hash}`)
        return content === undefined ? null : Buffer.from(content)
      },
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
