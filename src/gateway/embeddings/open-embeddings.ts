import { RouteHealth } from '../call/pools/route-health.ts'
import { openProviderClients, type ReachOptions } from '../call/provider-clients.ts'
import { authorizeOf } from '../providers/provider-formats.ts'
import { EmbeddingCalls, type EmbeddingParts } from './embedding-calls.ts'

/** Dependencies of the embeddings module. */
export interface OpenEmbeddingsParts
  extends Pick<
      EmbeddingParts,
      'routes' | 'admission' | 'redaction' | 'ledger' | 'telemetry' | 'cache' | 'guardrails' | 'now'
    >,
    ReachOptions {}

/** The embeddings module. */
export interface OpenEmbeddings {
  readonly calls: EmbeddingCalls
  /** Closes all connections; calls in flight fail. */
  close(): Promise<void>
}

/** Creates the embeddings module. No connection is opened before the first request. */
export const openEmbeddings = (parts: OpenEmbeddingsParts): OpenEmbeddings => {
  const reach = openProviderClients({ ...parts, authorizeOf })
  const calls = new EmbeddingCalls({ ...parts, ...reach, health: new RouteHealth(parts.now) })
  return { calls, close: () => reach.upstreams.close() }
}
