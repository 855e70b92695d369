import { type ParserLimits, ParserPool } from '../parser-pool.ts'
import type { documentTasks } from './document-tasks.ts'

/** Limits for documents, which take longer to read than audio headers. */
export const documentLimits: ParserLimits = { deadlineMs: 20_000, maxHeapMb: 2048, maxWaiting: 256, maxGrowthMb: 768 }

/** Opens a room that reads documents, one at a time, in a separate worker. */
export const openDocumentRoom = (limits: Partial<ParserLimits> = {}): ParserPool<typeof documentTasks> =>
  new ParserPool({ ...documentLimits, ...limits }, new URL('./document-worker.ts', import.meta.url))
