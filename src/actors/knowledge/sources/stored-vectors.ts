import type { Logger } from 'pino'
import { numbersOfText } from '#retrieval/index.ts'
import { type StoredVector, StoreUnavailable, type VectorStore } from '#storage/index.ts'
import { storedVectors } from '../schema.ts'
import { chunkOfLead } from './lead-id.ts'
import type { BlobOwner } from './source-blobs.ts'

/** Returns the name of the space of a base's vectors by one embedder. */
export const vectorSpaceOf = (base: string, embedder: string): string => `${base} ${embedder}`

/** Returns the name of the space of the vectors of pages' leads, which are not searched but read with their source. */
const leadSpaceOf = (base: string, embedder: string): string => `${vectorSpaceOf(base, embedder)} leads`

/** Where the vectors of a source are stored for the database to search. */
export interface SearchableVectors {
  readonly vectors: Pick<VectorStore, 'put' | 'count'>
  readonly base: string
  readonly embedder: string
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
  { vectors, base, embedder, log }: SearchableVectors,
  { project, source }: BlobOwner,
  { name, text }: VectorBlob,
): Promise<void> => {
  const [chunks, leads]: [StoredVector[], StoredVector[]] = [[], []]
  for (const [id, vector] of storedVectors(JSON.parse(text))) {
    const numbers = numbersOfText(vector)
    const chunk = chunkOfLead(id)
    if (numbers !== null) (chunk === null ? chunks : leads).push({ id: chunk ?? id, numbers })
  }
  const put = (found: readonly StoredVector[], space: string, blob: string) =>
    vectors.put({ project, blob, space, group: source, vectors: found })
  try {
    // leads first: a source whose chunks are stored is read with its leads
    const isStored = async (blob: string, count: number) => (await vectors.count(project, blob)) === count
    const leadsBlob = `${name}.leads`
    if (!(await isStored(leadsBlob, leads.length))) await put(leads, leadSpaceOf(base, embedder), leadsBlob)
    if (!(await isStored(name, chunks.length))) await put(chunks, vectorSpaceOf(base, embedder), name)
  } catch (err) {
    if (err instanceof StoreUnavailable) throw err
    log.warn({ err, source }, 'the database does not store vectors for its search')
  }
}
