import { described, integer, nullable } from './dsl/schema.ts'

/** The header by which a request says how long its provider may be silent. */
export const timeoutHeader = 'X-Timeout-Ms'

/** What a wait for a provider can be set to. */
export const callTimeout = { minMs: 1000, maxMs: 3_600_000 } as const

const wait = () => nullable(integer({ min: callTimeout.minMs, max: callTimeout.maxMs }))

/** How long a provider may take, in ms; null: as the installation says (`MODEL_FIRST_BYTE_TIMEOUT_S`, `MODEL_IDLE_TIMEOUT_S`; `MODEL_TOTAL_TIMEOUT_S` bounds both). */
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
