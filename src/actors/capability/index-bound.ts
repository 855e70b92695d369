import type { IndexBound } from '#retrieval/index.ts'
import { Port } from './port.ts'

/** The bound of the memory of all indexes of this process: pages, knowledge bases and memories share it. */
export const indexBoundPort = new Port<IndexBound>('the bound of indexes')
