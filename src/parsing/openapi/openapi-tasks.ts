import type { ParserTask, ParserTasks } from '../parser-tasks.ts'
import { readOpenApiDocument } from './read-openapi-document.ts'

interface OpenApiText {
  readonly text: string
  readonly maxTools: number
  /** Maximum length of the result as JSON. */
  readonly maxLength: number
}

/**
 * Reads the operations of a document. A result that is too long is rejected in the worker, so that the event loop does
 * not have to copy it.
 */
const openapi: ParserTask<OpenApiText> = async ({ text, maxTools, maxLength }) => {
  const read = readOpenApiDocument(text, maxTools)
  if (JSON.stringify(read).length > maxLength) throw new Error('The document is too large for a connection.')
  return read
}

/** Tasks of the worker for OpenAPI documents. */
export const openApiTasks = { openapi } as const satisfies ParserTasks
