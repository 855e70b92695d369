import type { Storage } from '../ports.ts'
import { blobPrefix } from '../record-keys.ts'
import { VectorsUnusable } from '../search/vector-port.ts'
import { loadLance } from './lance-package.ts'
import { LanceSearch } from './lance-search.ts'
import { LanceTables, lanceReason } from './lance-tables.ts'
import { type LanceSettings, LanceVectors } from './lance-vectors.ts'

/**
 * Returns the store with the vectors of large bases in LanceDB instead of its own, and with candidates of pages there.
 *
 * @throws {VectorsUnusable} when LanceDB is not installed, or cannot use the folder or bucket.
 */
export const withLance = async (
  storage: Storage,
  { uri, min }: LanceSettings,
  packages = loadLance(),
): Promise<Storage> => {
  const tables = await LanceTables.at(packages, uri).catch((error: Error) => {
    const reason = lanceReason(error.cause).replace(/\.$/, '')
    throw new VectorsUnusable(`LANCEDB_URI must be a folder or a bucket that can be read and written: ${reason}.`, {
      cause: error,
    })
  })
  const vectors = new LanceVectors(tables, min)
  const { blobs } = storage
  return {
    ...storage,
    vectors,
    search: new LanceSearch(tables, min),
    blobs: {
      put: (project, hash, content) => blobs.put(project, hash, content),
      get: (project, hash) => blobs.get(project, hash),
      bytes: (project, hash) => blobs.bytes(project, hash),
      hashes: (project, after, limit) => blobs.hashes(project, after, limit),
      remove: async (project, prefix) => {
        // before the blobs: an interrupted removal is repeated for blobs that still exist
        await vectors.removeBlobs(project, blobPrefix(prefix))
        await blobs.remove(project, prefix)
      },
    },
    close: async () => {
      await tables.close()
      await storage.close()
    },
  }
}
