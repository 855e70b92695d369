import type { Answers } from './answers.d.ts'
import type { operations } from './operations.ts'

type Operations = typeof operations
type NamesIn<P extends string> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never

/** Id of an operation, such as `sessions.fork`. */
export type OperationId = keyof Operations

/** Parameters of an operation's path, without the project's id, which is passed separately. */
type ParamNames<I extends OperationId> = Exclude<NamesIn<Operations[I][1]>, 'project_id'>

type Query<I extends OperationId> = {
  readonly [Name in Operations[I][2][number]]?: string | number | boolean | undefined
}

/** Path and query parameters of a call. */
export type Place<I extends OperationId> = ([ParamNames<I>] extends [never]
  ? { readonly params?: undefined }
  : { readonly params: { readonly [Name in ParamNames<I>]: string } }) & { readonly query?: Query<I> }

/** Arguments of one call. */
export type Request<I extends OperationId> = Place<I> & {
  readonly body?: unknown
  readonly signal?: AbortSignal
  /** Restricts the call to this tenant; '' for the whole project. */
  readonly tenant?: string
}

/** Argument list after the operation's id: optional where the path has no parameters. */
export type Given<T> = Record<never, never> extends T ? [given?: T] : [given: T]

/** The JSON document that an operation answers with. */
export type Answer<I extends OperationId> = I extends keyof Answers ? Answers[I] : never
