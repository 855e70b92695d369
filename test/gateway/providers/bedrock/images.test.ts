import { expect, it } from 'vitest'
import type { Route } from '#gateway/call/routes.ts'
import { bedrock } from '#gateway/providers/bedrock/bedrock-format.ts'

it('an unknown model of an image leaves the call to another route, as that of a chat does', () => {
  const route: Route = {
    ...{ model: 'stability.stable-image-core-v1:1', provider: 'bedrock', format: 'bedrock', apiKey: 'key' },
    ...{ baseUrl: 'https://bedrock-runtime.eu-west-1.amazonaws.com', source: 'byok', connectionId: 'pvc_1' },
  }
  const body = '{"message":"The provided model identifier is invalid."}'
  const failure = bedrock.images?.(route, null)?.failure?.({ status: 400, body, retryAfter: null }, 0)
  expect(failure?.error.code).toBe('model_not_found')
})
