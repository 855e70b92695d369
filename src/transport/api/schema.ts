import type { StreamAnswer } from '#actors/call/call.ts'
import type { StreamPlace } from '#actors/call/reach.ts'
import type { BytesResult, JsonChoice, WithHeaders } from '#actors/call/use-cases.ts'
import type { Json } from '#storage/index.ts'

/**
 * Casts a use-case's result back to the type that `UseCases` checked it against: the dispatcher serves every operation
 * in the same way and knows the type only by the declaration's `answer.kind`.
 */

/** The document of an operation with `tagged`. */
export const asObject = (result: unknown) => result as object

/** Tenant and installation of the stream in an answer; null if the answer is no stream, or its stream has none. */
export const placeOfStream = (result: unknown): StreamPlace => {
  const { events, tenant, installation } = result as Partial<StreamAnswer> & { readonly events?: StreamAnswer }
  return {
    tenant: events?.tenant ?? tenant ?? null,
    installation: events?.installation ?? installation ?? null,
  }
}

export const asStream = (result: unknown) => result as StreamAnswer

/** The result of an operation with `answersBytes`. */
export const asBytes = (result: unknown) => result as BytesResult

/** The result of an operation with `answersJsonWithHeaders`. */
export const asWithHeaders = (result: unknown) => result as WithHeaders<unknown>

/** The result of an operation with `answersEither`: exactly one of these. */
export const asChoice = (result: unknown) =>
  result as Partial<JsonChoice<unknown>> & { readonly events?: StreamAnswer; readonly bytes?: BytesResult }

/** The stream parameters that `defineOperation` adds to a query; validated with the rest of it. */
export const asStreamQuery = (query: unknown) =>
  query as { readonly after?: number; readonly event_names?: 'short' | 'long'; readonly restarts?: boolean }

/** The `stream` field of a body whose operation answers JSON or a stream; validated with the rest of it. */
export const asStreamed = (body: unknown) => body as { readonly stream?: boolean | null } | undefined

/** The result of an operation with a numbered list. */
export const asPagination = (result: unknown) => result as { readonly pagination: { readonly total: number } }

/** The result of `JSON.parse`. */
export const asJson = (parsed: unknown) => parsed as Json

/** A text field of a parsed body or of path parameters; null when it is none. */
export const textIn = (value: unknown, field: string): string | null => {
  if (typeof value !== 'object' || value === null) return null
  const found = (value as Readonly<Record<string, unknown>>)[field]
  return typeof found === 'string' ? found : null
}

/** A number of a view; null when it is none. */
export const numberIn = (value: unknown, field: string): number | null => {
  if (typeof value !== 'object' || value === null) return null
  const found = (value as Readonly<Record<string, unknown>>)[field]
  return typeof found === 'number' ? found : null
}
