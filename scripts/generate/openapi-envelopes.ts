import type { EnvelopeName } from '#specs/dsl/declare.ts'

const text = { type: 'string' }
const textOrNull = { type: ['string', 'null'] }
const object = (description: string, properties: object, required: readonly string[]) => ({
  type: 'object',
  description,
  properties,
  required,
})

const described = (schema: object, description: string): object => ({ ...schema, description })

const code = described(text, 'Stable code of the error. The codes are listed in errors.md.')
const message = described(text, 'Message for developers. Its wording may change.')
const requestId = described(text, 'Value of the header X-Request-Id.')
const param = 'Field, query parameter or header that is wrong.'

const platform = {
  error: object(
    'The error.',
    {
      type: described(text, 'Class of the error.'),
      code,
      message,
      request_id: requestId,
      param: described(textOrNull, param),
    },
    ['type', 'code', 'message', 'request_id', 'param'],
  ),
}

const errorInfo = {
  type: 'object',
  additionalProperties: true,
  description:
    'A google.rpc.ErrorInfo: `reason`, and in `metadata` the code of the error, the request id, and what is wrong.',
}

const quota = {
  upgradeUrl: described(text, 'URL of a page where the quota can be raised.'),
  used: described({ type: 'number' }, 'Amount of the quota that is used.'),
  limit: described({ type: 'number' }, 'Size of the quota.'),
  retryAfterMs: described({ type: 'number' }, 'Milliseconds until the quota resets.'),
}

const rpcStatus = (description: string) =>
  object(
    description,
    {
      error: object(
        'A google.rpc.Status.',
        {
          code: described({ type: 'integer' }, 'Status of the response.'),
          status: described(text, 'Name of the status in google.rpc.'),
          message,
          details: { type: 'array', items: errorInfo },
        },
        ['code', 'status', 'message', 'details'],
      ),
    },
    ['error'],
  )

/** Component of each API family's errors. */
export const envelopeTitles: Readonly<Record<EnvelopeName, string>> = {
  platform: 'PlatformError',
  openai: 'OpenAIError',
  memory: 'QuotaError',
  flat: 'FlatError',
  web: 'WebError',
  anthropic: 'AnthropicError',
  custom_providers: 'CustomProviderError',
  a2a: 'A2aError',
  a2a_rpc: 'A2aRpcError',
  google: 'GoogleError',
}

/** Wire formats of errors, by component (src/transport/api/envelopes.ts creates them). */
export const envelopeSchemas = {
  PlatformError: object('Error envelope of the agent platform.', platform, ['error']),
  OpenAIError: object("Error envelope of OpenAI's APIs.", platform, ['error']),
  QuotaError: object(
    'Error envelope of the agent platform, with the quota that was exceeded.',
    { ...platform, ...quota },
    ['error'],
  ),
  FlatError: object(
    'Error envelope of the voice, vision and chat operations.',
    { error: code, message, param: described(text, param), request_id: requestId },
    ['error', 'message'],
  ),
  WebError: object(
    'Error envelope of the web operations.',
    {
      error: code,
      message,
      details: {
        type: 'object',
        additionalProperties: true,
        description: 'Additional details, such as `param` and `request_id`.',
      },
    },
    ['error', 'message', 'details'],
  ),
  A2aError: rpcStatus('Error envelope of A2A over HTTP.'),
  GoogleError: rpcStatus("Error envelope of Google's Gemini API."),
  A2aRpcError: object(
    'Error envelope of A2A over JSON-RPC.',
    {
      jsonrpc: { type: 'string', const: '2.0' },
      id: described(
        { anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] },
        'Id of the request; null where it is not known.',
      ),
      error: object(
        'The error.',
        {
          code: described({ type: 'integer' }, 'Code of A2A or of JSON-RPC.'),
          message,
          data: { type: 'array', items: errorInfo },
        },
        ['code', 'message', 'data'],
      ),
    },
    ['jsonrpc', 'id', 'error'],
  ),
  AnthropicError: object(
    "Error envelope of Anthropic's API.",
    {
      type: { type: 'string', const: 'error' },
      error: object(
        'The error.',
        {
          type: described(text, 'Class of the error, as Anthropic defines it.'),
          message,
          code,
          param: described(textOrNull, param),
        },
        ['type', 'message'],
      ),
      request_id: requestId,
    },
    ['type', 'error', 'request_id'],
  ),
  CustomProviderError: object('Error envelope of the custom provider operations.', { error: message }, ['error']),
}
