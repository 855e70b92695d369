import { errorFrame } from '#gateway/call/refusal.ts'
import { derivedId } from '#runtime/index.ts'
import type { ServiceError } from '#specs/errors/errors.ts'
import { anthropicError, statusIn } from '#specs/errors/wire-errors.ts'
import { messagesEndpoint } from '#specs/resources/gateway/batches.ts'

/** A line of a batch, with its number, starting at 0. */
export interface NamedLine {
  readonly batch: string
  readonly number: number
  readonly request: { readonly custom_id: string }
}

/** What is known of an answer: its request id, and its body as JSON text. */
interface LineBody {
  readonly requestId: string
  readonly json: string
}

/** How results of an endpoint are written into the files of a batch, a line each. */
interface ResultLines {
  succeeded(line: NamedLine, body: LineBody): string
  refused(line: NamedLine, requestId: string, error: ServiceError): string
  /** The line of a request for which the batch had no time. */
  expired(line: NamedLine): string
  /** The line of a request that was not made because the batch was cancelled; absent where such requests have none. */
  cancelled?(line: NamedLine): string
}

const lineId = ({ batch, number }: NamedLine): string => derivedId('batch_req', 0, `${batch}:${number}`)

const answered = (line: NamedLine, status: number, { requestId, json }: LineBody): string =>
  `{"id":${JSON.stringify(lineId(line))},"custom_id":${JSON.stringify(line.request.custom_id)},` +
  `"response":{"status_code":${status},"request_id":${JSON.stringify(requestId)},"body":${json}},"error":null}`

/** The format of OpenAI's batches. */
const openAi: ResultLines = {
  succeeded: (line, body) => answered(line, 200, body),
  refused: (line, requestId, error) =>
    answered(line, statusIn('openai', error.code), { requestId, json: JSON.stringify(errorFrame(error, requestId)) }),
  expired: (line) =>
    JSON.stringify({
      ...{ id: lineId(line), custom_id: line.request.custom_id, response: null },
      error: { code: 'batch_expired', message: 'The completion window ended before the request was made.' },
    }),
}

/** A line of Anthropic's batches. @param more fields of the result as JSON text, after its type */
const messageResult = (custom_id: string, type: string, more = ''): string =>
  `{"custom_id":${JSON.stringify(custom_id)},"result":{"type":"${type}"${more}}}`

/** The format of Anthropic's batches. */
const anthropic: ResultLines = {
  succeeded: ({ request }, { json }) => messageResult(request.custom_id, 'succeeded', `,"message":${json}`),
  refused: ({ request }, requestId, error) =>
    messageResult(request.custom_id, 'errored', `,"error":${JSON.stringify(anthropicError(error, requestId))}`),
  expired: ({ request }) => messageResult(request.custom_id, 'expired'),
  cancelled: ({ request }) => messageResult(request.custom_id, 'canceled'),
}

/** Returns the format of the files of an endpoint. */
export const resultLines = (endpoint: string): ResultLines => (endpoint === messagesEndpoint ? anthropic : openAi)
