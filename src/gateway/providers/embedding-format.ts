import type { WireBody } from '#outgoing/shares/encode-in-steps.ts'
import type { WireObject } from '#outgoing/wire.ts'
import type { AttemptFailed, ErrorAnswer } from '../call/failure.ts'
import type { Route } from '../call/routes.ts'
import type { VectorEncoding, WireVector } from './vector-encoding.ts'

/** One thing to embed: a text, or the tokens of one. */
export type EmbeddingInput = string | readonly number[]

/** What is to be embedded. */
export interface EmbeddingRequest {
  /** The body in OpenAI's form: unknown fields are its provider's to read. */
  readonly body: WireObject
  /** The body as it came, when `body` says nothing else; null when it was made or changed here. */
  readonly bytes: Uint8Array | null
  readonly inputs: readonly EmbeddingInput[]
  /** null: as many as the model gives. */
  readonly dimensions: number | null
  readonly encoding: VectorEncoding
}

/** What one request brought. */
export interface Embedded {
  /** As the provider names it; '' when it does not. */
  readonly model: string
  /** One an input of the request, in order. */
  readonly vectors: readonly WireVector[]
  /** null: the provider counted nothing. */
  readonly inputTokens: number | null
}

/** One request to a provider, for all inputs or a part of them. */
export interface ProviderEmbeddings {
  /** What follows the route's base path. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: WireBody
  /** @throws {AttemptFailed} when it is no answer of the format, or one that leaves out vectors. */
  answer(json: unknown): Embedded
}

/** A provider's way to embed. */
export interface EmbeddingFormat {
  /**
   * As many requests as the provider's limit on a batch makes of it.
   * @throws {ServiceError} `invalid_field` for what the format cannot say.
   */
  requests(request: EmbeddingRequest, route: Route): readonly ProviderEmbeddings[]
  /** What an answer with another status means. `now` in ms. */
  failure(answer: ErrorAnswer, now: number): AttemptFailed
}
