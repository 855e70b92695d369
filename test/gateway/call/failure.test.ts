import { describe, expect, it } from 'vitest'
import { retryAfterMs, statusFailure } from '#gateway/call/failure.ts'

const failure = (status: number, body: unknown) =>
  statusFailure({ status, body: typeof body === 'string' ? body : JSON.stringify(body), retryAfter: null }, 0).error

describe('the error of a refused request', () => {
  it.each([
    [
      'OpenAI',
      { error: { message: 'No such voice.', type: 'invalid_request_error', param: 'voice', code: 'bad_voice' } },
    ],
    ['Anthropic', { type: 'error', error: { type: 'invalid_request_error', message: 'No such voice.' } }],
    ['Ollama', { error: 'No such voice.' }],
    ['older versions of vLLM', { object: 'error', message: 'No such voice.', type: 'BadRequestError', code: 400 }],
    ['FastAPI', { detail: [{ type: 'value_error', loc: ['body', 'voice'], msg: 'No such voice.', input: 'x' }] }],
    ['Mistral', { object: 'error', message: { detail: [{ loc: ['body', 'voice'], msg: 'No such voice.' }] } }],
    ['Starlette', { detail: 'No such voice.' }],
    ['ElevenLabs', { detail: { status: 'voice_not_found', message: 'No such voice.' } }],
    ['Deepgram', { err_code: 'Bad Request', err_msg: 'No such voice.', request_id: 'r' }],
  ])('contains the message of %s', (_, body) => {
    const { code, message } = failure(400, body)
    expect(code).toBe('bad_request')
    expect(message).toMatch(/^The provider refused the request.*: No such voice\.$/)
  })

  it('names the field that the provider names', () => {
    expect(failure(400, { error: { message: 'x', param: 'voice' } })).toMatchObject({ param: 'voice' })
    const loc = ['body', 'messages', 0, 'content']
    expect(failure(422, { detail: [{ loc, msg: 'Field required' }] })).toMatchObject({ param: 'messages[0].content' })
  })

  it.each([[''], ['<html>'], ['[]'], ['null'], ['{"detail":[]}'], ['{"detail":[null]}'], ['{"error":null}']])(
    'is generic for the body %j',
    (body) => {
      expect(failure(400, body)).toMatchObject({ code: 'bad_request', message: 'The provider refused the request.' })
    },
  )
})

describe('the delay of retry-after', () => {
  const now = Date.parse('2026-11-21T12:00:00Z')
  it.each([
    ['7', 7_000],
    ['0.5', 500],
    ['Sat, 21 Nov 2026 12:00:30 GMT', 30_000],
    ['Sat, 21 Nov 2026 11:00:00 GMT', 0],
  ])('is read from seconds and dates: %s', (value, ms) => {
    expect(retryAfterMs(value, now)).toBe(ms)
  })

  it.each([null, '', ' ', 'soon', '-1', 'Infinity', 'NaN'])('is unknown for %j', (value) => {
    expect(retryAfterMs(value, now)).toBeUndefined()
  })

  it.each(['1e308', '99999999999', 'Sat, 21 Nov 9999 12:00:00 GMT'])('is at most 31 days: %s', (value) => {
    expect(retryAfterMs(value, now)).toBe(31 * 24 * 3_600_000)
  })
})

describe('a problem of the account at a provider', () => {
  it.each([
    [400, 'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.'],
    [400, 'You have reached your specified API usage limits. You will regain access on 2026-12-01.'],
    [402, 'Insufficient Balance'],
    [401, 'Incorrect API key provided.'],
    [403, 'Your organization is suspended.'],
  ])('is a provider error without details: %i %s', (status, message) => {
    expect(failure(status, { error: { type: 'invalid_request_error', message } })).toMatchObject({
      ...{ code: 'provider_error', message: 'The provider refused the key that is configured for it.' },
    })
  })
})
