import { type ParserLimits, ParserRoom } from '../parser-room.ts'
import type { openApiTasks } from './openapi-tasks.ts'

/** What reading a document may take. */
export const openApiLimits: ParserLimits = { deadlineMs: 5_000, maxHeapMb: 256, maxWaiting: 32 }

/** Reads OpenAPI documents: one at a time, in a worker of its own. */
export const openOpenApiRoom = (limits: Partial<ParserLimits> = {}): ParserRoom<typeof openApiTasks> =>
  new ParserRoom({ ...openApiLimits, ...limits }, new URL('./openapi-worker.ts', import.meta.url))
