import type { CallPolicy } from './call-policy.ts'

/** Timeouts in ms for silence of a provider; null: inherited from the less specific setting. */
export interface ProviderTimeouts {
  readonly firstByteMs: number | null
  readonly idleMs: number | null
}

/** No timeouts of its own. */
const usual: ProviderTimeouts = { firstByteMs: null, idleMs: null }

/**
 * Returns a policy with the timeouts of a route and a request applied. The timeout of the request replaces both and
 * takes precedence over those of the connection, which take precedence over those of the installation. Returns the same
 * object when nothing differs.
 *
 * @param timeoutMs of the request; undefined for none.
 */
export const policyFor = <P extends Pick<CallPolicy, 'firstByteTimeoutMs' | 'idleTimeoutMs'>>(
  policy: P,
  waits: ProviderTimeouts = usual,
  timeoutMs?: number,
): P => {
  const firstByteTimeoutMs = timeoutMs ?? waits.firstByteMs ?? policy.firstByteTimeoutMs
  const idleTimeoutMs = timeoutMs ?? waits.idleMs ?? policy.idleTimeoutMs
  if (firstByteTimeoutMs === policy.firstByteTimeoutMs && idleTimeoutMs === policy.idleTimeoutMs) return policy
  return { ...policy, firstByteTimeoutMs, idleTimeoutMs }
}

/** The timeouts in a row of a connection or a custom provider; undefined for none. */
export const timeoutsOf = ({
  first_byte_timeout_ms = null,
  idle_timeout_ms = null,
}: StoredTimeouts): ProviderTimeouts | undefined =>
  first_byte_timeout_ms === null && idle_timeout_ms === null
    ? undefined
    : { firstByteMs: first_byte_timeout_ms, idleMs: idle_timeout_ms }

/** The timeouts as stored in rows; the fields are absent in older rows. */
export type StoredTimeouts = {
  readonly first_byte_timeout_ms?: number | null
  readonly idle_timeout_ms?: number | null
}
