import type { Background } from './ranking/background.ts'

/**
 * Cosines of a query with passages whose vectors are `stored`: with the candidates and the farthest ones, by id; null for
 * a passage without a vector. All others get the lowest of any passage.
 */
export type StoredCosines = ReadonlyMap<string, number | null>

/** Cosines with the query's vector and with its topic, of the same passages. */
export interface StoredCosinesOfQuery {
  readonly vector: StoredCosines
  readonly topic: StoredCosines | null
}

/**
 * Reads the question together with the passages of these ids. Returns the logarithm of the odds that a passage answers,
 * by id; those that could not be read are absent.
 */
export type ReadPassages = (ids: readonly string[]) => Promise<ReadonlyMap<string, number>>

/** A query to an index. */
export interface PassageQuery {
  readonly text: string
  /** Vector by the index's embedder; one with a different number of dimensions is ignored. */
  readonly vector: Float32Array | null
  /** Vector of the text returned by `PassageIndex.topicOf`, by the same embedder. */
  readonly topic?: Float32Array | null
  /**
   * For an index with passages whose vectors are `stored`: returns the cosines of both vectors with the nearest and the
   * farthest ones, and with these.
   */
  readonly stored?: (needed: readonly string[]) => Promise<StoredCosinesOfQuery>
  /** Id of the embedder of the vector, to calibrate scores. */
  readonly embedder?: string
  /** How similar unrelated texts are by it, to calibrate the scores of memories; absent: as by most embedders. */
  readonly background?: Background | null
  /** Reads the best passages; absent: they are only compared by words and vectors. For memories. */
  readonly read?: ReadPassages | undefined
  /** Ends the search, which then throws its reason. */
  readonly signal?: AbortSignal
  readonly limit: number
  /** Minimum score of a hit; 0 (the default) for no threshold. */
  readonly threshold?: number
  /** Returns whether a passage may be found; others are excluded from the ranking. */
  readonly accepts?: (id: string) => boolean
  /** Returns whether passages of a document of a segment may be found. */
  readonly acceptsDocument?: (id: string) => boolean
  /** The only ids for which `accepts` is called; all others are accepted. For searches that accept most passages. */
  readonly doubtful?: ReadonlySet<string>
  /** Whether to return the parts of each score, and the passages left out with reasons. */
  readonly explain?: boolean
  /** Current time in ms, to resolve words such as "yesterday". */
  readonly now: number
}

export interface PassageHit {
  readonly id: string
  /** Confidence that the passage answers the question, 0 to 1. */
  readonly score: number
  /** Whether it has words of the query. */
  readonly byWords: boolean
  readonly parts?: Readonly<Record<string, number>>
}

/** Reason why a close passage is not among the hits. */
type LeftOutReason = 'below_threshold' | 'beyond_limit'

export interface LeftOut {
  readonly id: string
  readonly score: number
  readonly reason: LeftOutReason
}

export interface PassageHits {
  /** Best first. */
  readonly hits: readonly PassageHit[]
  /** Whether there are no hits: the index has no answer. */
  readonly abstained: boolean
  readonly left_out?: readonly LeftOut[]
}

/** Score from which a passage counts as answering the question. */
export const defaultThreshold = 0.7
