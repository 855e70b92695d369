import { Breaker } from '../call/breaker.ts'
import { openReach, type ReachOptions } from '../call/open-reach.ts'
import { EmbeddingCalls, type EmbeddingParts } from './embedding-calls.ts'

/** What embeddings are opened with. */
export interface OpenEmbeddingsParts
  extends Pick<EmbeddingParts, 'routes' | 'admission' | 'redaction' | 'ledger' | 'telemetry' | 'now'>,
    ReachOptions {}

/** Embeddings, put together. */
export interface OpenEmbeddings {
  readonly calls: EmbeddingCalls
  /** Ends all connections; calls in flight fail. */
  close(): Promise<void>
}

/** Opens no connection before the first request. */
export const openEmbeddings = (parts: OpenEmbeddingsParts): OpenEmbeddings => {
  const reach = openReach(parts)
  const calls = new EmbeddingCalls({ ...parts, ...reach, breaker: new Breaker(parts.now) })
  return { calls, close: () => reach.upstreams.close() }
}
