import { described, integer, nullable } from './dsl/schema.ts'

/** Header that sets how long the provider of a request may be silent. */
export const timeoutHeader = 'X-Timeout-Ms'

/** Range of the timeouts for a provider, in ms. */
export const callTimeout = { minMs: 1000, maxMs: 3_600_000 } as const

const wait = () => nullable(integer({ min: callTimeout.minMs, max: callTimeout.maxMs }))

/**
 * Timeouts for a provider in ms; null for those of the installation (`MODEL_FIRST_BYTE_TIMEOUT_S`,
 * `MODEL_IDLE_TIMEOUT_S`). `MODEL_TOTAL_TIMEOUT_S` limits both.
 */
export const waits = {
  first_byte_timeout_ms: described(
    wait(),
    'Timeout in milliseconds until the first byte of an answer. Default: that of the installation, 600,000.',
  ),
  idle_timeout_ms: described(
    wait(),
    'Timeout in milliseconds between bytes of an answer. Default: that of the installation, 120,000.',
  ),
}
