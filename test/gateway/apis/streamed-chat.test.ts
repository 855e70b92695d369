import { describe, expect, it } from 'vitest'
import type { BytesResult } from '#actors/call/use-cases.ts'
import { type StreamForm, streamedChat } from '#gateway/apis/streamed-chat.ts'
import type { ChatCall } from '#gateway/call/chat-calls.ts'
import { type KeepAlive, keptAliveAfter } from '#gateway/call/streaming/pushed-body.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { projectScope } from '#storage/scope.ts'
import { framesIn } from './form-server.ts'
import { responsesWorld } from './responses-world.ts'
import { type Script, ScriptedChat, saying } from './scripted-chat.ts'

const form: StreamForm = {
  headers: [['x-form', 'test']],
  chunk: () => 'chunk\n',
  end: () => 'end\n',
  fail: ({ code }) => `fail ${code}\n`,
}

const callWith = (signal: AbortSignal): ChatCall => ({
  caller: {
    ...{ principal: { kind: 'secret_key', project: 'prj_1', keyId: 'key_1' }, scope: projectScope('prj_1') },
    ...{
      requestId: 'req_1',
      project: 'prj_1',
      tenant: null,
      externalUserId: null,
      keyId: 'key_1',
      agentId: null,
      models: null,
    },
  },
  ...{ operation: 'test', need: 'chat', body: {}, signal },
})

const never = new AbortController().signal

/** Reads a body to its end; with `slow` it pauses after each part. */
const read = ({ bytes }: BytesResult, slow = false) => {
  if (typeof bytes !== 'object' || !('start' in bytes)) throw new Error('it is not pushed')
  const text: string[] = []
  return new Promise<string>((resolve, reject) => {
    const control = bytes.start({
      push: (part) => {
        text.push(String(part))
        if (slow) setImmediate(() => control.resume())
        return !slow
      },
      end: (last) => resolve(text.join('') + String(last ?? '')),
      abort: () => reject(new Error('aborted')),
    })
  })
}

const streamed = (script: Script, signal = never, keepAlive?: KeepAlive) =>
  streamedChat(new ScriptedChat(script), callWith(signal), { form, keepAlive })

describe('a streamed chat', () => {
  it('begins with the provider, and has the headers of the call and of the API', async () => {
    const answer = await streamed({ deltas: saying('a', 'b') })
    expect(answer.headers).toEqual(
      expect.arrayContaining([
        ['x-provider', 'simulated'],
        ['x-form', 'test'],
      ]),
    )
    expect(await read(answer)).toBe('chunk\nchunk\nchunk\nend\n')
  })

  it('is complete for a slow reader', async () => {
    const answer = await streamed({ deltas: saying(...'abcdefgh') })
    expect(await read(answer, true)).toBe(`${'chunk\n'.repeat(9)}end\n`)
  })

  it('is rejected when it fails before its beginning, and contains the error after it', async () => {
    const error = new ServiceError('provider_error')
    await expect(streamed({ error, refused: true })).rejects.toBe(error)
    expect(await read(await streamed({ deltas: saying('a'), error }))).toBe('chunk\nchunk\nfail provider_error\n')
  })

  it('sends a keep-alive comment while the model is silent', async () => {
    const silence = Promise.withResolvers<void>()
    const answer = await streamed({ deltas: saying('a'), after: silence.promise }, never, keptAliveAfter(1))
    silence.resolve()
    expect(await read(answer)).toBe(': keep-alive\n\nchunk\nchunk\nend\n')
  })

  it('contains the error of a refusal after a long silence', async () => {
    const silence = Promise.withResolvers<void>()
    const error = new ServiceError('provider_timeout')
    const answer = await streamed({ error, refused: true, after: silence.promise }, never, keptAliveAfter(1))
    silence.resolve()
    expect(await read(answer)).toBe(': keep-alive\n\nfail provider_timeout\n')
  })

  it('is cancelled when the caller disconnects before its beginning', async () => {
    const aborter = new AbortController()
    const answer = streamed({ after: new Promise(() => {}) }, aborter.signal)
    aborter.abort()
    await expect(answer).rejects.toMatchObject({ code: 'cancelled' })
    await expect(streamed({ after: new Promise(() => {}) }, aborter.signal)).rejects.toMatchObject({
      code: 'cancelled',
    })
  })
})

describe('a streamed response', () => {
  it('begins while the model is silent, and contains a later error', async () => {
    const silence = Promise.withResolvers<void>()
    const error = new ServiceError('provider_timeout')
    const { send, chat } = await responsesWorld([{ error, refused: true, after: silence.promise }], {
      keepAlive: { ...keptAliveAfter(1), ticks: 1 },
    })
    const answer = send('/v1/responses', { model: 'model-1', input: 'hi', stream: true })
    await expect.poll(() => chat.received.length).toBe(1)
    // The first tick of the keep-alive began before this timer and is shorter.
    setTimeout(silence.resolve, 50)
    const { status, text } = await answer
    expect(status).toBe(200)
    expect(text).toMatch(/^: keep-alive\n\n/)
    expect(framesIn(text).map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.failed',
      'error',
    ])
  })
})
