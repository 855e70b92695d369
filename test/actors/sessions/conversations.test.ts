import { expect, it } from 'vitest'
import { Conversations, keptMs, maxKept } from '#actors/sessions/conversations.ts'
import type { LogEvent } from '#storage/ports.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'

const owner = { project: 'prj_1', tenant: null, user: null, createdAt: 0 }

const open = (text: string, storage = openMemoryStorage()) => {
  const clock = { now: 0 }
  const read: string[] = []
  const log: readonly LogEvent[] = [
    { sequence: 1, event_type: 'turn.started', turn_number: 1, payload: { input_text: text } },
    { sequence: 2, event_type: 'output_text.delta', turn_number: 1, payload: { delta: 'fine' } },
    { sequence: 3, event_type: 'turn.completed', turn_number: 1, payload: {} },
  ]
  const readLog = (session: string, after: number): readonly LogEvent[] => {
    if (after === 0) read.push(session)
    return log.filter(({ sequence }) => sequence > after)
  }
  const conversations = new Conversations(storage, readLog, () => clock.now)
  /** The sessions whose log was read from its beginning since the last call. */
  const took = async (...sessions: readonly string[]): Promise<readonly string[]> => {
    for (const session of sessions) {
      const said = (await conversations.of(session, owner)).forModel()
      expect(said.map(({ content }) => content.slice(0, 4))).toEqual([text.slice(0, 4), 'fine'])
    }
    return read.splice(0)
  }
  return { clock, conversations, took }
}

it('keeps an unused conversation for five minutes, and reads it from its log after that', async () => {
  const { clock, took } = open('hello')
  expect(await took('ses_1', 'ses_2')).toEqual(['ses_1', 'ses_2'])
  clock.now = keptMs - 1
  expect(await took('ses_2')).toEqual([])
  clock.now = keptMs
  expect(await took('ses_3')).toEqual(['ses_3'])
  expect(await took('ses_2', 'ses_3', 'ses_1')).toEqual(['ses_1'])
})

it('evicts the least recently used conversations beyond its size limit', async () => {
  const { took } = open('x'.repeat(maxKept / 9))
  expect(await took('ses_1', 'ses_2', 'ses_3')).toEqual(['ses_1', 'ses_2', 'ses_3'])
  expect(await took('ses_1', 'ses_4')).toEqual(['ses_4'])
  expect(await took('ses_1', 'ses_3', 'ses_2')).toEqual(['ses_2'])
})

it('keeps nothing of a session that is erased while its conversation is read ahead', async () => {
  const storage = openMemoryStorage()
  const earlier = open('hello', storage)
  await earlier.took('ses_1')
  await earlier.conversations.checkpoint('ses_1', owner)
  const { conversations, took } = open('hello', storage)
  conversations.foresee('ses_1', owner, { isFirst: false, through: 3 })
  await conversations.forget('ses_1', owner)
  expect(await took('ses_1')).toEqual(['ses_1'])
})
