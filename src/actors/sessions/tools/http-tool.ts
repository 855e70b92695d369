import type { Dispatcher } from 'undici'
import { boundedBody } from '#outgoing/bounded-body.ts'
import { RedirectFailed, type SsrfGuard, SsrfRefused } from '#outgoing/ssrf-guard.ts'
import { webhookHeaders } from '#outgoing/webhook-signature.ts'
import type { JsonObject } from '#storage/index.ts'

/** A tool that the server runs by calling a URL (`type: 'http'` in the tools of a turn or agent). */
export interface HttpTool {
  readonly name: string
  readonly url: string
  readonly method?: 'POST' | 'PUT' | 'PATCH'
  readonly headers?: Readonly<Record<string, string>>
  /** Time limit in ms, from the start of the call to the end of the response. */
  readonly timeoutMs?: number
}

/** One call of a tool: the arguments from the model, and the session or run it belongs to. */
export interface HttpToolCall {
  readonly actionId: string
  readonly arguments: JsonObject
  /** Null for an action that belongs to no session or run. */
  readonly owner: { readonly sessionId: string } | { readonly runId: string } | null
}

/** Context of a call: the key that makes retries idempotent, the project's signing secret, the SSRF guard. */
export interface HttpToolContext {
  /** The effect's id; also sent as `webhook-id`. */
  readonly idempotencyKey: string
  /** Standard Webhooks secrets of the project (`whsec_…`). The request is signed with each of them. */
  readonly secret: string | readonly string[]
  readonly guard: SsrfGuard
  readonly signal: AbortSignal
  /** Returns ms since the epoch; `Date.now` by default. */
  readonly now?: () => number
}

/** Why a tool returned no output. The message is for the model and the log; it quotes nothing of the response. */
type HttpToolErrorCode =
  | 'tool_url_refused'
  | 'tool_unreachable'
  | 'tool_timeout'
  | 'tool_http_error'
  | 'tool_answer_too_large'
  | 'tool_answer_unreadable'
  | 'cancelled'

/** A tool's output as text (JSON stays JSON text), or the reason why there is none. */
export type HttpToolResult =
  | { readonly ok: true; readonly output: string }
  | {
      readonly ok: false
      readonly code: HttpToolErrorCode
      readonly message: string
      /** Whether the request may have reached the tool: false only when it certainly did not. */
      readonly reached: boolean
      readonly status?: number
    }

/** Largest response of a tool. */
export const maxToolAnswerBytes = 64 * 1024

/** Time limit of a call without `timeoutMs`, in ms. */
export const defaultTimeoutMs = 30_000
const maxRedirects = 3

/** Headers set by the call itself; a tool's own headers cannot replace them. */
const reserved = new Set([
  'content-type',
  'content-length',
  'host',
  'connection',
  'transfer-encoding',
  'idempotency-key',
  'webhook-id',
  'webhook-timestamp',
  'webhook-signature',
])

/**
 * Calls the tool once. Retries are decided by the policy of the effect, not here.
 * Never throws: every failure is a result that the model reads.
 */
export async function runHttpTool(
  tool: HttpTool,
  call: HttpToolCall,
  context: HttpToolContext,
): Promise<HttpToolResult> {
  const timeoutMs = tool.timeoutMs ?? defaultTimeoutMs
  const limit = AbortSignal.timeout(timeoutMs)
  const signal = AbortSignal.any([limit, context.signal])
  let reached = false
  try {
    if (context.signal.aborted) return failed('cancelled', 'The call was cancelled.', false)
    const answer = await send(tool, call, { context, signal })
    reached = true
    return await read(answer)
  } catch (error) {
    if (error instanceof SsrfRefused)
      return failed('tool_url_refused', `The tool's URL was refused: ${error.message}.`, false)
    if (error instanceof RedirectFailed) return failed('tool_url_refused', "The tool's redirect was refused.", true)
    if (context.signal.aborted) return failed('cancelled', 'The call was cancelled.', true)
    if (limit.aborted) return failed('tool_timeout', `The tool did not respond within ${timeoutMs} ms.`, true)
    return reached
      ? failed('tool_answer_unreadable', 'The tool closed the connection before its response was complete.', true)
      : failed('tool_unreachable', 'The tool cannot be reached.', !isConnectError(error))
  }
}

async function send(
  tool: HttpTool,
  call: HttpToolCall,
  { context, signal }: { readonly context: HttpToolContext; readonly signal: AbortSignal },
): Promise<Dispatcher.ResponseData> {
  const { owner, actionId } = call
  const body = JSON.stringify({ tool: tool.name, arguments: call.arguments, action_id: actionId, ...wireOwner(owner) })
  const timestampS = Math.floor((context.now?.() ?? Date.now()) / 1000)
  const own = ownHeaders(tool)
  const headers = {
    ...own,
    'content-type': 'application/json',
    accept: 'application/json, text/*;q=0.9',
    'idempotency-key': context.idempotencyKey,
    ...webhookHeaders(context.secret, { id: context.idempotencyKey, timestampS, body }),
  }
  const method = tool.method ?? 'POST'
  const credentials = Object.keys(own)
  return await context.guard.request(tool.url, {
    kind: 'http_tool',
    method,
    headers,
    credentials,
    body,
    signal,
    maxRedirects,
  })
}

function wireOwner(owner: HttpToolCall['owner']): Readonly<Record<string, string>> {
  if (owner === null) return {}
  return 'sessionId' in owner ? { session_id: owner.sessionId } : { run_id: owner.runId }
}

function ownHeaders(tool: HttpTool): Record<string, string> {
  const entries = Object.entries(tool.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value] as const)
  return Object.fromEntries(entries.filter(([name]) => !reserved.has(name)))
}

async function read(answer: Dispatcher.ResponseData): Promise<HttpToolResult> {
  const status = answer.statusCode
  if (status < 200 || status > 299) {
    answer.body.destroy()
    return { ...failed('tool_http_error', `The tool answered with status ${status}.`, true), status }
  }
  const type = String(answer.headers['content-type'] ?? 'text/plain')
  if (!/^(text\/|application\/([\w.-]+\+)?json)/i.test(type)) {
    answer.body.destroy()
    return failed('tool_answer_unreadable', 'The tool answered with something other than JSON or text.', true)
  }
  const { bytes, isCut } = await boundedBody(answer.body, { maxBytes: maxToolAnswerBytes })
  if (isCut) {
    return failed('tool_answer_too_large', `The tool's answer is larger than ${maxToolAnswerBytes} bytes.`, true)
  }
  return decoded(bytes, /json/i.test(type))
}

function decoded(bytes: Buffer, json: boolean): HttpToolResult {
  try {
    const output = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (json && output !== '') JSON.parse(output)
    return { ok: true, output }
  } catch {
    return failed('tool_answer_unreadable', 'The tool answered with malformed JSON or text.', true)
  }
}

function failed(code: HttpToolErrorCode, message: string, reached: boolean): Extract<HttpToolResult, { ok: false }> {
  return { ok: false, code, message, reached }
}

/** Whether the connection itself failed, so that nothing was sent. */
function isConnectError(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'].includes(
    String(code),
  )
}
