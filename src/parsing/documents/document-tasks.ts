import type { ParserTasks } from '../parser-tasks.ts'
import { readDocument } from './read-document.ts'

/** Tasks of the worker for documents. */
export const documentTasks = { document: readDocument } as const satisfies ParserTasks
