import type { WireBody } from '#outgoing/shares/encode-in-steps.ts'
import type { WireObject } from '#outgoing/wire.ts'
import type { AnswerHeaders } from '../call/attempt.ts'
import type { AttemptFailed, ErrorAnswer } from '../call/failure.ts'
import type { Route } from '../call/routes.ts'
import type { VectorEncoding, WireVector } from './vector-encoding.ts'

/** One input to embed: a text, or its tokens. */
export type EmbeddingInput = string | readonly number[]

/** An embeddings request from a caller. */
export interface EmbeddingRequest {
  /** The body in OpenAI's format. Unknown fields are left for the provider to interpret. */
  readonly body: WireObject
  /** The raw bytes of the body; null when `body` was built or changed by the gateway and so differs from them. */
  readonly bytes: Uint8Array | null
  readonly inputs: readonly EmbeddingInput[]
  /** Requested vector length; null: the model's default. */
  readonly dimensions: number | null
  readonly encoding: VectorEncoding
}

/** Vectors and token count of one provider response. */
export interface Embedded {
  /** Model as named by the provider; '' when it does not name one. */
  readonly model: string
  /** One vector per input of the request, in the same order. */
  readonly vectors: readonly WireVector[]
  /** null: the provider reported no count. */
  readonly inputTokens: number | null
}

/** One request to a provider, for all of the inputs or a batch of them. */
export interface ProviderEmbeddings {
  /** Path to append to the route's base path. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: WireBody
  /** Parses a response. @throws {AttemptFailed} when it is not in this format, or lacks vectors. */
  answer(json: unknown, headers: AnswerHeaders): Embedded
}

/** A provider's embeddings API. */
export interface EmbeddingFormat {
  /**
   * Builds the requests for all inputs: several when the provider's batch limit requires it.
   * @throws {ServiceError} `invalid_field` for what the format cannot express.
   */
  requests(request: EmbeddingRequest, route: Route): readonly ProviderEmbeddings[]
  /** Maps a response with an error status to a failure. `now` is in ms since the epoch. */
  failure(answer: ErrorAnswer, now: number): AttemptFailed
}
