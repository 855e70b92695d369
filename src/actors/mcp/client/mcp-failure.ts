import { AnswerRefused } from '#outgoing/guarded-fetch.ts'
import { addressNotAllowed, RedirectFailed, SsrfRefused } from '#outgoing/ssrf-guard.ts'

/** Thrown when a server did not do what was requested. The message contains no text from the server. */
export class McpFailure extends Error {
  override readonly name = 'McpFailure'
  readonly code: McpFailureCode
  /** Whether retrying is pointless until something is changed. */
  readonly isFinal: boolean

  constructor(
    code: McpFailureCode,
    message: string,
    options: { readonly isFinal?: boolean; readonly cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause })
    this.code = code
    this.isFinal = options.isFinal ?? false
  }
}

/** Failure codes, as in the server's status and the output of a call. */
export type McpFailureCode =
  | 'url_refused'
  | 'redirect_refused'
  | 'unauthorized'
  | 'http_error'
  | 'timeout'
  | 'answer_too_large'
  | 'bad_answer'
  | 'unreachable'
  | 'too_many_tools'
  | 'request_refused'
  | 'cancelled'

/** Converts an error of the protocol library, the guard or a socket to a failure. */
export const failureOf = (error: unknown, timeoutMs: number): McpFailure => {
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
    return new McpFailure('unauthorized', `The server refuses the credentials (${status}).`, {
      isFinal: true,
      cause: error,
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
  }
  return null
}

/** Returns the code of the server's JSON-RPC error; null when there is none. */
const rpcCodeOf = (causes: readonly unknown[]): number | null => {
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
