import { describe, expect, it } from 'vitest'
import type { AgentResource, ServerTool } from '#actors/capability/agent-resources.ts'
import { planTurn } from '#actors/sessions/turns/turn-plan.ts'
import { callOf } from '#test/support/call-of.ts'
import { draft, newAgent, openAgentWorld, published, refusalOf } from './harness.ts'

const tool: ServerTool = {
  type: 'server',
  name: 'load_skill',
  description: 'Loads a skill.',
  parameters: { type: 'object', properties: {} },
  resource: 'skills',
  settings: { skills: ['skl_1'] },
  effect: 'idempotent',
}

const skills: AgentResource = {
  name: 'skills',
  fields: ['skills'],
  missing: async (_place, declared) => (declared === 'skl_1' ? null : `There is no skill ${String(declared)}.`),
  offer: async (_place, declared) => ({ instructions: [`Skills: ${declared.join(', ')}`], tools: [tool] }),
  run: async () => ({ ok: true, output: 'loaded' }),
}

const world = () => openAgentWorld({ resources: [skills] })
const reference = { project: 'prj_a', installationId: null, version: null, tenant: null }

describe('the resources of agents', () => {
  it('add their instructions and tools to an agent that declares one', async () => {
    const services = await world()
    const agentId = await newAgent(services, { system_prompt: 'Be brief.', skills: ['skl_1'] })
    const { config } = await services.resolve({ ...reference, agentId })
    expect(config.system_prompt).toBe('Be brief.\n\nSkills: skl_1')
    expect(config.tools).toEqual([tool])
  })

  it('add nothing to an agent that declares none', async () => {
    const services = await world()
    const agentId = await newAgent(services, { system_prompt: 'Be brief.' })
    const { config } = await services.resolve({ ...reference, agentId })
    expect(config).toMatchObject({ system_prompt: 'Be brief.', tools: [] })
  })

  it('do not replace a tool of the agent with the same name', async () => {
    const services = await world()
    const own = { type: 'function', function: { name: 'load_skill' } } as const
    const agentId = await newAgent(services, { tools: [own], skills: ['skl_1'] })
    const { config } = await services.resolve({ ...reference, agentId })
    expect(config.tools).toEqual([own])
  })

  it('are reported as missing by the validation of a version, which then cannot be published', async () => {
    const services = await world()
    const agentId = await newAgent(services)
    await draft(services, agentId, '1.0.0', { config: { skills: ['skl_1', 'skl_2'] } })
    const call = callOf({ agent_id: agentId, version: '1.0.0' }, {}, undefined)
    const { findings } = await services.useCases['agent_versions.validate'](call)
    expect(findings).toContainEqual({
      severity: 'error',
      code: 'capability_not_available',
      param: 'config.skills[1]',
      message: 'There is no skill skl_2.',
    })
    expect(await refusalOf(services.useCases['agent_versions.publish'](call))).toBe(
      'prerequisites_missing config.skills[1]',
    )
  })

  it('do not prevent the publication of a version if all of them exist', async () => {
    const services = await world()
    const agentId = await newAgent(services)
    const version = await published(services, agentId, '1.0.0', { config: { skills: ['skl_1'] } })
    expect(version.status).toBe('published')
  })

  it('provide read-only tools that need no approval, even if all calls of the agent pause', () => {
    const agent = { model: 'm', system_prompt: null, temperature: null, max_tokens: null }
    const risky = { ...tool, name: 'send', risk_level: 'medium' } as const
    const { tools } = planTurn(
      { pause_on_tool_calls: true },
      { ...agent, tools: [tool, risky], pause_on_tool_calls: null },
      'm',
    )
    expect(tools).toMatchObject({
      load_skill: { kind: 'builtin', gated: false, policy: 'idempotent' },
      send: { kind: 'builtin', gated: true },
    })
  })
})
