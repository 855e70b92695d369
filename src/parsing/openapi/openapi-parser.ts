import { type ParserLimits, ParserPool } from '../parser-pool.ts'
import type { openApiTasks } from './openapi-tasks.ts'

/** Resource limits for reading a document. */
const openApiLimits: ParserLimits = { deadlineMs: 5_000, maxHeapMb: 256, maxWaiting: 32 }

/** Opens a pool that reads OpenAPI documents, one at a time, in a separate worker. */
export const openOpenApiParser = (limits: Partial<ParserLimits> = {}): ParserPool<typeof openApiTasks> =>
  new ParserPool({ ...openApiLimits, ...limits }, new URL('./openapi-worker.ts', import.meta.url))
