import type { AttemptFailed, ErrorAnswer } from '#gateway/call/failure.ts'
import type { WireBody } from '#outgoing/shares/encode-in-steps.ts'
import type { WireObject } from '#outgoing/wire.ts'

/** A document as an endpoint takes it. */
export interface EncodedDocument {
  readonly contentType: string
  readonly body: WireBody
}

/** Endpoint of an operation at a provider. */
export interface DocumentTarget {
  /** Path to append to the route's base URL. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Encodes the document, for endpoints that take another body; absent: as JSON. */
  readonly encode?: (document: WireObject) => EncodedDocument | Promise<EncodedDocument>
  /** Converts the response of such an endpoint. @throws {AttemptFailed} for one that is none. */
  readonly decode?: (answer: WireObject, document: WireObject) => WireObject
  /** Maps an answer with an error status, where its provider has its own; absent: as in OpenAI's API. @param now in ms. */
  readonly failure?: (answer: ErrorAnswer, now: number) => AttemptFailed
}
