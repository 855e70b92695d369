import type { Embedder } from '#retrieval/embedder.ts'
import { leadsOf } from '#retrieval/leads.ts'
import type { Passage } from '#retrieval/passage.ts'
import { PassageIndex } from '#retrieval/passage-index.ts'
import type { Collection, Question, Scope, Text } from './collection.ts'
import type { Found } from './schema.ts'

/** A search engine to be measured: it indexes the texts of a scope and answers questions about them. */
export interface Engine {
  readonly name: string
  open(collection: Collection, scope: Scope): Promise<Searchable>
  /** CPU time used so far, in ms. */
  cpuMs(): number
  close(): Promise<void>
}

export interface SearchOptions {
  readonly limit: number
  readonly threshold: number
  /** Groups to search without, as if they had never been indexed; only documents are searched this way. */
  readonly without?: ReadonlySet<string>
}

export interface Searchable {
  search(question: Question, options: SearchOptions): Promise<Found>
}

const atOnce = 256

/**
 * Engine on the index of `src/retrieval` in this process, with or without an embedder. The CPU time of the embedder's
 * process is not counted.
 */
export const indexEngine = (embedder: Embedder | null): Engine => ({
  name: embedder === null ? 'lexical' : 'hybrid',
  open: async ({ profile }, { texts, titles }) => {
    const index = new PassageIndex(profile)
    const passages = await passagesOf(embedder, texts)
    for (const each of passages) index.add(each)
    for (const [group, title] of titles ?? []) index.nameGroup(group, title)
    return {
      search: async (question, { without, ...options }) => {
        const away = passages.filter(({ group }) => group !== null && without?.has(group))
        for (const { id } of away) index.remove(id)
        const found = await searchIn(index, embedder, { question, ...options })
        for (const each of away) index.add(each)
        for (const [group, title] of titles ?? []) if (without?.has(group)) index.nameGroup(group, title)
        return found
      },
    }
  },
  cpuMs: () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  },
  close: async () => {},
})

async function passagesOf(embedder: Embedder | null, texts: readonly Text[]): Promise<readonly Passage[]> {
  const leads = leadsIn(texts)
  const vectors = await embedded(embedder, texts.map(embeddedText))
  const leadVectors = await embedded(
    embedder,
    texts.map(({ id }) => leads.get(id) ?? null),
  )
  return texts.map((text, at) => ({ ...text, vector: vectors[at] ?? null, lead: leadVectors[at] ?? null }))
}

/** Returns the leads of the pages of each group, by the id of the page's first text. */
function leadsIn(texts: readonly Text[]): ReadonlyMap<string, string> {
  const groups = Map.groupBy(texts, ({ group }) => group)
  return new Map(
    [...groups.values()].flatMap((group) => {
      const pages = [...Map.groupBy(group, ({ page = null }) => page)].flatMap(([page, all]) =>
        page === null ? [] : [all],
      )
      const leads = leadsOf(pages.map((all) => all.map(({ text }) => text).join('\n')))
      return pages.map((all, at): [string, string] => [all[0]?.id ?? '', leads[at] ?? ''])
    }),
  )
}

/** Embeds the texts that are not null. */
async function embedded(
  embedder: Embedder | null,
  texts: readonly (string | null)[],
): Promise<readonly (Float32Array | null)[]> {
  const all = texts.map((): Float32Array | null => null)
  const wanted = embedder === null ? [] : texts.flatMap((text, at) => (text === null ? [] : [{ text, at }]))
  for (let first = 0; first < wanted.length; first += atOnce) {
    const some = wanted.slice(first, first + atOnce)
    const vectors = await embedder?.embed(
      some.map(({ text }) => text),
      'passage',
    )
    for (const [place, { at }] of some.entries()) all[at] = vectors?.[place] ?? null
  }
  return all
}

/** Text of a passage that is embedded: its heading, speaker and text. */
const embeddedText = ({ speaker, heading, text }: Text): string =>
  [heading, speaker ? `${speaker}: ${text}` : text].filter(Boolean).join('\n')

async function searchIn(
  index: PassageIndex,
  embedder: Embedder | null,
  { question, ...options }: { readonly question: Question } & SearchOptions,
): Promise<Found> {
  const topic = index.topicOf(question.text)
  const texts = [question.text, ...(topic === null ? [] : [topic])]
  const [vector = null, topicVector = null] = (await embedder?.embed(texts, 'query')) ?? []
  const named = embedder === null ? {} : { embedder: embedder.id }
  return await index.search({
    text: question.text,
    vector,
    topic: topicVector,
    now: question.now,
    ...named,
    ...options,
  })
}
