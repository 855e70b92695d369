import type { Idempotency } from '#actors/call/call.ts'
import type { BytesResult } from '#actors/call/use-cases.ts'
import { KeptLater } from '#records/idempotent.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { recordedStream } from '../streams/recorded-stream.ts'
import type { Endpoint } from './endpoint.ts'
import type { Exchange } from './exchange.ts'
import { asBytes, asChoice } from './schema.ts'
import type { ServedCall } from './served-call.ts'

/**
 * Runs a call with an Idempotency-Key, and returns its answer in the form that is stored: a stream once it has ended, any
 * other answer at once. Work that may stream goes on when its caller disconnects.
 */
export const kept = (
  exchange: Pick<Exchange, 'watchWork'>,
  { operation, useCase, call }: Pick<Endpoint, 'operation' | 'useCase'> & { readonly call: ServedCall },
  seeded: Idempotency,
): Promise<unknown> => {
  const outlives = operation.answer.kind !== 'json'
  const made = useCase(call.seeded(seeded, outlives)).then((result) => keepable(operation, result))
  if (outlives) exchange.watchWork?.(made)
  return made
}

const keepable = ({ answer }: Operation, result: unknown): unknown => {
  switch (answer.kind) {
    case 'json':
    case 'events':
      return result
    case 'bytes':
      return recorded(asBytes(result), (bytes) => bytes) ?? result
    case 'choice': {
      const { bytes } = asChoice(result)
      return bytes === undefined ? result : (recorded(bytes, (stored) => ({ bytes: stored })) ?? result)
    }
  }
}

const recorded = (result: BytesResult, shaped: (answer: BytesResult) => unknown): KeptLater | null => {
  const stream = recordedStream(result)
  return stream === null ? null : new KeptLater(shaped(stream.result), stream.recorded.then(shaped))
}
