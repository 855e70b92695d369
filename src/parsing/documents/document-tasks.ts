import type { ParserTasks } from '../parser-tasks.ts'
import { readOrRefused } from './read-document.ts'
import { scannedPage } from './scans/page-images.ts'
import { writtenPages } from './scans/written-pages.ts'

/** Tasks of the worker for documents. */
export const documentTasks = {
  document: readOrRefused,
  scanned_page: scannedPage,
  written_pages: writtenPages,
} as const satisfies ParserTasks
