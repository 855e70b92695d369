import { afterEach, describe, expect, it } from 'vitest'
import { MessageFold } from '#actors/sessions/messages/message-fold.ts'
import { noAgent } from '#actors/sessions/turns/turn-plan.ts'
import { Conversation } from '#client/conversation.ts'
import type { Message } from '#client/index.ts'
import { asFields } from '#client/schema.ts'
import type { LogEvent } from '#storage/ports.ts'
import { calls, httpTool } from '#test/actors/sessions/approving.ts'
import { callOf, collect, openWorld, type Script, type World } from '#test/actors/sessions/harness.ts'
import { logOf } from '#test/transport/streams/protocols/logs.ts'

const worlds: World[] = []
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.runtime.drain(0)
})

/** The log of a turn of an agent that shows what its model reasons. */
const loggedTurn = async (show_reasoning: boolean, ...scripts: readonly Script[]): Promise<readonly LogEvent[]> => {
  const world = await openWorld({ scripts, sessionAgent: { ...noAgent, show_reasoning }, streamCommitMs: 5 })
  worlds.push(world)
  const { id } = await world.useCases['sessions.create'](callOf({}, {}, { metadata: {}, agent_id: 'agt_a' }))
  const body = { input: 'where?', tools: [httpTool('look')] }
  const { stream } = await world.useCases['sessions.turns'](callOf({ session_id: id }, {}, body))
  await collect(stream)
  return world.host.readLog(id, 0)
}

const shownOf = (messages: readonly Message[]) =>
  messages.map(({ role, status, parts }) => [
    `${role} ${status}`,
    ...parts.map((part) => (part.type === 'tool' ? `tool ${part.status}` : `${part.type} ${asFields(part).text}`)),
  ])

const take = (page: Conversation, { event_type: event, sequence: id, payload: data }: LogEvent): void => {
  page.apply(asFields({ event, id, data }))
  page.flush()
}

/** What a page shows at the end that has read a log live up to `cut`, or was opened there. */
const seenFrom = (log: readonly LogEvent[], cut: number, reloads: boolean) => {
  const page = new Conversation()
  const fold = new MessageFold('caller', 1e6)
  for (const [at, event] of log.entries()) {
    if (!reloads || at >= cut) take(page, event)
    fold.take(event)
    if (reloads && at === cut - 1) page.apply(asFields({ event: 'session.snapshot', data: fold.page(false) }))
  }
  return shownOf(page.messages)
}

const expectSame = (log: readonly LogEvent[]) => {
  const live = seenFrom(log, 0, false)
  for (let cut = 1; cut <= log.length; cut++) expect(seenFrom(log, cut, true), `cut ${cut}`).toEqual(live)
  return live.at(-1)
}

const reasoningModel = (): readonly Script[] => [
  { text: [{ reasons: 'First ' }, { reasons: 'I look.' }, 'I look. '], ...calls('look') },
  { text: [{ reasons: 'It is ' }, 'It ', { reasons: 'there.' }, 'is ', 'there.'] },
]

describe('a page that is opened anywhere in a turn', () => {
  it('shows what a page shows that has read it live: reasoning, text and calls in their order', async () => {
    expect(expectSame(await loggedTurn(true, ...reasoningModel()))).toEqual([
      'assistant completed',
      'reasoning First I look.',
      'text I look. ',
      'tool completed',
      'reasoning It is there.',
      'text It is there.',
    ])
  })

  it('shows no reasoning of an agent that does not show it', async () => {
    const log = await loggedTurn(false, ...reasoningModel())
    expect(expectSame(log)).toEqual(['assistant completed', 'text I look. ', 'tool completed', 'text It is there.'])
    expect(JSON.stringify(log)).not.toContain('First')
  })

  it('shows the reasoning of the newest attempt, and that before the calls', () => {
    const call = { tool: 'look', arguments: {}, action_id: 'act_1' }
    const log = logOf(
      1,
      ['turn.started', { turn_number: 1, model: 'm', input_text: 'where?' }],
      ['reasoning.delta', { delta: 'First.' }],
      ['tool_call.started', call],
      ['tool_call.completed', { ...call, output: 'done' }],
      ['reasoning.delta', { delta: 'Cut' }],
      ['output_text.delta', { delta: 'It i' }],
      ['turn.restarted', { from_sequence: 2, attempt: 2 }],
      ['reasoning.delta', { delta: 'Whole.', attempt: 2 }],
      ['output_text.delta', { delta: 'It is there.', attempt: 2 }],
      ['turn.completed', { turn_number: 1, output: 'It is there.', usage: {} }],
    )
    expect(expectSame(log)).toEqual([
      'assistant completed',
      'reasoning First.',
      'tool completed',
      'reasoning Whole.',
      'text It is there.',
    ])
  })

  it('that has a message on its way still sends it', () => {
    const page = new Conversation()
    page.sending('mine', 'and now?')
    page.apply(asFields({ event: 'session.snapshot', data: { data: [], pending_actions: [] } }))
    expect(page.run.status).toBe('sending')
    page.unsent('mine')
    expect(page.run.status).toBe('idle')
  })
})
