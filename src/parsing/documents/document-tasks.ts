import type { ParserTasks } from '../parser-tasks.ts'
import { readOrRefused } from './read-document.ts'

/** Tasks of the worker for documents. */
export const documentTasks = { document: readOrRefused } as const satisfies ParserTasks
