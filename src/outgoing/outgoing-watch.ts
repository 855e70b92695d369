import type { Dispatcher } from 'undici'

/** Purpose of a request to a host that a customer chooses. Model calls have their own metrics. */
export type OutgoingKind =
  | 'http_tool'
  | 'connection_tool'
  | 'connection_test'
  | 'oauth'
  | 'openapi'
  | 'mcp'
  | 'webhook'
  | 'guardrail'
  | 'web_page'
  | 'web_search'
  | 'knowledge_source'
  | 'skill'
  | 'image'
  | 'browser'

/** Reason why a response was not read to its end. `cut`: it was longer than the limit, or the rest was not needed. */
type UnreadReason = 'cut' | 'broken' | 'timeout' | 'cancelled'

/** Observer of outgoing requests; never waits or throws. */
export interface OutgoingWatch {
  /** Called when the head of the response has arrived or the request has failed, after `ms`. */
  readonly requested: (kind: OutgoingKind, outcome: string, ms: number) => void
  readonly unread: (kind: OutgoingKind, reason: UnreadReason) => void
}

/** A request being observed, with its abort signal. */
interface Watched {
  readonly kind: OutgoingKind
  readonly signal?: AbortSignal | undefined
}

/** Makes a request and reports its outcome to `watch`. @throws errors of `request` */
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

/** Returns why the body was not read to its end; null if it ended without an error. */
const unreadReason = (error: Error | null, { signal }: Watched): UnreadReason | null => {
  if (error === null) return null
  if (signal?.aborted === true) return endOf(signal)
  return Object(error).code === 'UND_ERR_ABORTED' ? 'cut' : 'broken'
}

const endOf = ({ reason }: AbortSignal): 'timeout' | 'cancelled' =>
  Object(reason).name === 'TimeoutError' ? 'timeout' : 'cancelled'
