import type { ParserTask, ParserTasks } from '../parser-tasks.ts'
import { readOpenApiDocument } from './read-openapi-document.ts'

interface OpenApiText {
  readonly text: string
  readonly maxTools: number
  /** Longest JSON of what is read. */
  readonly maxLength: number
}

/** The operations of a document. What is too long leaves no worker: the loop would have to copy it. */
const openapi: ParserTask<OpenApiText> = async ({ text, maxTools, maxLength }) => {
  const read = readOpenApiDocument(text, maxTools)
  if (JSON.stringify(read).length > maxLength) throw new Error('The document is too large for a connection.')
  return read
}

/** What the worker of OpenAPI documents does. */
export const openApiTasks = { openapi } as const satisfies ParserTasks
