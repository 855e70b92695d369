/** A vector as stored: one byte per dimension. Its length is not 1; only its direction counts. */
export interface StoredVector {
  /** Unique within a space, except that a newer blob may contain it again. */
  readonly id: string
  readonly numbers: Int8Array
}

/** Vectors derived from one blob. */
export interface BlobVectors {
  readonly project: string
  /** Hash of the blob. Its vectors are removed with it. */
  readonly blob: string
  /** What is searched together, such as one knowledge base with one embedder. */
  readonly space: string
  /** Part of the space that a search can be limited to, such as one source. */
  readonly group: string
  readonly vectors: readonly StoredVector[]
}

/** The vectors of a space. */
export interface VectorSpace {
  /** Number of stored vectors by group. */
  readonly counts: ReadonlyMap<string, number>
  /** Length of the vectors; null for an empty space. */
  readonly dimensions: number | null
}

/** A search for the nearest vectors of a space. */
export interface NearestQuery {
  readonly project: string
  readonly space: string
  /** Groups to search; null for all. */
  readonly groups: readonly string[] | null
  readonly vector: Float32Array
  readonly limit: number
}

/**
 * Vectors that the database itself searches approximately, so that a process need not hold them. A store may have none.
 * They are derived from blobs and can always be put again. `BlobStore.remove` also removes the vectors of its blobs.
 * Every method rejects with `StoreUnavailable` when the store cannot be reached.
 */
export interface VectorStore {
  /** Number of vectors from which a space should be searched here. Smaller ones are searched exactly in the process. */
  readonly min: number
  /** Stores vectors; putting the same ones again has no effect. Durable when it resolves. */
  put(vectors: BlobVectors): Promise<void>
  /** Returns the number of stored vectors of a blob. */
  count(project: string, blob: string): Promise<number>
  space(project: string, space: string): Promise<VectorSpace>
  /** Whether `nearest` finds vectors of this length. It may take minutes after the first ones were stored. */
  isReady(dimensions: number): Promise<boolean>
  /**
   * Returns vectors close to the query's, nearest first: approximately the nearest ones. Vectors of the last seconds
   * may be missing.
   */
  nearest(query: NearestQuery): Promise<readonly StoredVector[]>
  /** Removes the vectors of groups, in any project and space: those that arrived after their blobs were removed. */
  removeGroups(groups: readonly string[]): Promise<void>
  /** Removes all vectors of a project, with their files where they have any of their own. */
  removeProject(project: string): Promise<void>
  /** Returns the stored vectors among these ids, in any order. */
  get(project: string, space: string, ids: readonly string[]): Promise<readonly StoredVector[]>
}

/** The vectors of large bases cannot be used as configured; the message is a sentence for the operator. */
export class VectorsUnusable extends Error {
  override readonly name = 'VectorsUnusable'
}
