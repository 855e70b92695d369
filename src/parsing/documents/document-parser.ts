import { FairSemaphore } from '#src/concurrency/fair-semaphore.ts'
import { ownerPath, type ParseOwner } from '../parse-owner.ts'
import { type ParserLimits, ParserPool } from '../parser-pool.ts'
import type { documentTasks } from './document-tasks.ts'

/** Limits for documents, which take longer to read than audio headers. */
const documentLimits: ParserLimits = {
  deadlineMs: 20_000,
  maxHeapMb: 2048,
  maxWaiting: 64,
  maxGrowthMb: 768,
  slowMs: 1_000,
}

/** Opens a pool that reads documents, one at a time, and two while one of them is slow. */
export const openDocumentParser = (limits: Partial<ParserLimits> = {}): ParserPool<typeof documentTasks> =>
  new ParserPool({ ...documentLimits, ...limits }, new URL('./document-worker.ts', import.meta.url))

/**
 * Opens the turns of documents, so that few are in memory at the same time: of all owners, of a project and of one of
 * its tenants. The others wait without their bytes, so that no document fails because many wait. Those whose content is
 * stored are loaded quickly; those of URLs may wait for slow servers, and scans for models, so they have turns of their
 * own. A document has at most 20 MB.
 */
export const openDocumentTurns = () => ({
  stored: documentTurns([8, 4, 2]),
  fetched: documentTurns([16, 8, 4]),
  scanned: documentTurns([4, 2, 1]),
})

/** Opens turns with these maximum numbers of concurrent works. */
export const documentTurns = (running: readonly [all: number, perProject: number, perTenant: number]) =>
  new FairSemaphore<ParseOwner>({ path: ownerPath, running })
