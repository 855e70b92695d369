import { describe, expect, it } from 'vitest'
import type { AnyUseCase } from '#actors/call/use-cases.ts'
import type { EventSink } from '#runtime/messages/event-stream.ts'
import { secretKeyOnly } from '#specs/access.ts'
import { answersEvents, isJsonResponse } from '#specs/dsl/answer.ts'
import { defineOperations } from '#specs/dsl/declare.ts'
import { object } from '#specs/dsl/schema.ts'
import { principals, serve } from './serving.ts'

const access = secretKeyOnly
const things = defineOperations('things', {
  get: { summary: '', method: 'GET', path: '/v1/things/{thing_id}', access, answer: isJsonResponse(object({})) },
  run: {
    summary: '',
    method: 'POST',
    path: '/v1/things/{thing_id}/run',
    access,
    answer: answersEvents({}, { title: 'ThingEvent' }),
  },
  follow: {
    summary: '',
    method: 'GET',
    path: '/v1/things/{thing_id}/stream',
    access,
    answer: answersEvents({}, { title: 'ThingEvent', resumable: true }),
  },
})

const as = principals.secret_key

describe('a process that is shutting down', () => {
  it('refuses new streams of any method with Retry-After, and still answers reads', async () => {
    let isDraining = false
    let streams = 0
    const streaming: AnyUseCase = async () => ({
      replayed: false,
      stream: {
        start: (sink: EventSink) => {
          streams++
          sink.end('done')
          return { resume: () => {}, stop: () => {} }
        },
      },
    })
    const useCases = { 'things.get': async () => ({}), 'things.run': streaming, 'things.follow': streaming }
    const { send } = serve(Object.values(things), useCases, { parts: { isDraining: () => isDraining } })
    const requests = [
      { target: '/v1/things/1/stream', as },
      { method: 'POST', target: '/v1/things/1/run', as },
    ]
    for (const request of requests) expect((await send(request)).status).toBe(200)
    isDraining = true
    for (const request of requests) {
      expect(await send(request)).toMatchObject({
        status: 503,
        headers: { 'retry-after': '1' },
        json: { error: { code: 'shutting_down' } },
      })
    }
    expect(streams).toBe(2)
    expect((await send({ target: '/v1/things/1', as })).status).toBe(200)
  })
})
