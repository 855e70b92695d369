import type { DocumentSegment } from './document-segment.ts'

/** Documents of a segment that are added to an index. */
export interface AttachedSegment {
  readonly segment: DocumentSegment
  /** Whether a document is added: it is the newest version. */
  readonly isKept: (document: number) => boolean
  /** Where the vectors of a document are; null when it has none of the embedder of the index. */
  readonly vectorsOf: (document: number) => 'here' | 'stored' | null
  /** Returns all titles of a document; null when documents are not found by their titles. */
  readonly titleOf: ((document: number) => string) | null
}
