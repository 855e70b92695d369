import type { Logger } from 'pino'
import { numbersOfText } from '#retrieval/vector-bytes.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import type { VectorStore } from '#storage/vector-port.ts'
import { storedVectors } from '../schema.ts'
import type { BlobOwner } from './source-blobs.ts'

/** Returns the name of the space of a base's vectors by one embedder. */
export const vectorSpaceOf = (base: string, embedder: string): string => `${base} ${embedder}`

/** Where the vectors of a source are stored for the database to search. */
export interface SearchableVectors {
  readonly vectors: Pick<VectorStore, 'put' | 'count'>
  readonly space: string
  readonly log: Pick<Logger, 'warn'>
}

/** A blob with the vectors of some chunks. */
interface VectorBlob {
  readonly name: string
  readonly text: string
}

/**
 * Stores the vectors of a blob for the database to search, unless they are stored. If the database refuses them, the
 * source is searched in the process.
 *
 * @throws {StoreUnavailable}
 */
export const makeSearchable = async (
  { vectors, space, log }: SearchableVectors,
  { project, source }: BlobOwner,
  { name, text }: VectorBlob,
): Promise<void> => {
  const found = storedVectors(JSON.parse(text)).flatMap(([id, vector]) => {
    const numbers = numbersOfText(vector)
    return numbers === null ? [] : [{ id, numbers }]
  })
  try {
    if ((await vectors.count(project, name)) >= found.length) return
    await vectors.put({ project, blob: name, space, group: source, vectors: found })
  } catch (err) {
    if (err instanceof StoreUnavailable) throw err
    log.warn({ err, source }, 'the database does not store vectors for its search')
  }
}
