import { RouteHealth } from '../call/pools/route-health.ts'
import { openProviderClients, type ReachOptions } from '../call/provider-clients.ts'
import { authorizeOf } from '../providers/provider-formats.ts'
import { type DocumentParts, JsonCalls } from './json-calls.ts'

/** Dependencies of the module for provider-specific operations. */
export interface OpenDocumentsParts
  extends Pick<
      DocumentParts,
      'routes' | 'admission' | 'redaction' | 'ledger' | 'telemetry' | 'cache' | 'guardrails' | 'now'
    >,
    ReachOptions {}

/** The module for provider-specific operations. */
export interface OpenDocuments {
  readonly calls: JsonCalls
  /** Closes all connections; calls in flight fail. */
  close(): Promise<void>
}

/** Creates the module. No connection is opened before the first request. */
export const openDocuments = (parts: OpenDocumentsParts): OpenDocuments => {
  const reach = openProviderClients({ ...parts, authorizeOf })
  const calls = new JsonCalls({ ...parts, ...reach, health: new RouteHealth(parts.now) })
  return { calls, close: () => reach.upstreams.close() }
}
