import type { Onward } from './call-run.ts'
import type { AttemptFailed } from './failure.ts'
import type { ModelErrorCode } from './provider-port.ts'

/** Errors after which a different model may still succeed. */
const otherModelMay: ReadonlySet<ModelErrorCode> = new Set(['context_length_exceeded', 'content_policy_violation'])

/**
 * Errors after which no other provider is tried: any of them would refuse the request, or the cause is on this side.
 */
const final: ReadonlySet<ModelErrorCode> = new Set(['bad_request', 'cancelled', 'overloaded'])

/** Returns where a call with several possible models continues after a failure. */
export const onwardAfter = ({ error: { code } }: AttemptFailed): Onward => {
  if (final.has(code)) return 'nowhere'
  return otherModelMay.has(code) ? 'other_model' : 'other_way'
}
