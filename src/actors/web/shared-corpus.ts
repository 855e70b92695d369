import { Port } from '../capability/port.ts'

/** Project whose crawled pages every project finds; null when there is none. */
export const sharedCorpusPort = new Port<string | null>('the shared corpus')
