import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { answerTo } from '#test/e2e/gateway/simulated-answer.ts'
import { patience } from '#test/e2e/patience.ts'
import { type ForeignAgent, startForeignAgent } from '#test/e2e/protocols/foreign-agent.ts'
import { endsTurn, isDelta, textOf } from '#test/e2e/stream-reader.ts'
import { World } from '#test/e2e/world.ts'

const model = 'simulated-1'
const config = { model, guardrails: ['ours'] }

let world: World
let foreign: ForeignAgent
/** Requests to a hook that were not answered. */
const held: ServerResponse[] = []
let holds = false
const hook = createServer((request, response) => {
  request.resume()
  if (holds) held.push(response)
  else response.end('{ "flagged": true }')
})

beforeAll(async () => {
  foreign = await startForeignAgent()
  await new Promise<void>((resolve) => hook.listen(0, '127.0.0.1', () => resolve()))
  world = await World.start({ env: { ALLOWED_PRIVATE_HOSTS: '127.0.0.1' } })
  const address: AddressInfo | string | null = hook.address()
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  for (const [name, check] of [
    ['ours', { type: 'words', words: ['falcon', 'did echo'], action: 'flag' }],
    ['masks', { type: 'words', words: ['single'], on: 'output', action: 'redact' }],
    ['hook-input', { type: 'http', url, on: 'input' }],
    ['hook-output', { type: 'http', url, on: 'output' }],
  ] as const)
    await made('/v1/guardrails', { name, checks: [check] })
})
afterAll(async () => {
  await world.stop()
  await foreign.close()
  hook.closeAllConnections()
  hook.close()
})

const made = async (path: string, body: object): Promise<string> => {
  const answer = await world.api.post(path, body)
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
  return answer.body.id
}
const agentWith = (more: object) => made('/v1/agents', { name: 'A', config: { ...config, ...more } })
const begin = (agent: string, prompt: string) => made(`/v1/agents/${agent}/runs`, { input: { prompt } })
const ended = (run: string) =>
  vi.waitFor(async () => {
    const { status } = (await world.api.get(`/v1/runs/${run}`)).body
    expect(status).toMatch(/completed|failed/)
    return status
  }, patience)
const stagesOf = async (run: string): Promise<readonly string[]> => {
  const { data } = (await world.api.get(`/v1/runs/${run}/events`)).body
  const found = data.filter(({ event_type }: { event_type: string }) => event_type === 'run.guardrail.triggered')
  expect(JSON.stringify(found)).not.toContain('falcon')
  return found.map(({ payload }: { payload: { stage: string } }) => payload.stage)
}

describe('what a run is guarded by holds for what it delegates', () => {
  /** An agent without guardrails of its own. */
  const plain = async () => {
    const agent = await made('/v1/agents', { name: 'Plain', config: { model } })
    const version = await made(`/v1/agents/${agent}/versions`, { version: '1.0.0', config: { model } })
    await world.api.post(`/v1/agents/${agent}/versions/1.0.0/publish`)
    return { agent, version }
  }
  const childOf = async (parent: string) => {
    const { data } = (await world.api.get(`/v1/runs/${parent}/events`)).body
    return data.find(({ event_type }: { event_type: string }) => event_type === 'run.delegated').payload.child_run_id
  }

  const ways: Readonly<Record<string, () => Promise<string>>> = {
    'to an agent that its model chose': async () => {
      const { agent } = await plain()
      const boss = await agentWith({ subagents: [{ agent_id: agent, description: 'Digs.' }] })
      const parent = await begin(boss, `Use delegate_to_${agent} with task: "a falcon"`)
      expect(await ended(parent)).toBe('completed')
      return childOf(parent)
    },
    'by request, and when that is repeated': async () => {
      const { agent, version } = await plain()
      const tool = { type: 'function', function: { name: 'look', parameters: {} } }
      const boss = await agentWith({ subagents: [{ agent_id: agent, description: 'Digs.' }], tools: [tool] })
      const parent = await begin(boss, 'Use look')
      await vi.waitFor(
        async () => expect((await world.api.get(`/v1/runs/${parent}`)).body.status).toBe('requires_action'),
        patience,
      )
      const child = await made(`/v1/runs/${parent}/delegate`, { agent_version_id: version, input: 'a falcon' })
      expect(await ended(child)).toBe('completed')
      return made(`/v1/runs/${child}/replay`, {})
    },
  }
  it.each(Object.entries(ways))('%s', async (_, childBy) => {
    const child = await childBy()
    expect(await ended(child)).toBe('completed')
    expect(await stagesOf(child)).toEqual(['input', 'output'])
  })

  it('to an agent of another server, whose result is checked as that of a tool', async () => {
    const server = { name: 'Foreign', url: foreign.url, transport: 'a2a', trust: true }
    const server_id = await made('/v1/mcp/servers', { ...server, headers: { authorization: 'Bearer of-the-agent' } })
    const boss = await agentWith({ remote_agents: [{ server_id, require_approval: 'never' }] })
    const run = await begin(boss, 'Use Foreign__delegate with task: "echo Paris"')
    expect(await ended(run)).toBe('completed')
    expect((await stagesOf(run))[0]).toBe('tool_output')
  })
})

describe('a guarded turn that kill -9 interrupts', () => {
  /** Its text, as any reader may see it. */
  const shown = async (session: string) =>
    JSON.stringify((await world.api.log(session)).filter(({ event_type }) => event_type !== 'turn.started'))

  it.each([
    ['input', 'turn.failed'],
    ['output', 'turn.completed'],
  ] as const)('while a hook judges its %s shows nothing, and is judged again', async (stage, end) => {
    const agent = await made('/v1/agents', { name: 'H', config: { model, guardrails: [`hook-${stage}`] } })
    const session = await world.api.createSession({ agent_id: agent })
    holds = true
    const turn = await world.api.turn(session, { input: 'Where is the falcon?' })
    await vi.waitFor(() => expect(held).toHaveLength(1), patience)
    await world.crash()
    await turn.ended
    expect(turn.frames.filter(isDelta)).toEqual([])
    holds = false
    held.splice(0)
    await world.restart()
    const rest = await world.api.follow(session, '0')
    expect((await rest.until(endsTurn)).event).toBe(end)
    rest.stop()
    expect(await shown(session)).not.toContain('falcon')
    expect(rest.frames.at(-2)).toMatchObject({ event: 'guardrail.triggered', data: { stage, outcome: 'blocked' } })
  })

  it('while its redacted answer is streamed shows no part of what is replaced, before and after', async () => {
    const agent = await made('/v1/agents', { name: 'R', config: { model, guardrails: ['masks'] } })
    const session = await world.api.createSession({ agent_id: agent })
    const turn = await world.api.turn(session, { input: 'slow please' })
    await turn.until(() => textOf(turn.frames).includes('[REDACTED]'))
    await world.crash()
    await turn.ended
    await world.restart()
    const rest = await world.api.follow(session, '0', { restarts: 'true' })
    const end = await rest.until(endsTurn)
    rest.stop()
    const whole = answerTo('slow please').replaceAll('single', '[REDACTED]')
    expect(end).toMatchObject({ event: 'turn.completed', data: { output: whole } })
    expect(whole.startsWith(textOf(turn.frames))).toBe(true)
    expect(await shown(session)).not.toMatch(/every s/)
  })
})
