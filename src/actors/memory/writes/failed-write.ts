import type { EffectOutcome } from '#runtime/index.ts'
import { errors, type ServiceError } from '#specs/errors/errors.ts'

const exhausted: ReadonlySet<string> = new Set(['memory_quota_exceeded', 'memory_ops_quota_exceeded'])

/** Returns the event of a failed write. Server errors, conflicts and rate limits are retried, a used up quota is not. */
export const failedBy = ({ code, message }: ServiceError): EffectOutcome => {
  const { status } = errors[code]
  const final = exhausted.has(code) || (status < 500 && status !== 429 && status !== 409)
  return { event: { type: 'write_failed', code, message, final } }
}
