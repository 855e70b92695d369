import { type ParserLimits, ParserRoom } from '../parser-room.ts'
import type { documentTasks } from './document-tasks.ts'

/** Documents take longer to read than headers of audio do. */
export const documentLimits: ParserLimits = { deadlineMs: 20_000, maxHeapMb: 512, maxWaiting: 256, maxGrowthMb: 768 }

/** Reads documents: one at a time, in a worker of its own. */
export const openDocumentRoom = (limits: Partial<ParserLimits> = {}): ParserRoom<typeof documentTasks> =>
  new ParserRoom({ ...documentLimits, ...limits }, new URL('./document-worker.ts', import.meta.url))
