import type { Onward } from './call-run.ts'
import type { AttemptFailed } from './failure.ts'
import type { ModelErrorCode } from './provider-port.ts'

/** What another model may take although this one did not. */
const otherModelMay: ReadonlySet<ModelErrorCode> = new Set(['context_length_exceeded', 'content_policy_violation'])

/** What no other provider would take either, and what is for us to mend. */
const final: ReadonlySet<ModelErrorCode> = new Set(['bad_request', 'cancelled', 'overloaded'])

/** Where a call to any of several models goes on after a failure. */
export const onwardAfter = ({ error: { code } }: AttemptFailed): Onward => {
  if (final.has(code)) return 'nowhere'
  return otherModelMay.has(code) ? 'other_model' : 'other_way'
}
