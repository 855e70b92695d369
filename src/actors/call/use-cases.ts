import type { BytesAnswer, ChoiceAnswer, EventsAnswer, JsonAnswer } from '#specs/dsl/answer.ts'
import type { AnswerOf, BodyOf, OperationId, ParamsOf, QueryOf } from '#specs/index.ts'
import type { ByteStream, Call, StreamAnswer } from './call.ts'

/** A document with headers of its own; for operations declared with `answersJsonWithHeaders`. */
export interface WithHeaders<T> {
  readonly body: T
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** The document of an operation that could also have answered otherwise; with headers of its own. */
export interface JsonChoice<T> {
  readonly json: T
  readonly headers?: readonly (readonly [name: string, value: string])[]
}

/** Whole bytes as JSON has them, so that an answer can be kept for an Idempotency-Key. */
export interface KeepableBytes {
  readonly base64: string
  /** It was a stream that broke: it breaks again where it ended. */
  readonly broken?: boolean
}

/** Bytes of the operation's content types: whole, or in parts as they are made. */
export interface BytesResult {
  readonly contentType: string
  readonly bytes: string | Uint8Array | KeepableBytes | AsyncIterable<string | Uint8Array> | ByteStream
  readonly headers?: readonly (readonly [name: string, value: string])[]
}

/** What a use-case returns for a declared answer. */
export type UseCaseResult<A> =
  A extends JsonAnswer<infer T, infer H>
    ? H extends true
      ? WithHeaders<T>
      : T
    : A extends EventsAnswer
      ? StreamAnswer
      : A extends BytesAnswer
        ? BytesResult
        : A extends ChoiceAnswer<infer T>
          ? JsonChoice<T> | { readonly events: StreamAnswer } | { readonly bytes: BytesResult }
          : never

/** One operation, ready to be called: authenticated, authorised and validated by the dispatcher. */
export type UseCase<Id extends OperationId> = (
  call: Call<ParamsOf<Id>, QueryOf<Id>, BodyOf<Id>>,
) => Promise<UseCaseResult<AnswerOf<Id>>>

/** All that transport may call, by operation id. Refusals are thrown as `ServiceError`. */
export type UseCases = { readonly [Id in OperationId]: UseCase<Id> }

/**
 * A use-case as the dispatcher sees it. Written as a method, so that TypeScript takes a use-case of any operation: the
 * validator, made from the same declaration as the types, is what guarantees that the call fits.
 */
export type AnyUseCase = { run(call: Call<unknown, unknown, unknown>): Promise<unknown> }['run']

/** All use-cases by operation id. */
export type AnyUseCases = Readonly<Record<string, AnyUseCase>>
