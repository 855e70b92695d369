import type { operations } from './operations.js'

type Operations = typeof operations
type NamesIn<P extends string> = P extends `${string}{${infer Name}}${infer Rest}` ? Name | NamesIn<Rest> : never

/** Id of an operation, such as `sessions.fork`. */
export type OperationId = keyof Operations

/** Parameters of its path; the project's id comes from the project that is called for. */
type ParamNames<I extends OperationId> = Exclude<NamesIn<Operations[I][1]>, 'project_id'>

type Query<I extends OperationId> = {
  readonly [Name in Operations[I][2][number]]?: string | number | boolean | undefined
}

/** Where an operation is called. */
export type Place<I extends OperationId> = ([ParamNames<I>] extends [never]
  ? { readonly params?: undefined }
  : { readonly params: { readonly [Name in ParamNames<I>]: string } }) & { readonly query?: Query<I> }

/** One call of it. */
export type Request<I extends OperationId> = Place<I> & {
  readonly body?: unknown
  readonly signal?: AbortSignal
  /** The tenant whose part of the project is meant; '' for the whole project. */
  readonly tenant?: string
}

/** What follows the id: nothing has to where the path has no parameters. */
export type Given<T> = Record<never, never> extends T ? [given?: T] : [given: T]
