import type { SegmentWriter } from '#actors/indexing/stored-index.ts'
import { analysisOf, DocumentSegmentWriter, type Language, titleTermsOf } from '#retrieval/index.ts'
import { nextSlice } from '#src/concurrency/run-in-slices.ts'
import type { SourceRow } from '../schema.ts'
import { chunksOf, type SourceChunk } from '../sources/document-store.ts'
import { BlobGone, type BlobOwner, type SourceBlobs } from '../sources/source-blobs.ts'
import { leadVectors, readVector, vectorsOf } from '../sources/vector-store.ts'
import { factsOf } from './source-facts.ts'

/** Time in ms for which chunks are analysed in one turn of the event loop. */
const sliceMs = 8

/** Makes segments of the chunks of sources. */
export class SourceSegmentWriter implements SegmentWriter<SourceRow> {
  readonly written = new DocumentSegmentWriter(false)
  readonly #blobs: SourceBlobs
  readonly #leftOut: (source: string) => void

  /** @param leftOut called with a source whose text is gone. */
  constructor(blobs: SourceBlobs, leftOut: (source: string) => void) {
    this.#blobs = blobs
    this.#leftOut = leftOut
  }

  /** Adds a source, unless it was read again meanwhile: its row shows that soon. */
  async add(row: SourceRow, others: () => Language): Promise<void> {
    try {
      const facts = factsOf(row)
      const content = facts === null ? null : await this.#contentOf(row)
      if (facts === null || content === null) return
      const { id, version } = row
      this.written.begin({ id, version, facts: JSON.stringify(facts), title: titleTermsOf(facts.titles) })
      let since = performance.now()
      for (const chunk of content.chunks) {
        this.written.add({ ...analysisOf(wordsOf(chunk, content.text), others), ...content.describe(chunk) })
        if (performance.now() - since < sliceMs) continue
        await nextSlice()
        since = performance.now()
      }
    } catch (error) {
      if (!(error instanceof BlobGone)) throw error
      this.#leftOut(row.id)
    }
  }

  async #contentOf({ data: { document, vectors }, project, tenant, id }: SourceRow) {
    if (document === null) return null
    const owner: BlobOwner = { project, tenant, source: id }
    const text = await this.#blobs.text(owner, document.text)
    const known = vectors === null ? new Map<string, string>() : await vectorsOf(this.#blobs, owner, vectors)
    const leads = leadVectors(known)
    const chunks: SourceChunk[] = []
    for await (const some of chunksOf(this.#blobs, owner, document)) chunks.push(...some)
    const describe = ({ id: name, page }: SourceChunk) => ({
      ...{ name, page, vector: readVector(known.get(name)), lead: readVector(leads.get(name)) },
    })
    return { text, chunks, describe }
  }

  copy = this.written.copy.bind(this.written)
  finished = () => this.written.finished()
}

/** Returns all text by which a chunk is found. */
const wordsOf = ({ start, end, heading }: SourceChunk, text: string): string => {
  const own = text.slice(start, end)
  return heading === null || heading === '' ? own : `${heading}\n${own}`
}
