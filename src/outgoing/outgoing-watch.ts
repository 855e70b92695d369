import type { Dispatcher } from 'undici'

/** What a request to a host that a customer names is made for. Models have metrics of their own. */
export type OutgoingKind =
  | 'http_tool'
  | 'connection_tool'
  | 'connection_test'
  | 'oauth'
  | 'openapi'
  | 'mcp'
  | 'webhook'
  | 'web_page'
  | 'web_search'
  | 'knowledge_source'
  | 'skill'
  | 'image'
  | 'browser'

/** Why a response was not read to its end. `cut`: it was longer than is read, or its rest of no interest. */
export type UnreadReason = 'cut' | 'broken' | 'timeout' | 'cancelled'

/** Is notified of outgoing requests; never waits or throws. */
export interface OutgoingWatch {
  /** The head of the response is there, or the request has failed: after so many ms. */
  readonly requested: (kind: OutgoingKind, outcome: string, ms: number) => void
  readonly unread: (kind: OutgoingKind, reason: UnreadReason) => void
}

/** Which request it is, and what ends it from outside. */
interface Watched {
  readonly kind: OutgoingKind
  readonly signal?: AbortSignal | undefined
}

/** Makes a request and notifies `watch` of what comes of it. @throws what `request` throws */
export const watchedRequest = async (
  watch: OutgoingWatch | undefined,
  of: Watched,
  request: () => Promise<Dispatcher.ResponseData>,
): Promise<Dispatcher.ResponseData> => {
  const answer = await watched(watch, { kind: of.kind, signal: of.signal, outcomeOf }, request)
  const { body } = answer
  body.once('close', () => {
    const reason = unreadReason(body.errored, of)
    if (reason !== null && !body.readableEnded) watch?.unread(of.kind, reason)
  })
  return answer
}

/** The same for a connection. */
export const watchedConnect = async <T>(watch: OutgoingWatch | undefined, connect: () => Promise<T>): Promise<T> =>
  watched(watch, { kind: 'browser', outcomeOf: () => 'connected' }, connect)

const outcomeOf = ({ statusCode }: Dispatcher.ResponseData): string => `${Math.floor(statusCode / 100)}xx`

const watched = async <T>(
  watch: OutgoingWatch | undefined,
  of: Watched & { readonly outcomeOf: (result: T) => string },
  work: () => Promise<T>,
): Promise<T> => {
  const from = performance.now()
  const ended = (outcome: string): void => watch?.requested(of.kind, outcome, performance.now() - from)
  try {
    const result = await work()
    ended(of.outcomeOf(result))
    return result
  } catch (error) {
    ended(failureOf(error, of))
    throw error
  }
}

const failureOf = (error: unknown, { signal }: Watched): string => {
  const { name, code, cause } = Object(error)
  if (name === 'SsrfRefused' || Object(cause).name === 'SsrfRefused') return 'refused'
  if (signal?.aborted === true) return endOf(signal)
  if (name === 'RedirectFailed') return 'redirect_failed'
  return code === 'UND_ERR_CONNECT_TIMEOUT' ? 'timeout' : 'unreachable'
}

/** null: nothing is left. */
const unreadReason = (error: Error | null, { signal }: Watched): UnreadReason | null => {
  if (error === null) return null
  if (signal?.aborted === true) return endOf(signal)
  return Object(error).code === 'UND_ERR_ABORTED' ? 'cut' : 'broken'
}

const endOf = ({ reason }: AbortSignal): 'timeout' | 'cancelled' =>
  Object(reason).name === 'TimeoutError' ? 'timeout' : 'cancelled'
