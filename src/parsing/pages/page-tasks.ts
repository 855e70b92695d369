import type { ParserTasks } from '../parser-tasks.ts'
import { readPage } from './read-page.ts'

/** The tasks of a room for pages. */
export const pageTasks = { page: readPage } as const satisfies ParserTasks
