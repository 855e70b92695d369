import type { Embedder } from '#retrieval/embedder.ts'
import { PassageIndex } from '#retrieval/passage-index.ts'
import type { PassageHits } from '#retrieval/passage-query.ts'
import type { Collection, Question, Scope, Text } from './collection.ts'

/** What is measured: something that takes the texts of a scope and answers questions about them. */
export interface Engine {
  readonly name: string
  open(collection: Collection, scope: Scope): Promise<Searchable>
}

export interface Searchable {
  search(question: Question, options: { readonly limit: number; readonly threshold: number }): Promise<PassageHits>
}

const atOnce = 256

/** The index of `src/retrieval` in this process, with an embedder or without. */
export const indexEngine = (embedder: Embedder | null): Engine => ({
  name: embedder?.id ?? 'lexical',
  open: async ({ profile }, { texts }) => {
    const index = new PassageIndex(profile)
    for (let first = 0; first < texts.length; first += atOnce) {
      const some = texts.slice(first, first + atOnce)
      const vectors = await embedder?.embed(some.map(embeddedText), 'passage')
      for (const [at, text] of some.entries()) index.add({ ...text, vector: vectors?.[at] ?? null })
    }
    return { search: (question, options) => searchIn(index, embedder, { question, ...options }) }
  },
})

/** What of a passage becomes its vector: who said it, and under which heading. */
const embeddedText = ({ speaker, heading, text }: Text): string =>
  [heading, speaker ? `${speaker}: ${text}` : text].filter(Boolean).join('\n')

async function searchIn(
  index: PassageIndex,
  embedder: Embedder | null,
  { question, ...options }: { readonly question: Question; readonly limit: number; readonly threshold: number },
): Promise<PassageHits> {
  const [vector = null] = (await embedder?.embed([question.text], 'query')) ?? []
  const named = embedder === null ? {} : { embedder: embedder.id }
  return await index.search({ text: question.text, vector, now: question.now, ...named, ...options })
}
