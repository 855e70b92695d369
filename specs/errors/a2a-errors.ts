import type { ServiceError } from './errors.ts'
import { statusIn } from './wire-errors.ts'

/** Names of statuses in google.rpc. */
const statusNames: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  409: 'FAILED_PRECONDITION',
  413: 'RESOURCE_EXHAUSTED',
  429: 'RESOURCE_EXHAUSTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
}

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
}
const internalError = -32603

/** Returns an error as A2A's HTTP binding answers it: a google.rpc.Status. */
export const a2aError = (error: ServiceError, requestId: string) => {
  const status = statusIn('a2a', error.code)
  return {
    error: {
      code: status,
      status: statusNames[status] ?? 'INTERNAL',
      message: error.message,
      details: [infoOf(error, requestId)],
    },
  }
}

/** Returns an error as A2A's JSON-RPC binding answers it. */
export const a2aRpcError = (error: ServiceError, requestId: string, id: string | number | null = null) => {
  const info = infoOf(error, requestId)
  const code = rpcCodes[info.reason] ?? internalError
  return { jsonrpc: '2.0' as const, id, error: { code, message: error.message, data: [info] } }
}

/** A google.rpc.ErrorInfo. Its metadata have the code and the place of the error. */
const infoOf = (error: ServiceError, requestId: string) => {
  const { param } = error.details
  return {
    '@type': 'type.googleapis.com/google.rpc.ErrorInfo' as const,
    reason: reasonOf(error),
    domain: 'a2a-protocol.org' as const,
    metadata: { code: error.code, request_id: requestId, ...(param !== undefined && { param }) },
  }
}

const reasonOf = (error: ServiceError): string => {
  const { code, details } = error
  const reason = details.extra?.reason
  if (typeof reason === 'string') return reason
  if (code === 'not_found' && /task|run_id/i.test(details.param ?? '')) return 'TASK_NOT_FOUND'
  return statusIn('a2a', code) === 400 && code !== 'malformed_json' ? 'INVALID_PARAMS' : code.toUpperCase()
}
