const text = { type: 'string' }
const object = (properties: object, required: readonly string[]) => ({ type: 'object', properties, required })

const platform = {
  error: object({ type: text, code: text, message: text, request_id: text, param: { type: ['string', 'null'] } }, [
    'type',
    'code',
    'message',
    'request_id',
    'param',
  ]),
}

const quota = {
  upgradeUrl: text,
  used: { type: 'number' },
  limit: { type: 'number' },
  retryAfterMs: { type: 'number' },
}

/** The shapes that errors have on the wire, by family (src/transport/api/envelopes.ts makes them). */
export const envelopeSchemas = {
  Error_platform: object(platform, ['error']),
  Error_memory: object({ ...platform, ...quota }, ['error']),
  Error_flat: object({ error: text, message: text, param: text, request_id: text }, ['error', 'message']),
  Error_web: object({ error: text, message: text, details: { type: 'object' } }, ['error', 'message', 'details']),
  Error_anthropic: object(
    {
      type: { const: 'error' },
      error: object({ type: text, message: text, code: text, param: { type: ['string', 'null'] } }, [
        'type',
        'message',
      ]),
      request_id: text,
    },
    ['type', 'error', 'request_id'],
  ),
  Error_custom_providers: object({ error: text }, ['error']),
}
