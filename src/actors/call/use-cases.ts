import type { BytesAnswer, ChoiceAnswer, EventsAnswer, JsonAnswer } from '#specs/dsl/answer.ts'
import type { AnswerOf, BodyOf, OperationId, ParamsOf, QueryOf } from '#specs/index.ts'
import type { ByteStream, Call, StreamAnswer } from './call.ts'

/** A JSON document with its own response headers; for operations declared with `answersJsonWithHeaders`. */
export interface WithHeaders<T> {
  readonly body: T
  readonly headers: readonly (readonly [name: string, value: string])[]
}

/** A JSON document, from an operation with several response formats; with its own response headers. */
export interface JsonChoice<T> {
  readonly json: T
  readonly headers?: readonly (readonly [name: string, value: string])[]
}

/** Complete bytes in a JSON representation, so that a response can be stored for an Idempotency-Key. */
interface KeepableBytes {
  readonly base64: string
  /** Whether it was a stream that broke: a replay breaks at the same position. */
  readonly broken?: boolean
}

/** A response body of one of the operation's content types: complete, or in parts as they are produced. */
export interface BytesResult {
  readonly contentType: string
  readonly bytes: string | Uint8Array | KeepableBytes | AsyncIterable<string | Uint8Array> | ByteStream
  readonly headers?: readonly (readonly [name: string, value: string])[]
}

/** The result type of a use-case for a declared answer. */
type UseCaseResult<A> =
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

/** The implementation of one operation. The dispatcher has authenticated, authorised and validated the call. */
export type UseCase<Id extends OperationId> = (
  call: Call<ParamsOf<Id>, QueryOf<Id>, BodyOf<Id>>,
) => Promise<UseCaseResult<AnswerOf<Id>>>

/** All operations that transport may call, by operation id. Refusals are thrown as `ServiceError`. */
export type UseCases = { readonly [Id in OperationId]: UseCase<Id> }

/** The operations of resources: of `agents`, all `agents.…`. */
export type UseCasesOf<Resource extends string> = Pick<UseCases, Extract<OperationId, `${Resource}.${string}`>>

/**
 * A use-case as the dispatcher sees it. It is typed as a method, so that TypeScript accepts a use-case of any
 * operation; that the call fits is guaranteed by the validator, which is generated from the same declaration as the
 * types.
 */
export type AnyUseCase = { run(call: Call<unknown, unknown, unknown>): Promise<unknown> }['run']

/** All use-cases by operation id. */
export type AnyUseCases = Readonly<Record<string, AnyUseCase>>
