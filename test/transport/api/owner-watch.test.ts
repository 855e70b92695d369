import { describe, expect, it } from 'vitest'
import type { ByteSink, Call } from '#actors/call/call.ts'
import type { AnyUseCases } from '#actors/call/use-cases.ts'
import { Ticker } from '#runtime/ticker.ts'
import { secretKeyOnly } from '#specs/access.ts'
import { answersBytes, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { object, optional, string } from '#specs/dsl/schema.ts'
import { type ErrorCode, ServiceError } from '#specs/errors/errors.ts'
import type { StreamTicker } from '#transport/streams/credential-watch.ts'
import { principals, type Sent, serve } from './serving.ts'

const thing = object({ name: optional(string()) })
const works = defineOperations('works', {
  whole: {
    ...{ summary: '', method: 'POST', path: '/v1/works', access: secretKeyOnly, attributed: true },
    ...{ body: thing, answer: isJsonResponse(thing) },
  },
  streamed: {
    ...{ summary: '', method: 'POST', path: '/v1/works/stream', access: secretKeyOnly, attributed: true },
    ...{ body: thing, answer: answersBytes('text/plain') },
  },
  kept: {
    ...{ summary: '', method: 'POST', path: '/v1/works/kept', access: secretKeyOnly, attributed: true },
    ...{ body: thing, answer: answersBytes('text/plain'), idempotency: 'stored' as const },
  },
})

/** Work that waits until it is stopped, and what is being deleted. */
const open = () => {
  const ticks: (() => void)[] = []
  const ticker: StreamTicker = new Ticker(1000, (_ms, tick) => {
    ticks.push(tick)
    return () => {}
  })
  const begun = Promise.withResolvers<void>()
  const stopped: string[] = []
  const source: { end: () => void } = { end: () => {} }
  const deleting: { code: ErrorCode | null } = { code: null }
  const remains = async () => {
    if (deleting.code !== null) throw new ServiceError(deleting.code)
  }
  const useCases: AnyUseCases = {
    'works.whole': ({ signal }: Call<unknown, unknown, unknown>) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          stopped.push('whole')
          reject(new ServiceError('cancelled'))
        })
        begun.resolve()
      }),
    'works.streamed': async () => ({
      contentType: 'text/plain',
      bytes: {
        start: (sink: { push: (part: string) => boolean }) => {
          sink.push('some of it')
          begun.resolve()
          return { resume: () => {}, stop: () => stopped.push('streamed') }
        },
      },
    }),
    'works.kept': async ({ signal }: Call<unknown, unknown, unknown>) => ({
      contentType: 'text/plain',
      bytes: {
        start: (sink: ByteSink) => {
          signal.addEventListener('abort', () => {
            stopped.push('kept')
            sink.abort()
          })
          source.end = () => sink.end('all of it')
          begun.resolve()
          return { resume: () => {}, stop: () => {} }
        },
      },
    }),
  }
  const tenants = { admit: () => {}, admitUser: () => {}, check: () => {}, remains }
  const { send } = serve(Object.values(works), useCases, { parts: { ticker, tenants } })
  const begin = (target: string, headers: Sent['headers'] = { 'x-tenant-id': 'ten_1' }, gone?: Promise<void>) =>
    send({ method: 'POST', target, as: principals.secret_key, body: {}, headers, ...(gone && { gone }) })
  /** Begins work that goes on when its peer disconnects, which it does. */
  const left = async () => {
    const gone = Promise.withResolvers<void>()
    void begin('/v1/works/kept', { 'x-tenant-id': 'ten_1', 'idempotency-key': 'one' }, gone.promise)
    await begun.promise
    gone.resolve()
    await new Promise(setImmediate)
  }
  return { begin, left, begun: begun.promise, source, stopped, deleting, ticker, seconds: () => ticks.at(-1)?.() }
}

describe('a request in progress', () => {
  it.each([
    ['', {}],
    [' and outlives its peer', { 'idempotency-key': 'one' }],
  ])('that names a tenant%s ends when the tenant is being deleted', async (_, headers) => {
    const { begin, begun, stopped, deleting, ticker } = open()
    const answer = begin('/v1/works', { 'x-tenant-id': 'ten_1', ...headers })
    await begun
    deleting.code = 'tenant_suspended'
    for (const watched of ticker.members) watched.recheck()
    await Promise.resolve()
    expect(stopped).toEqual([])
    deleting.code = 'tenant_deleting'
    for (const watched of ticker.members) watched.recheck()
    expect(await answer).toMatchObject({ status: 403, json: { error: { code: 'tenant_deleting' } } })
    expect(stopped).toEqual(['whole'])
    expect(ticker.members).toEqual([])
  })

  it('is broken off if its answer has begun, also without a notice', async () => {
    const { begin, begun, stopped, deleting, seconds } = open()
    const answer = begin('/v1/works/stream')
    await begun
    deleting.code = 'not_found'
    for (let second = 0; second < 3; second += 1) seconds()
    expect(await answer).toMatchObject({ status: 200, text: 'some of it<broken off>' })
    expect(stopped).toEqual(['streamed'])
  })

  it('that goes on without its peer ends when the tenant is being deleted', async () => {
    const { left, stopped, deleting, ticker } = open()
    await left()
    deleting.code = 'tenant_deleting'
    for (const watched of ticker.members) watched.recheck()
    await expect.poll(() => stopped).toEqual(['kept'])
    expect(ticker.members).toEqual([])
  })

  it('that goes on without its peer is watched until it ends', async () => {
    const { left, source, ticker } = open()
    await left()
    expect(ticker.members.length).toBe(1)
    source.end()
    await expect.poll(() => ticker.members).toEqual([])
  })

  it('whose peer has left before it began is not watched for ever', async () => {
    const { begin, begun, ticker } = open()
    void begin('/v1/works/stream', { 'x-tenant-id': 'ten_1' }, Promise.resolve())
    await begun
    await new Promise(setImmediate)
    expect(ticker.members).toEqual([])
  })

  it('that names no tenant is not watched', async () => {
    const { begin, begun, ticker } = open()
    void begin('/v1/works', {})
    await begun
    expect(ticker.members).toEqual([])
  })
})
