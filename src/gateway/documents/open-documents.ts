import { Breaker } from '../call/breaker.ts'
import { openReach, type ReachOptions } from '../call/open-reach.ts'
import { DocumentCalls, type DocumentParts } from './document-calls.ts'

/** What the calls of providers' own operations are opened with. */
export interface OpenDocumentsParts
  extends Pick<DocumentParts, 'routes' | 'admission' | 'redaction' | 'ledger' | 'telemetry' | 'now'>,
    ReachOptions {}

/** The calls of providers' own operations, put together. */
export interface OpenDocuments {
  readonly calls: DocumentCalls
  /** Ends all connections; calls in flight fail. */
  close(): Promise<void>
}

/** Opens no connection before the first request. */
export const openDocuments = (parts: OpenDocumentsParts): OpenDocuments => {
  const reach = openReach(parts)
  const calls = new DocumentCalls({ ...parts, ...reach, breaker: new Breaker(parts.now) })
  return { calls, close: () => reach.upstreams.close() }
}
