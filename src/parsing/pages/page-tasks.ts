import type { ParserTasks } from '../parser-tasks.ts'
import { readPage } from './read-page.ts'

/** Tasks of the workers for pages. */
export const pageTasks = { page: readPage } as const satisfies ParserTasks
