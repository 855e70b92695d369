import { describe, expect, it } from 'vitest'
import { arrayOf, objectOf } from '#outgoing/wire.ts'
import { request, serving } from './messages-world.ts'
import { saying } from './scripted-chat.ts'

const body = {
  ...request,
  messages: [{ role: 'user', content: 'Where do I live?' }],
  memory: { userId: 'ada' },
}

describe('the memory of a message', () => {
  it.each([
    ['whole', {}],
    ['streamed', { stream: true }],
  ])('is read before the last message and written after a %s answer, as the headers state', async (_, more) => {
    const { chat, memory, send } = serving([{ deltas: saying('In', ' Oslo.') }])
    memory.known = ['The user lives in Oslo.']
    const { headers, json } = await send('/v1/messages', { ...body, ...more })
    expect(arrayOf(chat.last.messages).map((message) => objectOf(message).role)).toEqual(['system', 'user'])
    expect(headers['x-service-memory-retrieved']).toBe('1')
    const receipt = headers['x-service-memory-write-request']
    expect(memory.started).toMatchObject([
      {
        at: { user: 'ada' },
        message: { requestId: receipt, input: { exchange: { user: 'Where do I live?', assistant: 'In Oslo.' } } },
      },
    ])
    if (!('stream' in more))
      expect(objectOf(json).memory).toMatchObject({
        retrieved: [{ content: 'The user lives in Oslo.' }],
        write_status: 'pending',
        write_request_id: receipt,
      })
  })

  it('belongs to the user of the metadata when the field names none, and is refused without a user', async () => {
    const { memory, send } = serving([{ deltas: saying('Hello.') }])
    await send('/v1/messages', { ...body, memory: true, metadata: { user_id: 'eva' } })
    expect(memory.recalls).toMatchObject([{ at: { user: 'eva' } }])
    const { status, json } = await send('/v1/messages', { ...body, memory: true })
    expect({ status, error: objectOf(json).error }).toMatchObject({
      status: 400,
      error: { type: 'invalid_request_error', message: expect.stringContaining('memory.userId') },
    })
  })

  it('offers memory_fetch in index mode, in addition to the tools of the request', async () => {
    const { chat, memory, send } = serving([{ deltas: saying('In Oslo.') }])
    memory.known = ['The user lives in Oslo.']
    const tools = [{ name: 'look_up', input_schema: { type: 'object' } }]
    await send('/v1/messages', { ...body, tools, memory: { userId: 'ada', mode: 'index' } })
    const names = arrayOf(chat.last.tools).map((tool) => objectOf(objectOf(tool).function).name)
    expect(names).toEqual(['look_up', 'memory_fetch'])
  })

  it('is neither read nor written without the field', async () => {
    const { memory, send } = serving([{ deltas: saying('Hello.') }])
    const { json, headers } = await send('/v1/messages', request)
    expect(objectOf(json).memory).toBeUndefined()
    expect(headers['x-service-memory-retrieved']).toBeUndefined()
    expect([memory.recalls, memory.started]).toEqual([[], []])
  })
})
