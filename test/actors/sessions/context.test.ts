import { afterEach, describe, expect, it, vi } from 'vitest'
import { compactionPlan, tokensOf, withoutCuts } from '#actors/sessions/context/compaction-plan.ts'
import { noAgent } from '#actors/sessions/turns/turn-plan.ts'
import { type ModelAnswer, ModelError, type ModelMessage, type ModelRequest } from '#gateway/call/provider-port.ts'
import type { TestModel } from '#test/support/test-model.ts'
import { calls, httpTool } from './approving.ts'
import { agentConfigOf, callOf, newSession, openWorld, type Script, turn, typesOf, type World } from './harness.ts'

const user = (content: string): ModelMessage => ({ role: 'user', content })
const says = (content: string, ...callIds: readonly string[]): ModelMessage => ({
  role: 'assistant',
  content,
  toolCalls: callIds.map((callId) => ({ callId, name: 'look', arguments: '{}' })),
})
const output = (callId: string, content: string): ModelMessage => ({ role: 'tool', callId, name: 'look', content })

const long = 'word '.repeat(200)
const sumOf = (messages: readonly ModelMessage[]) => messages.reduce((sum, message) => sum + tokensOf(message), 0)
const turns = (count: number) =>
  Array.from({ length: count }, (_, index) => [user(`${index} ${long}`), says(`${index} ${long}`)]).flat()

/** A model that calls a tool eight times and ends; as `writer-1` it writes a summary. */
class Writer implements TestModel {
  readonly id = 'scripted'
  readonly requests: ModelRequest[] = []
  readonly #summary: string

  constructor(summary: string) {
    this.#summary = summary
  }

  async stream(request: ModelRequest): Promise<ModelAnswer> {
    this.requests.push({ ...request, messages: [...request.messages] })
    const writes = request.model === 'writer-1'
    const reads = !writes && this.requests.filter(({ model }) => model !== 'writer-1').length <= 8
    return {
      model: request.model,
      text: writes ? this.#summary : reads ? '' : 'Done.',
      toolCalls: reads ? [{ callId: 'call_0', name: 'look', arguments: '{}' }] : [],
      usage: { inputTokens: 10, outputTokens: 5, cachedTokens: 0, reasoningTokens: 0 },
      finishReason: reads ? 'tool_calls' : 'stop',
    }
  }
}

describe('a compaction plan', () => {
  it('is null for a conversation that fits, and for one turn with one answer', () => {
    expect(compactionPlan(turns(3), { max: 10_000, keepTurns: null })).toBeNull()
    expect(compactionPlan([user(long)], { max: 10, keepTurns: null })).toBeNull()
    expect(compactionPlan([user(long), says('', 'a'), output('a', long)], { max: 10, keepTurns: null })).toBeNull()
  })

  it('cuts whole turns from the oldest on, until the rest fits with room to spare', () => {
    const messages = turns(6)
    const plan = compactionPlan(messages, { max: sumOf(turns(5)), keepTurns: null })
    expect(plan?.cuts).toEqual([[0, 6]])
    expect(plan?.after).toBe(sumOf(messages.slice(6)))
  })

  it('keeps at most the given number of newest turns, and fewer if they do not fit', () => {
    const max = sumOf(turns(5))
    expect(compactionPlan(turns(6), { max, keepTurns: 1 })?.cuts).toEqual([[0, 10]])
    expect(compactionPlan(turns(6), { max: sumOf(turns(1)), keepTurns: 4 })?.cuts).toEqual([[0, 10]])
  })

  it('separates no call from its output, and keeps the input of the newest turn', () => {
    const steps = Array.from({ length: 6 }, (_, index) => {
      const ids = [`${index}a`, `${index}b`]
      return [says('', ...ids), ...ids.map((id) => output(id, long))]
    }).flat()
    const messages = [...turns(2), user('the task'), ...steps]
    const plan = compactionPlan(messages, { max: sumOf(steps.slice(0, 9)), keepTurns: null })
    const left = withoutCuts(messages, plan?.cuts ?? [], null)
    expect(left[0]).toEqual(user('the task'))
    expect(left.slice(1)).toEqual(steps.slice(-(left.length - 1)))
    expect((left.length - 1) % 3).toBe(0)
    expect(left.length).toBeGreaterThan(3)
  })
})

describe('a conversation that exceeds the context window of its model', () => {
  let world: World
  afterEach(() => world.runtime.drain(0))

  const newRun = async () => {
    const body = { input: { prompt: 'the task' } }
    return (await world.useCases['runs.create'](callOf({ agent_id: 'agt_a' }, {}, body))).id
  }
  const ended = (id: string) =>
    vi.waitFor(
      async () => {
        const run = await world.useCases['runs.get'](callOf({ run_id: id }, {}, undefined))
        expect(run.status).toBe('completed')
        return run
      },
      { timeout: 30_000 },
    )
  const modelRequests = () => world.provider.requests
  const answers = (count: number): Script[] =>
    Array.from({ length: count }, (_, index) => ({ text: [`answer ${index}`] }))

  it('continues without its oldest turns, and its log records that', async () => {
    world = await openWorld({ scripts: answers(8), window: 2000 })
    const session = await newSession(world)
    const events = []
    for (let index = 0; index < 8; index++) events.push(await turn(world, session, { input: `${index} ${long}` }))
    for (const each of events) expect(each.at(-1)?.event_type).toBe('turn.completed')
    const shortened = events.flat().filter(({ event_type }) => event_type === 'context.compacted')
    expect(shortened.length).toBeGreaterThan(0)
    expect(shortened[0]?.payload).toMatchObject({ strategy: 'truncate', summary: null })
    expect(shortened[0]?.turn_number).toBeGreaterThan(1)
    for (const { messages } of modelRequests()) expect(sumOf(messages)).toBeLessThan(2000)
    expect(modelRequests().at(-1)?.messages.at(-1)?.content).toBe(`7 ${long}`)
  })

  it('is restored in its shortened form from the log by a new process', async () => {
    world = await openWorld({ scripts: answers(5), window: 2000 })
    const session = await newSession(world)
    for (let index = 0; index < 4; index++) await turn(world, session, { input: `${index} ${long}` })
    const before = modelRequests().at(-1)?.messages ?? []
    const { storage } = world
    await world.runtime.drain(0)
    world = await openWorld({ scripts: answers(1), storage })
    await turn(world, session, { input: 'and now?' })
    const after = modelRequests().at(-1)?.messages ?? []
    expect(after.slice(0, before.length)).toEqual(before)
    expect(after.at(-1)).toEqual(user('and now?'))
  })

  it.each([
    ['Three looks, all well.', 'summarize'],
    ['', 'truncate'],
  ] as const)(
    'is summarized if the agent is configured so, with %j, and the usage of that is counted',
    async (text, strategy) => {
      const context = { strategy: 'summarize', max_tokens: 1500, model: 'writer-1' } as const
      const model = new Writer(text)
      world = await openWorld({
        model,
        agents: async ({ agentId }) =>
          agentConfigOf(agentId, { config: { ...noAgent, tools: [httpTool('look')], context } }),
        runTool: async () => ({ ok: true, output: `api_key=hunter ${long}` }),
      })
      const run = await ended(await newRun())
      expect(run).toMatchObject({ status: 'completed', usage: { total_tokens: 15 * model.requests.length } })
      const written = model.requests.filter((each) => each.model === 'writer-1')
      expect(written.length).toBeGreaterThan(0)
      expect(written[0]?.messages[0]?.content).toContain('Output of look: api_key')
      const last = model.requests.filter((each) => each.model !== 'writer-1').at(-1)
      expect(last?.messages[0]).toEqual(user('the task'))
      expect(JSON.stringify(last?.messages).includes('Three looks')).toBe(strategy === 'summarize')
      const log = await world.host.readLog(run.id, 0)
      const shortened = log.filter(({ event_type }) => event_type === 'run.context.compacted')
      expect(shortened.length).toBe(written.length)
      expect(shortened[0]?.payload).toMatchObject({ strategy, summary: text === '' ? null : text })
    },
  )

  it('is shortened if the provider refuses it as too long, even if its window is unknown', async () => {
    const fails = new ModelError('context_length_exceeded', 'Too long.')
    world = await openWorld({ scripts: [...answers(2), { fails }, ...answers(1)] })
    const session = await newSession(world)
    for (let index = 0; index < 2; index++) await turn(world, session, { input: `${index} ${long}` })
    const events = await turn(world, session, { input: 'and now?' })
    expect(typesOf(events)).toEqual(['turn.started', 'context.compacted', 'output_text.delta', 'turn.completed'])
  })

  it('fails if nothing more can be cut', async () => {
    const fails = new ModelError('context_length_exceeded', 'Too long.')
    world = await openWorld({ scripts: [{ fails }], window: 100 })
    const session = await newSession(world)
    const events = await turn(world, session, { input: long })
    expect(events.at(-1)?.payload.error).toMatchObject({ code: 'context_length_exceeded' })
  })

  it('keeps the task of a run, and no call without its output', async () => {
    const tools = [httpTool('look')]
    const config = { ...noAgent, tools, context: { max_tokens: 1500 } }
    const steps = Array.from({ length: 8 }, () => calls('look'))
    world = await openWorld({
      scripts: [...steps, { text: ['Done.'] }],
      agents: async ({ agentId }) => agentConfigOf(agentId, { config }),
      runTool: async () => ({ ok: true, output: long }),
    })
    await ended(await newRun())
    for (const { messages } of modelRequests()) {
      expect(messages[0]).toEqual(user('the task'))
      expect(sumOf(messages)).toBeLessThan(1500)
      const called = messages.flatMap((message) => (message.role === 'assistant' ? message.toolCalls : []))
      const given = messages.flatMap((message) => (message.role === 'tool' ? [message.callId] : []))
      expect(given).toEqual(called.map(({ callId }) => callId))
    }
  })
})
