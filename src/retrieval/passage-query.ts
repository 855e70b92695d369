/** What is looked for in an index. */
export interface PassageQuery {
  readonly text: string
  /** Of the index's embedder; one of other dimensions counts as none. */
  readonly vector: Float32Array | null
  /** Of what `PassageIndex.topicOf` says of the text, by the same embedder. */
  readonly topic?: Float32Array | null
  /** Id of the embedder that made the vector: the score is calibrated for it. */
  readonly embedder?: string
  readonly limit: number
  /** Least score of a hit; 0, as without it, for no cut. */
  readonly threshold?: number
  /** Whether a passage may be found at all; others do not take part in the ranking. */
  readonly accepts?: (id: string) => boolean
  /** The only ids that `accepts` is called for, where most passages are accepted by all searches. */
  readonly doubtful?: ReadonlySet<string>
  /** Whether hits say what their score consists of, and what was left out why. */
  readonly explain?: boolean
  /** The time from which "yesterday" counts, in ms. */
  readonly now: number
}

export interface PassageHit {
  readonly id: string
  /** 0 to 1: how sure it is that the passage answers the question. */
  readonly score: number
  readonly parts?: Readonly<Record<string, number>>
}

/** Why a passage that was close is not among the hits. */
export type LeftOutReason = 'below_threshold' | 'beyond_limit'

export interface LeftOut {
  readonly id: string
  readonly score: number
  readonly reason: LeftOutReason
}

export interface PassageHits {
  /** Best first. */
  readonly hits: readonly PassageHit[]
  /** Whether nothing passes: the index does not know it. */
  readonly abstained: boolean
  readonly left_out?: readonly LeftOut[]
}

/** Score from which a passage is taken to answer the question. */
export const defaultThreshold = 0.7
