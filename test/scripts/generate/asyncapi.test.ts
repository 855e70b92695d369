import { describe, expect, it } from 'vitest'
import { operations } from '#actors/capabilities.ts'
import { asyncapiFile } from '#scripts/generate/asyncapi.ts'
import { followedEvents } from '#specs/events/session-messages.ts'
import { realtimeSocket } from '#specs/resources/gateway/realtime.ts'
import { sessionFrames, sessionSocket } from '#specs/resources/sessions.ts'
import { sampleOf } from '#test/specs/samples.ts'
import { readClientFrame } from '#transport/streams/session-frames.ts'

const document = JSON.parse(asyncapiFile([...Object.values(operations), sessionSocket, realtimeSocket], '1.2.3').text)

/** All references at any depth. */
const refsIn = (value: unknown): readonly string[] => {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, child]) => (name === '$ref' ? [String(child)] : refsIn(child)))
}

const at = (ref: string): unknown =>
  ref
    .split('/')
    .slice(1)
    .reduce<unknown>((value, name) => Object(value)[name], document)

describe('the AsyncAPI document', () => {
  it('has a channel for every event stream and for the WebSocket', () => {
    const streams = [
      ...['sessions.turns', 'sessions.stream', 'sessions.approve', 'runs.events', 'project_actors.stream'],
      ...[
        'browser_jobs.live',
        'sessions.socket',
        'ui_messages.resume',
        'ui_messages.send',
        'ag_ui.run',
        'a2a.call',
        'a2a.command',
        'a2a.stream',
        'realtime.connect',
      ],
    ]
    expect(Object.keys(document.channels).sort()).toEqual(streams.toSorted())
    expect(document.channels['runs.events'].messages['run.completed'].payload).toEqual({
      $ref: '#/components/schemas/RunCompleted',
    })
  })

  it('has no dangling reference', () => {
    const refs = refsIn(document)
    expect(refs.length).toBeGreaterThan(50)
    expect(refs.filter((ref) => at(ref) === undefined)).toEqual([])
  })

  it('has the frames of both directions on the WebSocket', () => {
    const { messages, address } = document.channels['sessions.socket']
    expect(address).toBe('/v1/sessions/{session_id}/ws')
    const received = document.operations['sessions.socket.receive'].messages.map(({ $ref }: { $ref: string }) =>
      at($ref),
    )
    expect(received.map(({ name }: { name: string }) => name)).toEqual(Object.keys(sessionFrames))
    const { payload } = messages['turn.completed']
    expect(payload).toMatchObject({
      properties: { event: { const: 'turn.completed' }, data: { $ref: '#/components/schemas/TurnCompleted' } },
      required: ['event', 'id', 'data'],
    })
    const sent = document.operations['sessions.socket.send'].messages
    expect(sent).toHaveLength(Object.keys(followedEvents).length + 1)
  })
})

describe('frames of a client', () => {
  it.each(Object.entries(sessionFrames))('of type %s are accepted as declared', async (type, { json }) => {
    const frame = Object(sampleOf(json))
    expect(await readClientFrame(JSON.stringify(frame))).toMatchObject({ type })
    const fields = Object.keys(json.properties ?? {}).filter((name) => name !== 'type')
    const needed = fields.filter((name) => json.required?.includes(name))
    for (const name of needed) {
      const { [name]: _left, ...without } = frame
      await expect(readClientFrame(JSON.stringify(without))).rejects.toMatchObject({ code: 'missing_field' })
    }
  })

  it('of any other type are refused', async () => {
    await expect(readClientFrame('{"type":"close"}')).rejects.toMatchObject({ code: 'invalid_field' })
  })
})
