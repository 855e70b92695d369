import { createHash } from 'node:crypto'
import type { JsonObject } from '#storage/index.ts'
import type { SourceFacts, SourceRow } from '../schema.ts'

/** Returns what an index knows of a source besides the words of its chunks; null for one that was never read. */
export const factsOf = ({ data }: SourceRow): SourceFacts | null => {
  const { document, vectors, metadata, file_id } = data
  if (document === null) return null
  return {
    ...{ content: contentOf(data), titles: titlesOf(data), metadata, chunk_count: document.chunk_count },
    ...(file_id !== undefined && { file_id }),
    vectors:
      vectors === null ? null : { embedder: vectors.embedder, count: vectors.count, hash: hashOf(vectors.parts) },
    has_leads: vectors?.leads === true,
    has_pages: document.page_count !== null && document.page_count !== undefined,
  }
}

/** Identifies the text and the chunks of a source. */
export const contentOf = ({ document }: SourceRow['data']): string =>
  hashOf([...(document?.text ?? []), ...(document?.chunks ?? [])])

const hashOf = (names: readonly string[]): string =>
  createHash('sha256').update(names.join(' ')).digest('hex').slice(0, 24)

/** Returns all titles of a source: its own, those of its document and file, and its path on its site. */
const titlesOf = ({ title, document, filename, url }: SourceRow['data']): string =>
  [title, document?.title, withoutEnding(filename), url === null ? null : withoutEnding(pathOf(url))]
    .filter(Boolean)
    .join('\n')

const withoutEnding = (name: string | null): string | undefined => name?.replace(/\.\w{1,5}$/, '')

const pathOf = (url: string): string => {
  const { pathname } = new URL(url)
  try {
    return decodeURIComponent(pathname)
  } catch {
    // a path may contain bytes that are not valid UTF-8
    return pathname
  }
}

/** Whether two rows of a source are the same to an index. */
export const areSameFacts = (one: JsonObject, other: JsonObject): boolean =>
  JSON.stringify(one) === JSON.stringify(other)
