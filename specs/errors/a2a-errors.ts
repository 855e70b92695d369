import type { ServiceError } from './errors.ts'
import { errorInfo, rpcStatus } from './google-errors.ts'
import { statusIn } from './wire-errors.ts'

/** Codes of A2A's errors in JSON-RPC, by their reasons. */
const rpcCodes: Readonly<Record<string, number>> = {
  MALFORMED_JSON: -32700,
  METHOD_NOT_FOUND: -32601,
  INVALID_PARAMS: -32602,
  TASK_NOT_FOUND: -32001,
  TASK_NOT_CANCELABLE: -32002,
  PUSH_NOTIFICATION_NOT_SUPPORTED: -32003,
  UNSUPPORTED_OPERATION: -32004,
  CONTENT_TYPE_NOT_SUPPORTED: -32005,
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: -32007,
  VERSION_NOT_SUPPORTED: -32009,
}
const internalError = -32603

/** Returns an error as A2A's HTTP binding answers it: a google.rpc.Status. */
export const a2aError = (error: ServiceError, requestId: string) =>
  rpcStatus(statusIn('a2a', error.code), error.message, infoOf(error, requestId))

/** Returns an error as A2A's JSON-RPC binding answers it. */
export const a2aRpcError = (error: ServiceError, requestId: string, id: string | number | null = null) => {
  const info = infoOf(error, requestId)
  const code = rpcCodes[info.reason] ?? internalError
  return { jsonrpc: '2.0' as const, id, error: { code, message: error.message, data: [info] } }
}

const infoOf = (error: ServiceError, requestId: string) =>
  errorInfo(error, { requestId, reason: reasonOf(error), domain: 'a2a-protocol.org' })

const reasonOf = (error: ServiceError): string => {
  const { code, details } = error
  const reason = details.extra?.reason
  if (typeof reason === 'string') return reason
  if (code === 'not_found' && /task|run_id/i.test(details.param ?? '')) return 'TASK_NOT_FOUND'
  return statusIn('a2a', code) === 400 && code !== 'malformed_json' ? 'INVALID_PARAMS' : code.toUpperCase()
}
