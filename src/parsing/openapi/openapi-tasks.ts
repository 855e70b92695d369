import type { ParserTask, ParserTasks } from '../parser-tasks.ts'
import { readOpenApiDocument } from './read-openapi-document.ts'

/** The operations of a document. */
const openapi: ParserTask<{ readonly text: string; readonly maxTools: number }> = async ({ text, maxTools }) =>
  readOpenApiDocument(text, maxTools)

/** What the worker of OpenAPI documents does. */
export const openApiTasks = { openapi } as const satisfies ParserTasks
