import type { BytesResult } from '#actors/call/use-cases.ts'
import { KeptLater } from '#records/idempotent.ts'
import type { Operation } from '#specs/dsl/declare.ts'
import { recordedStream } from '../streams/recorded-stream.ts'
import { asBytes, asChoice } from './schema.ts'

/**
 * An answer in the form that is stored for an Idempotency-Key: a stream once it has ended, any other answer at once.
 */
export const keepable = ({ answer }: Operation, result: unknown): unknown => {
  switch (answer.kind) {
    case 'json':
    case 'events':
      return result
    case 'bytes':
      return recorded(asBytes(result), (bytes) => bytes) ?? result
    case 'choice': {
      const { bytes } = asChoice(result)
      return bytes === undefined ? result : (recorded(bytes, (kept) => ({ bytes: kept })) ?? result)
    }
  }
}

const recorded = (result: BytesResult, shaped: (answer: BytesResult) => unknown): KeptLater | null => {
  const stream = recordedStream(result)
  return stream === null ? null : new KeptLater(shaped(stream.result), stream.recorded.then(shaped))
}
