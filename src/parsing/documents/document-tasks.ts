import type { ParserTasks } from '../parser-tasks.ts'
import { readDocument } from './read-document.ts'

/** The tasks of a room for documents. */
export const documentTasks = { document: readDocument } as const satisfies ParserTasks
