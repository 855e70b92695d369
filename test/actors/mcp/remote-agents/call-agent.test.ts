import { afterEach, describe, expect, it } from 'vitest'
import { AgentCalls } from '#actors/mcp/remote-agents/agent-calls.ts'
import { agentDefinition } from '#actors/mcp/remote-agents/agent-endpoint.ts'
import { agentLimits } from '#actors/mcp/remote-agents/agent-wire.ts'
import { callAgent } from '#actors/mcp/remote-agents/call-agent.ts'
import { openSsrfGuard } from '#outgoing/ssrf-guard.ts'
import { isObject } from '#runtime/index.ts'
import { repeatedMessages } from '#specs/resources/protocols/a2a.ts'
import { type ForeignAgent, startForeignAgent } from '#test/e2e/protocols/foreign-agent.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const each of open.splice(0)) await each.close()
})

const place = { project: 'prj_1', tenant: null, user: null, actionId: 'act_1', serverId: 'mcp_1' }

/** A call of an agent after a crash: its message had been sent, and its task was not known. */
const afterCrash = async (extensions: readonly object[], given: object = { task: 'echo Oslo' }) => {
  const agent = await startForeignAgent()
  const guard = openSsrfGuard({ allowedPrivateHosts: [agent.host] })
  open.push(agent, guard)
  const calls = new AgentCalls(openMemoryStorage().records, Date.now)
  await calls.begun(place, 1)
  return { agent, outcome: await called(agent, { guard, calls, now: Date.now }, { extensions, given }) }
}

const called = (
  agent: ForeignAgent,
  parts: Parameters<typeof callAgent>[0],
  { extensions, given }: { extensions: readonly object[]; given: object },
) => {
  const url = new URL('/a2a', agent.url).href
  const supportedInterfaces = [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0', tenant: '' }]
  const card = { name: 'Weather', supportedInterfaces, capabilities: { streaming: true, extensions } }
  const { annotations } = agentDefinition(card, agent.url)
  const tool = { name: 'delegate', input_schema: {}, annotations: isObject(annotations) ? annotations : null }
  const target = { url: agent.url, transport: 'a2a', headers: {} } as const
  const own = { type: 'server', name: 'd', description: '', parameters: {}, resource: '', settings: {} } as const
  const call = {
    ...{ ...place, arguments: JSON.parse(JSON.stringify(given)), sessionId: null, runId: null, idempotencyKey: 'k' },
    ...{ tool: { ...own, effect: 'idempotent' as const }, signal: new AbortController().signal },
  }
  return callAgent(parts, call, { server: 'W', serverId: 'mcp_1', target, tool, timeoutMs: 20_000 })
}

describe('a message whose task is unknown after a crash', () => {
  it('is not sent again', async () => {
    const { agent, outcome } = await afterCrash([])
    expect(outcome).toMatchObject({ ok: false, code: 'outcome_unknown' })
    expect(agent.messages).toEqual([])
  })

  it('is sent again, with its id, to an agent that recognises it', async () => {
    const { agent, outcome } = await afterCrash([{ uri: repeatedMessages }])
    expect(outcome).toMatchObject({ ok: true, output: expect.stringContaining('Did echo Oslo.') })
    expect(agent.messages).toEqual(['act_1.1'])
  })
})

describe('an agent', () => {
  it('that sends more values than the maximum is refused', async () => {
    // each of the 30,000 parts has a name and a text
    expect(agentLimits.maxValues).toBeLessThan(60_000)
    await expect(afterCrash([{ uri: repeatedMessages }], { task: 'values' })).rejects.toMatchObject({
      code: 'answer_too_large',
    })
  })

  it('gets no message without a task', async () => {
    expect((await afterCrash([], {})).outcome).toMatchObject({ code: 'invalid_field' })
  })
})
