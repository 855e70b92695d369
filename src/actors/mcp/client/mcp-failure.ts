import type { AuthChallenge } from '#actors/capability/connection-service.ts'
import { AnswerRefused } from '#outgoing/guarded-fetch.ts'
import { addressNotAllowed, RedirectFailed, SsrfRefused } from '#outgoing/ssrf-guard.ts'

/** Thrown when a server did not do what was requested. The message contains no text from the server. */
export class McpFailure extends Error {
  override readonly name = 'McpFailure'
  readonly code: McpFailureCode
  /** Whether retrying is pointless until something is changed. */
  readonly isFinal: boolean
  /** What the server demanded when it refused the credentials; null for any other failure. */
  readonly challenge: McpChallenge | null
  /** Id of the connection whose owner has to sign in first; null for any other failure. */
  readonly connectionId: string | null

  constructor(code: McpFailureCode, message: string, options: McpFailureOptions = {}) {
    super(message, { cause: options.cause })
    this.code = code
    this.isFinal = options.isFinal ?? false
    this.challenge = options.challenge ?? null
    this.connectionId = options.connectionId ?? null
  }
}

/** Refusal of credentials, as its `WWW-Authenticate` header describes it. */
export interface McpChallenge extends AuthChallenge {
  /** Whether the credentials are valid but lack `scopes`. */
  readonly needsScopes: boolean
}

interface McpFailureOptions {
  readonly isFinal?: boolean
  readonly cause?: unknown
  readonly challenge?: McpChallenge | null
  readonly connectionId?: string
}

/** Failure codes, as in the server's status and the output of a call. */
export type McpFailureCode =
  | 'url_refused'
  | 'redirect_refused'
  | 'unauthorized'
  | 'insufficient_scope'
  | 'connection_required'
  | 'http_error'
  | 'timeout'
  | 'answer_too_large'
  | 'bad_answer'
  | 'unreachable'
  | 'too_many_tools'
  | 'request_refused'
  | 'cancelled'

/**
 * Converts an error of the protocol library, the guard or a socket to a failure.
 *
 * @param challenge of the newest response that refused the credentials, if any.
 */
export const failureOf = (
  error: unknown,
  { timeoutMs, challenge = null }: { readonly timeoutMs: number; readonly challenge?: McpChallenge | null },
): McpFailure => {
  const causes = causesOf(error)
  const known = causes.find((each) => each instanceof McpFailure)
  if (known !== undefined) return known
  if (causes.some((each) => each instanceof SsrfRefused))
    return new McpFailure('url_refused', addressNotAllowed, {
      isFinal: true,
      cause: error,
    })
  if (causes.some((each) => each instanceof RedirectFailed))
    return new McpFailure('redirect_refused', 'The server redirects; redirects are not followed.', {
      isFinal: true,
      cause: error,
    })
  if (causes.some((each) => each instanceof AnswerRefused))
    return new McpFailure('answer_too_large', 'The response of the server is too large or too deeply nested.', {
      isFinal: true,
      cause: error,
    })
  const status = statusOf(causes)
  if (status === 401 || status === 403)
    return challenge?.needsScopes === true
      ? new McpFailure('insufficient_scope', 'The server requires further permissions.', {
          ...{ isFinal: true, cause: error, challenge },
        })
      : new McpFailure('unauthorized', `The server refuses the credentials (${status}).`, {
          ...{ isFinal: true, cause: error, challenge },
        })
  if (status !== null)
    return new McpFailure('http_error', `The server responded with status ${status}.`, { cause: error })
  const refused = rpcCodeOf(causes)
  if (refused !== null)
    return new McpFailure('request_refused', `The server refuses the request (${refused}).`, { cause: error })
  if (causes.some(isTimeout))
    return new McpFailure('timeout', `The server did not respond within ${timeoutMs} ms.`, { cause: error })
  if (causes.some(isConnecting)) return new McpFailure('unreachable', 'The server cannot be reached.', { cause: error })
  return new McpFailure('bad_answer', 'The server violates the protocol.', { cause: error })
}

const causesOf = (error: unknown): readonly unknown[] => {
  const causes: unknown[] = []
  for (let at = error; at !== undefined && at !== null && causes.length < 8; ) {
    causes.push(at)
    at = typeof at === 'object' && 'cause' in at ? at.cause : undefined
  }
  return causes
}

const statusOf = (causes: readonly unknown[]): number | null => {
  for (const cause of causes) {
    if (typeof cause !== 'object' || cause === null) continue
    const status = 'status' in cause ? cause.status : 'code' in cause ? cause.code : undefined
    if (typeof status === 'number' && status >= 300 && status < 600) return status
    if (cause instanceof Error && cause.name === 'UnauthorizedError') return 401
    if (cause instanceof Error && cause.name === 'InsufficientScopeError') return 403
  }
  return null
}

/** Returns the code of the server's JSON-RPC error, or the reason of an agent; null when there is none. */
const rpcCodeOf = (causes: readonly unknown[]): number | string | null => {
  const agents = causes.find((cause) => cause instanceof Error && 'reason' in cause)
  if (agents instanceof Error && 'reason' in agents && /^[A-Z_]{1,64}$/.test(String(agents.reason)))
    return String(agents.reason)
  const found = causes.find((cause) => cause instanceof Error && cause.name === 'ProtocolError')
  const code = found instanceof Error && 'code' in found ? found.code : null
  return typeof code === 'number' && Number.isInteger(code) ? code : null
}

const isTimeout = (cause: unknown): boolean =>
  cause instanceof Error &&
  (cause.name === 'TimeoutError' ||
    ('code' in cause && /^(?:REQUEST_TIMEOUT|UND_ERR_\w{0,20}TIMEOUT)$/.test(String(cause.code))))

const connecting = /^(?:E[A-Z]{3,20}|UND_ERR_SOCKET|EAI_AGAIN|CONNECTION_CLOSED|SEND_FAILED|HPE_\w{1,40})$/

const isConnecting = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && connecting.test(String(cause.code))
