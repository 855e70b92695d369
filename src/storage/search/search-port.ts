/** An index of documents outside of the process. Nothing finds documents of another project. */
export interface SearchIndex {
  readonly project: string
  /** What it is of, and its generation: documents of another name are never found. */
  readonly name: string
  /** Length of its vectors; 0 without any. */
  readonly dimensions: number
}

/** A document, as it is to be found. */
export interface SearchDocument {
  readonly id: string
  /** Increases with each change. */
  readonly version: number
  /** What a search can be limited to, such as `host:example.com`. */
  readonly facets: readonly string[]
  /** ms since the epoch; null: a search that is limited in time does not find it. */
  readonly time: number | null
  /** Words, of any writing, that contain no white space, and the vector of each passage. */
  readonly passages: readonly { readonly words: readonly string[]; readonly numbers: Int8Array | null }[]
  /** What its finder needs of it. */
  readonly content: Uint8Array
}

/** A search for candidates. */
export interface CandidateQuery {
  readonly words: readonly string[]
  readonly vector: Float32Array | null
  /** Facets that a document has to have, all of them. */
  readonly facets: readonly string[]
  /** Earliest time of a document; null for any. */
  readonly since: number | null
  /** Number of passages by words, of each table that an index may have, and by the vector. */
  readonly limit: number
}

export interface SearchNotes {
  /** Whether the index had no notes when its documents began to be stored; absent: either. */
  readonly isNew?: boolean
  readonly step: number
  readonly added: ReadonlyMap<string, Uint8Array>
  readonly kept: readonly string[]
}

export type Candidate = Pick<SearchDocument, 'id' | 'version' | 'content'>

/**
 * Indexes that find candidates among more documents than a process should hold; their order, and whether they still
 * exist, is for the caller to decide. They are derived from the store and can always be made again. Every method rejects
 * with `StoreUnavailable` when they cannot be reached.
 */
export interface SearchStore {
  /** Number of passages from which documents should be found here. */
  readonly min: number
  /** Stores documents of an index that has no notes yet. They are found once it has some. */
  load(index: SearchIndex, documents: readonly SearchDocument[]): Promise<void>
  /**
   * Stores documents, replacing earlier versions of them, never later ones. Other processes find them within two seconds.
   *
   * @param step of the changes that these are of; not below one that was noted.
   */
  put(index: SearchIndex, step: number, documents: readonly SearchDocument[]): Promise<void>
  remove(index: SearchIndex, ids: readonly string[]): Promise<void>
  /** Removes documents, and writes anew all files that may still have something of a removed one. As `merge`, it may take minutes. */
  erase(index: SearchIndex, ids: readonly string[]): Promise<void>
  /**
   * Returns documents with the passages that suit best by words, the nearest ones by the vector, and a few of the
   * farthest, in any order; also a bounded number that do not suit, and some twice.
   */
  candidates(index: SearchIndex, query: CandidateQuery): Promise<readonly Candidate[]>
  /** Returns the step that was noted last, and the names of the notes of an index; null until all of its first ones are stored. */
  notes(index: SearchIndex): Promise<{ readonly step: number; readonly names: ReadonlySet<string> } | null>
  readNotes(index: SearchIndex, names: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>
  /**
   * Notes that all documents of the changes up to a step are stored, adds notes, and removes all others but `kept`.
   * Rejects if others have removed or made the index meanwhile, since not all of it may be stored then.
   */
  note(index: SearchIndex, notes: SearchNotes): Promise<void>
  /** Whether changes are so many that `merge` should put them where all other documents are. */
  hasMany(index: SearchIndex): Promise<boolean>
  /** Puts changes where all other documents are, if they are many. It may take minutes; one process at a time does it, or `erase`. */
  merge(index: SearchIndex): Promise<void>
  /** Removes all indexes of a project but one, with their files. */
  drop(project: string, but: SearchIndex | null): Promise<void>
}
