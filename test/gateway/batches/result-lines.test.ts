import { expect, it } from 'vitest'
import { resultLines } from '#gateway/batches/result-lines.ts'
import { ServiceError } from '#specs/errors/errors.ts'

const line = { batch: 'batch_1', number: 0, request: { custom_id: 'a' } }
const error = new ServiceError('rate_limit_exceeded')

it("results have the format of their endpoint's API", () => {
  const [messages, chats] = ['/v1/messages', '/v1/chat/completions'].map(resultLines)
  const shown = [messages, chats].map((lines) =>
    [
      lines?.succeeded(line, { requestId: 'req_1', json: '{"id":"x"}' }),
      lines?.refused(line, 'req_1', error),
      lines?.expired(line),
    ].map((text) => JSON.parse(text ?? '')),
  )
  expect(shown).toMatchObject([
    [
      { custom_id: 'a', result: { type: 'succeeded', message: { id: 'x' } } },
      { custom_id: 'a', result: { type: 'errored', error: { type: 'error', error: { type: 'rate_limit_error' } } } },
      { custom_id: 'a', result: { type: 'expired' } },
    ],
    [
      { custom_id: 'a', response: { status_code: 200, request_id: 'req_1', body: { id: 'x' } }, error: null },
      { custom_id: 'a', response: { status_code: 429, body: { error: { code: 'rate_limit_exceeded' } } } },
      { custom_id: 'a', response: null, error: { code: 'batch_expired' } },
    ],
  ])
})
