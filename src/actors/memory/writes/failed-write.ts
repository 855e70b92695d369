import type { EffectOutcome } from '#runtime/effects/effects.ts'
import { errors, type ServiceError } from '#specs/errors/errors.ts'

/** Returns the event of a failed write. Server errors, conflicts and rate limits are retried, a full quota is not. */
export const failedBy = ({ code, message }: ServiceError): EffectOutcome => {
  const { status } = errors[code]
  const final = code === 'memory_quota_exceeded' || (status < 500 && status !== 429 && status !== 409)
  return { event: { type: 'write_failed', code, message, final } }
}
