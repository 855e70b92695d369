import { type ParserLimits, ParserPool } from '../parser-pool.ts'
import type { documentTasks } from './document-tasks.ts'
import { DocumentTurns } from './document-turns.ts'

/** Limits for documents, which take longer to read than audio headers. */
export const documentLimits: ParserLimits = {
  deadlineMs: 20_000,
  maxHeapMb: 2048,
  maxWaiting: 64,
  maxGrowthMb: 768,
  slowMs: 1_000,
}

/** Opens a room that reads documents, one at a time, and two while one of them is slow. */
export const openDocumentRoom = (limits: Partial<ParserLimits> = {}): ParserPool<typeof documentTasks> =>
  new ParserPool({ ...documentLimits, ...limits }, new URL('./document-worker.ts', import.meta.url))

/**
 * Opens the turns of documents. Those whose content is stored are loaded quickly; those of URLs may wait for slow
 * servers, and scans for models, so they have turns of their own. A document has at most 20 MB.
 */
export const openDocumentTurns = () => ({
  stored: new DocumentTurns({ running: 8, perProject: 4, perTenant: 2 }),
  fetched: new DocumentTurns({ running: 16, perProject: 8, perTenant: 4 }),
  scanned: new DocumentTurns({ running: 4, perProject: 2, perTenant: 1 }),
})
