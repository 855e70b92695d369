import type { SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { Ticker, tickMsFor } from '#runtime/ticker.ts'
import { Breaker } from '../call/breaker.ts'
import { type CallPolicy, defaultCallPolicy } from '../call/call-policy.ts'
import { Upstreams } from '../call/upstreams.ts'
import { EmbeddingCalls, type EmbeddingParts } from './embedding-calls.ts'

/** What embeddings are opened with. */
export interface OpenEmbeddingsParts
  extends Pick<EmbeddingParts, 'routes' | 'admission' | 'redaction' | 'ledger' | 'telemetry' | 'now'> {
  readonly guard: Pick<SsrfGuard, 'dispatcher' | 'check'>
  readonly policy?: Partial<CallPolicy>
}

/** Embeddings, put together. */
export interface OpenEmbeddings {
  readonly calls: EmbeddingCalls
  /** Ends all connections; calls in flight fail. */
  close(): Promise<void>
}

/** Opens no connection before the first request. */
export const openEmbeddings = ({ guard, ...parts }: OpenEmbeddingsParts): OpenEmbeddings => {
  const policy = { ...defaultCallPolicy, ...parts.policy }
  const ticker = new Ticker(tickMsFor(Math.min(policy.firstByteTimeoutMs, policy.idleTimeoutMs)))
  const patience = {
    ticker,
    firstByteTicks: ticker.ticks(policy.firstByteTimeoutMs),
    idleTicks: ticker.ticks(policy.idleTimeoutMs),
  }
  const upstreams = new Upstreams(guard, policy, parts.telemetry)
  const calls = new EmbeddingCalls({ ...parts, policy, patience, upstreams, breaker: new Breaker(parts.now) })
  return { calls, close: () => upstreams.close() }
}
