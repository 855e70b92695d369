import { EmbedderUnavailable, type ReadPassages } from '#retrieval/index.ts'
import type { MemoryEmbedder } from './embedders.ts'

/** Time that a search waits for its memories to be read, in ms; it is answered by words and vectors after that. */
const maxWaitMs = 500
/** Characters of a memory and of a question that are read. */
const maxCharacters = 1_000

/** Returns the contents of memories by id; those that were removed are absent. */
type ContentsOf = (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>

/** Returns how a search reads memories together with its question; undefined when its embedder cannot. */
export const readerOf = (
  embedder: MemoryEmbedder,
  question: string,
  contentsOf: ContentsOf,
): ReadPassages | undefined => {
  if (embedder.read === undefined || question.length > maxCharacters) return undefined
  return async (ids) => {
    const contents = await contentsOf(ids)
    const read = ids.filter((id) => contents.has(id))
    const texts = read.map((id) => (contents.get(id) ?? '').slice(0, maxCharacters))
    const odds = (await inTime(embedder.read?.(question, texts) ?? null)) ?? []
    return new Map(read.flatMap((id, at) => (odds[at] === undefined ? [] : [[id, odds[at]]])))
  }
}

/** Returns null when the odds are not there in time, or cannot be had. */
async function inTime(odds: Promise<readonly number[] | null> | null): Promise<readonly number[] | null> {
  const late = Promise.withResolvers<null>()
  const timer = setTimeout(() => late.resolve(null), maxWaitMs)
  try {
    return await Promise.race([odds, late.promise])
  } catch (error) {
    if (error instanceof EmbedderUnavailable) return null
    throw error
  } finally {
    clearTimeout(timer)
  }
}
