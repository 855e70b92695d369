import type { CallPolicy } from './call-policy.ts'

/** How long a provider may be silent, in ms; null: as whatever is less specific says. */
export interface Waits {
  readonly firstByteMs: number | null
  readonly idleMs: number | null
}

/** Nothing of its own. */
const usual: Waits = { firstByteMs: null, idleMs: null }

/**
 * What of a policy a route and a request say otherwise: a request's limit stands for both waits, before those of its
 * connection, before those of the installation. The same object where neither says anything.
 *
 * @param timeoutMs the request's; undefined for none.
 */
export const policyFor = <P extends Pick<CallPolicy, 'firstByteTimeoutMs' | 'idleTimeoutMs'>>(
  policy: P,
  waits: Waits = usual,
  timeoutMs?: number,
): P => {
  const firstByteTimeoutMs = timeoutMs ?? waits.firstByteMs ?? policy.firstByteTimeoutMs
  const idleTimeoutMs = timeoutMs ?? waits.idleMs ?? policy.idleTimeoutMs
  if (firstByteTimeoutMs === policy.firstByteTimeoutMs && idleTimeoutMs === policy.idleTimeoutMs) return policy
  return { ...policy, firstByteTimeoutMs, idleTimeoutMs }
}

/** The waits that a row of a connection or a custom provider says; undefined for none. */
export const waitsOf = ({ first_byte_timeout_ms = null, idle_timeout_ms = null }: KeptWaits): Waits | undefined =>
  first_byte_timeout_ms === null && idle_timeout_ms === null
    ? undefined
    : { firstByteMs: first_byte_timeout_ms, idleMs: idle_timeout_ms }

/** As rows keep them; absent in those that were written before. */
export type KeptWaits = { readonly first_byte_timeout_ms?: number | null; readonly idle_timeout_ms?: number | null }
