import type { UseCase } from '#actors/call/use-cases.ts'
import { callerOf } from '#gateway/call/caller.ts'
import type { JsonCallKind, JsonCalls } from '#gateway/documents/json-calls.ts'
import { encodeJson } from '#outgoing/shares/encode-in-steps.ts'
import type { WireObject } from '#outgoing/wire.ts'
import { ServiceError } from '#specs/errors/errors.ts'

/** Dependencies of operations whose documents are sent on. */
export interface PassedOnParts {
  readonly documents: Pick<JsonCalls, 'create'>
}

type AnyCall = Pick<
  Parameters<UseCase<'completions.create'>>[0],
  'principal' | 'scope' | 'requestId' | 'signal' | 'attribution'
>

interface PassedOnRequest {
  readonly call: AnyCall
  readonly body: WireObject
}

/** Sends a document to a provider of its model, and answers with the provider's. */
export const passedOn = async (
  documents: PassedOnParts['documents'],
  kind: JsonCallKind,
  { call, body }: PassedOnRequest,
) => {
  const { answer, headers } = await documents.create(kind, { caller: callerOf(call), body, signal: call.signal })
  const bytes = await encodeJson(answer)
  return { bytes: { contentType: 'application/json; charset=utf-8', bytes, headers } }
}

/** The refusal of `stream` where answers are whole. */
export const notStreamed = (what: string): ServiceError =>
  new ServiceError('bad_request', { param: 'stream', message: `${what} cannot be streamed.` })
