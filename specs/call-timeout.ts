import { described, integer, nullable } from './dsl/schema.ts'

/** The header by which a request says how long its provider may be silent. */
export const timeoutHeader = 'X-Timeout-Ms'

/** What a wait for a provider can be set to. */
export const callTimeout = { minMs: 1000, maxMs: 3_600_000 } as const

const wait = () => nullable(integer({ min: callTimeout.minMs, max: callTimeout.maxMs }))

/** How long a provider may take, in ms; null: as the installation says (`MODEL_FIRST_BYTE_TIMEOUT_S`, `MODEL_IDLE_TIMEOUT_S`). */
export const waits = {
  first_byte_timeout_ms: described(
    wait(),
    "Most ms before the first byte of an answer. Default: the installation's, 600 s.",
  ),
  idle_timeout_ms: described(wait(), "Most ms of silence inside an answer. Default: the installation's, 120 s."),
}
