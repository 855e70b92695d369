import { describe, expect, it } from 'vitest'
import { arrayOf, objectOf } from '#outgoing/wire.ts'
import { responsesWorld } from './responses-world.ts'
import { saying } from './scripted-chat.ts'

const body = { model: 'model-1', input: 'Where do I live?', memory: { userId: 'ada' } }

describe('the memory of a response', () => {
  it.each([
    ['whole', {}],
    ['streamed', { stream: true }],
  ])('is read before the input and written after a %s answer, as the headers state', async (_, more) => {
    const { chat, memory, send } = await responsesWorld([{ deltas: saying('In', ' Oslo.') }])
    memory.known = ['The user lives in Oslo.']
    const { headers } = await send('/v1/responses', { ...body, ...more })
    expect(arrayOf(chat.last?.messages).map((message) => objectOf(message).role)).toEqual(['system', 'user'])
    expect(headers['x-service-memory-retrieved']).toBe('1')
    expect(memory.started).toMatchObject([
      {
        message: {
          requestId: headers['x-service-memory-write-request'],
          input: { exchange: { user: 'Where do I live?', assistant: 'In Oslo.' }, source: 'response' },
        },
      },
    ])
  })

  it('stores the input of the caller only', async () => {
    const { memory, send, openai } = await responsesWorld([{ deltas: saying('In Oslo.') }])
    memory.known = ['The user lives in Oslo.']
    const { json } = await send('/v1/responses', body)
    const { data } = await openai.responses.inputItems.list(String(objectOf(json).id))
    expect(JSON.stringify(data)).not.toContain('recalled')
    expect(data).toHaveLength(1)
  })
})
