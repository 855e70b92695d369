import { Breaker } from '../call/breaker.ts'
import { openReach, type ReachOptions } from '../call/open-reach.ts'
import { DocumentCalls, type DocumentParts } from './document-calls.ts'

/** Dependencies of the module for provider-specific operations. */
export interface OpenDocumentsParts
  extends Pick<DocumentParts, 'routes' | 'admission' | 'redaction' | 'ledger' | 'telemetry' | 'now'>,
    ReachOptions {}

/** The module for provider-specific operations. */
export interface OpenDocuments {
  readonly calls: DocumentCalls
  /** Closes all connections; calls in flight fail. */
  close(): Promise<void>
}

/** Creates the module. No connection is opened before the first request. */
export const openDocuments = (parts: OpenDocumentsParts): OpenDocuments => {
  const reach = openReach(parts)
  const calls = new DocumentCalls({ ...parts, ...reach, breaker: new Breaker(parts.now) })
  return { calls, close: () => reach.upstreams.close() }
}
