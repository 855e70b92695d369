import type { JsonObject } from '#storage/index.ts'
import type { CorpusSearch, PageResult } from './corpus-search.ts'

/*
 * The functions below return values received from other processes of this installation as the types that they sent:
 * only `placedSearch` and `corpusServer` write them.
 */

/** Returns a search of another process. */
export const receivedSearch = (input: JsonObject): CorpusSearch => input as CorpusSearch

/** Returns what another process has found. */
export const receivedPages = ({ results }: JsonObject): readonly PageResult[] => results as readonly PageResult[]
