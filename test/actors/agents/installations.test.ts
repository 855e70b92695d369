import { describe, expect, it } from 'vitest'
import type { AgentReference } from '#actors/sessions/turns/resolved-config.ts'
import { ModelError } from '#gateway/call/provider-port.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { projectScope, workScope } from '#storage/scope.ts'
import {
  type AgentWorld,
  callOf,
  draft,
  install,
  keyed,
  move,
  newAgent,
  openAgentWorld,
  published,
  refusalOf,
  secretOf,
} from './harness.ts'

const open = async (...versions: readonly string[]) => {
  const world = await openAgentWorld()
  const agent = await newAgent(world)
  for (const version of versions) await published(world, agent, version)
  return { world, agent, tenant: await world.tenant() }
}

const upgrade = ({ useCases }: AgentWorld, id: string, version?: string) =>
  useCases['installations.upgrade'](callOf({ installation_id: id }, {}, version === undefined ? {} : { version }))

const rollback = ({ useCases }: AgentWorld, id: string) =>
  useCases['installations.rollback'](callOf({ installation_id: id }, {}, undefined))

const disable = ({ useCases }: AgentWorld, id: string) =>
  useCases['installations.delete'](callOf({ installation_id: id }, {}, undefined))

const patch = ({ useCases }: AgentWorld, id: string, body: Parameters<typeof call>[2]) =>
  useCases['installations.update'](call({ installation_id: id }, {}, body))

type Patch = Parameters<AgentWorld['useCases']['installations.update']>[0]['body']
const call = (params: { installation_id: string }, query: object, body: Patch) => callOf(params, query, body)

const reference = (agentId: string, more: Partial<AgentReference> = {}): AgentReference => ({
  project: 'prj_a',
  agentId,
  installationId: null,
  version: null,
  tenant: null,
  ...more,
})

describe('an installation', () => {
  it('takes the newest published version by precedence, and a prerelease only if there is no release', async () => {
    const { world, agent, tenant } = await open('1.9.0', '1.10.0', '1.2.0', '2.0.0-rc.1')
    expect(await install(world, { tenant_id: tenant, agent_id: agent })).toMatchObject({
      id: expect.stringMatching(/^ins_/),
      tenant_id: tenant,
      agent_id: agent,
      version: '1.10.0',
      status: 'active',
      overlays: {},
      approval_policy: null,
      rate_plan_id: null,
      previous_version: null,
    })
    const early = await newAgent(world)
    await published(world, early, '0.1.0-alpha')
    expect(await install(world, { tenant_id: tenant, agent_id: early })).toMatchObject({ version: '0.1.0-alpha' })
  })

  it('requires an existing tenant, agent and published version', async () => {
    const { world, agent, tenant } = await open('1.0.0')
    await draft(world, agent, '1.1.0')
    const refused = (body: Partial<Parameters<typeof install>[1]>) =>
      refusalOf(install(world, { tenant_id: tenant, agent_id: agent, ...body }))
    expect(await refused({ tenant_id: 'ten_nobody' })).toBe('not_found tenant_id')
    expect(await refused({ tenant_id: await world.tenant('prj_b') })).toBe('not_found tenant_id')
    expect(await refused({ agent_id: 'agt_nobody' })).toBe('not_found agent_id')
    expect(await refused({ version: '7.0.0' })).toBe('not_found version')
    expect(await refused({ version: '1.1.0' })).toBe('version_not_published version')
    expect(await refused({ agent_id: await newAgent(world) })).toBe('version_not_published version')
  })

  it('is upgraded and rolled back through its versions', async () => {
    const { world, agent, tenant } = await open('1.0.0', '1.1.0')
    const { id } = await install(world, { tenant_id: tenant, agent_id: agent, version: '1.0.0' })
    expect(await upgrade(world, id)).toMatchObject({ version: '1.1.0', previous_version: '1.0.0' })
    await published(world, agent, '2.0.0')
    expect(await upgrade(world, id, '2.0.0')).toMatchObject({ version: '2.0.0', previous_version: '1.1.0' })
    expect(await upgrade(world, id)).toMatchObject({ version: '2.0.0', previous_version: '1.1.0' })
    expect(await rollback(world, id)).toMatchObject({ version: '1.1.0', previous_version: '1.0.0' })
    expect(await rollback(world, id)).toMatchObject({ version: '1.0.0', previous_version: null })
    expect(await refusalOf(rollback(world, id))).toBe('invalid_transition')
  })

  it('is never moved from a deprecated version to an older one by an upgrade without a version', async () => {
    const { world, agent, tenant } = await open('1.0.0', '2.0.0')
    const { id } = await install(world, { tenant_id: tenant, agent_id: agent })
    await move(world, 'deprecate', agent, '2.0.0')
    expect(await upgrade(world, id)).toMatchObject({ version: '2.0.0' })
    await move(world, 'retire', agent, '2.0.0')
    expect(await upgrade(world, id)).toMatchObject({ version: '1.0.0', previous_version: '2.0.0' })
    expect(await refusalOf(rollback(world, id))).toBe('invalid_transition')
  })

  it('is upgraded once by concurrent upgrades', async () => {
    const { world, agent, tenant } = await open('1.0.0')
    const { id } = await install(world, { tenant_id: tenant, agent_id: agent })
    await published(world, agent, '1.1.0')
    const both = await Promise.all([upgrade(world, id), upgrade(world, id), upgrade(world, id)])
    expect(both.map(({ version, previous_version }) => [version, previous_version])).toEqual([
      ['1.1.0', '1.0.0'],
      ['1.1.0', '1.0.0'],
      ['1.1.0', '1.0.0'],
    ])
    await world.notices.delivered()
    expect(world.heard.filter(({ event_type }) => event_type === 'installation.upgraded')).toHaveLength(1)
  })

  it('keeps every version in its history after concurrent different upgrades', async () => {
    const { world, agent, tenant } = await open('1.0.0', '1.1.0', '1.2.0')
    const { id } = await install(world, { tenant_id: tenant, agent_id: agent, version: '1.0.0' })
    await Promise.all([upgrade(world, id, '1.1.0'), upgrade(world, id, '1.2.0')])
    await rollback(world, id)
    expect(await rollback(world, id)).toMatchObject({ version: '1.0.0', previous_version: null })
  })

  it('is rolled back once by a repeated request', async () => {
    const { world, agent, tenant } = await open('1.0.0', '1.1.0', '1.2.0')
    const { id } = await install(world, { tenant_id: tenant, agent_id: agent, version: '1.0.0' })
    await upgrade(world, id, '1.1.0')
    await upgrade(world, id, '1.2.0')
    const again = keyed(callOf({ installation_id: id }, {}, undefined), 'one-key')
    await world.useCases['installations.rollback'](again)
    expect(await world.useCases['installations.rollback'](again)).toMatchObject({ version: '1.1.0' })
  })

  it('keeps a deprecated version, which cannot be newly installed', async () => {
    const { world, agent, tenant } = await open('1.0.0')
    const { id } = await install(world, { tenant_id: tenant, agent_id: agent })
    await move(world, 'deprecate', agent, '1.0.0')
    expect(await refusalOf(install(world, { tenant_id: tenant, agent_id: agent }))).toBe(
      'version_not_published version',
    )
    expect(await refusalOf(install(world, { tenant_id: tenant, agent_id: agent, version: '1.0.0' }))).toBe(
      'version_not_published version',
    )
    expect(await world.resolve(reference(agent, { installationId: id }))).toMatchObject({ version: '1.0.0' })
  })

  it('can be disabled, then refuses upgrades and rollbacks, and can be enabled again', async () => {
    const { world, agent, tenant } = await open('1.0.0')
    const { id } = await install(world, { tenant_id: tenant, agent_id: agent })
    expect(await disable(world, id)).toMatchObject({ id, status: 'disabled' })
    expect(await disable(world, id)).toMatchObject({ id, status: 'disabled' })
    expect(await refusalOf(upgrade(world, id))).toBe('invalid_transition')
    expect(await refusalOf(rollback(world, id))).toBe('invalid_transition')
    expect(await refusalOf(world.resolve(reference(agent, { installationId: id })))).toBe(
      'agent_not_runnable installation_id',
    )
    expect(await patch(world, id, { status: 'active' })).toMatchObject({ status: 'active' })
    expect(await world.resolve(reference(agent, { installationId: id }))).toMatchObject({ installation_id: id })
  })

  it('is changed and enabled only with what it needs, and disabled without', async () => {
    const gone = new Set<string>()
    const unknown = (model: string) => (gone.has(model) ? new ModelError('model_not_found', 'Gone.') : undefined)
    const world = await openAgentWorld({ unknown })
    const agent = await newAgent(world)
    await published(world, agent, '1.0.0')
    const { id } = await install(world, { tenant_id: await world.tenant(), agent_id: agent })
    gone.add('scripted-2')
    expect(await refusalOf(patch(world, id, { overlays: { model: 'scripted-2' } }))).toBe(
      'prerequisites_missing config.model',
    )
    gone.add('scripted-1')
    expect(await refusalOf(patch(world, id, { approval_policy: null }))).toBe('not refused')
    expect(await patch(world, id, { overlays: { model: 'scripted-3' } })).toMatchObject({ status: 'active' })
    gone.add('scripted-3')
    await disable(world, id)
    expect(await refusalOf(patch(world, id, { status: 'active' }))).toBe('prerequisites_missing config.model')
  })

  it('of a deleted agent is not enabled again', async () => {
    const { world, agent, tenant } = await open('1.0.0')
    const { id } = await install(world, { tenant_id: tenant, agent_id: agent })
    await disable(world, id)
    await world.useCases['agents.delete'](callOf({ agent_id: agent }, {}, undefined))
    expect(await refusalOf(patch(world, id, { status: 'active' }))).toBe('not_found version')
  })

  it('refuses changes for a suspended tenant, except to be disabled', async () => {
    let served = true
    const world = await openAgentWorld({
      checkTenant: async () => {
        if (!served) throw new ServiceError('tenant_suspended')
      },
    })
    const agent = await newAgent(world)
    await published(world, agent, '1.0.0')
    const { id } = await install(world, { tenant_id: await world.tenant(), agent_id: agent })
    served = false
    const working = { ...callOf({ installation_id: id }, {}, {}), scope: workScope(projectScope('prj_a')) }
    expect(await refusalOf(world.useCases['installations.upgrade'](working))).toBe('tenant_suspended')
    expect(await refusalOf(world.useCases['installations.update'](working))).toBe('tenant_suspended')
    expect(await refusalOf(disable(world, id))).toBe('not refused')
  })

  it('notifies webhooks and the audit log of changes only', async () => {
    const { world, agent, tenant } = await open('1.0.0')
    const { id } = await install(world, { tenant_id: tenant, agent_id: agent })
    await patch(world, id, { approval_policy: { default: 'require', tools: {} } })
    await patch(world, id, { approval_policy: { default: 'require', tools: {} } })
    await disable(world, id)
    await world.notices.delivered()
    const notified = world.heard.filter(({ event_type }) => String(event_type).startsWith('installation.'))
    expect(notified.map(({ event_type }) => event_type)).toEqual([
      'installation.created',
      'installation.updated',
      'installation.disabled',
    ])
    expect((await world.audited()).filter((action) => action.startsWith('installation.'))).toEqual([
      'installation.created',
      'installation.disabled',
      'installation.updated',
    ])
  })

  it('is visible in its project only, and listed by tenant, agent and status', async () => {
    const { world, agent, tenant } = await open('1.0.0')
    const other = await world.tenant()
    const first = await install(world, { tenant_id: tenant, agent_id: agent })
    const second = await install(world, { tenant_id: tenant, agent_id: agent })
    const third = await install(world, { tenant_id: other, agent_id: agent })
    await disable(world, second.id)
    type Query = Parameters<AgentWorld['useCases']['installations.list']>[0]['query']
    const list = async (query: Omit<Query, 'limit'>, project = 'prj_a') => {
      const page = await world.useCases['installations.list'](
        callOf({}, { limit: 20, ...query }, undefined, secretOf(project)),
      )
      return page.data.map(({ id }) => id)
    }
    expect(await list({})).toEqual([third.id, second.id, first.id])
    expect(await list({ tenant_id: tenant })).toEqual([second.id, first.id])
    expect(await list({ agent_id: agent, status: 'active' })).toEqual([third.id, first.id])
    expect(await list({ tenant_id: tenant, status: 'disabled' })).toEqual([second.id])
    expect(await list({ status: 'active' })).toEqual([third.id, first.id])
    expect(await list({ tenant_id: tenant, agent_id: agent })).toEqual([second.id, first.id])
    expect(await list({ tenant_id: tenant, agent_id: agent, status: 'active' })).toEqual([first.id])
    expect(await list({ agent_id: 'agt_nobody' })).toEqual([])
    expect(await list({ tenant_id: tenant, agent_id: 'agt_nobody', status: 'active' })).toEqual([])
    expect(await list({}, 'prj_b')).toEqual([])
    const get = world.useCases['installations.get']
    expect(await refusalOf(get(callOf({ installation_id: first.id }, {}, undefined, secretOf('prj_b'))))).toBe(
      'not_found installation_id',
    )
  })
})

const tool = (name: string, url: string) => ({ type: 'http', name, url }) as const

describe('the resolved configuration of an agent', () => {
  it('is that of the version with the overlays of the installation', async () => {
    const { world, agent, tenant } = await open()
    const sub = await newAgent(world)
    await published(world, agent, '1.0.0', {
      config: {
        system_prompt: 'Be brief.',
        instructions: 'Be kind.',
        temperature: 0.1,
        tools: [tool('a', 'https://one.example'), tool('b', 'https://one.example')],
        subagents: [sub, { agent_id: sub, version: '2.0.0' }],
        limits: { max_steps: 3, max_tokens: 100 },
      },
    })
    const overlays = {
      system_prompt_append: 'Say you.',
      model: 'scripted-2',
      tools: [tool('b', 'https://two.example'), tool('c', 'https://two.example')],
      limits: { max_tokens: 50, max_cost_usd: 0.5 },
    }
    const policy = { default: 'auto', tools: { b: 'deny' } } as const
    const { id, agent_version_id } = await install(world, {
      tenant_id: tenant,
      agent_id: agent,
      overlays,
      approval_policy: policy,
    })
    expect(await world.resolve(reference(agent, { installationId: id, tenant }))).toEqual({
      agent_id: agent,
      agent_version_id,
      version: '1.0.0',
      installation_id: id,
      tenant_id: tenant,
      rate_plan_id: null,
      config: {
        model: 'scripted-2',
        system_prompt: 'Be brief.\n\nBe kind.\n\nSay you.',
        tools: [tool('a', 'https://one.example'), ...overlays.tools],
        temperature: 0.1,
        max_tokens: null,
        pause_on_tool_calls: null,
        turn_overrides: [],
      },
      source: expect.objectContaining({
        model: 'scripted-2',
        limits: { max_steps: 3, max_tokens: 50, max_cost_usd: 0.5 },
      }),
      approval_policy: policy,
      subagents: [
        { agent_id: sub, version: null, description: null },
        { agent_id: sub, version: '2.0.0', description: null },
      ],
    })
  })

  it('is its own without a version, and that of a published version if one is named', async () => {
    const { world, agent } = await open('1.0.0')
    expect(await world.resolve(reference(agent))).toMatchObject({
      agent_version_id: null,
      config: { system_prompt: null },
    })
    const named = await world.resolve(reference(agent, { version: '1.0.0' }))
    expect(named).toMatchObject({ version: '1.0.0', config: { system_prompt: 'I am 1.0.0.' }, installation_id: null })
    expect(await world.resolve(reference(agent, { version: named.agent_version_id }))).toEqual(named)
  })

  it('is refused for drafts, for deprecated versions that are not installed, and for retired versions', async () => {
    const { world, agent, tenant } = await open('1.0.0', '2.0.0')
    await draft(world, agent, '3.0.0')
    const { id } = await install(world, { tenant_id: tenant, agent_id: agent, version: '2.0.0' })
    await move(world, 'deprecate', agent, '1.0.0')
    const refused = (more: Partial<AgentReference>) => refusalOf(world.resolve(reference(agent, more)))
    expect(await refused({ version: '3.0.0' })).toBe('agent_not_runnable version')
    expect(await refused({ version: '1.0.0' })).toBe('agent_not_runnable version')
    expect(await refused({ version: '1.0.0', installationId: id })).toBe('agent_not_runnable version')
    await move(world, 'retire', agent, '2.0.0')
    expect(await refused({ installationId: id })).toBe('agent_not_runnable version')
    expect(await refused({ version: '9.9.9' })).toBe('not_found version')
  })

  it('is not found for another project, agent or tenant', async () => {
    const { world, agent, tenant } = await open('1.0.0')
    const { id } = await install(world, { tenant_id: tenant, agent_id: agent })
    const refused = (more: Partial<AgentReference>) => refusalOf(world.resolve(reference(agent, more)))
    expect(await refused({ project: 'prj_b' })).toBe('not_found agent_id')
    expect(await refused({ installationId: id, tenant: await world.tenant() })).toBe('not_found installation_id')
    expect(await refused({ installationId: id, agentId: await newAgent(world) })).toBe('not_found installation_id')
    expect(await refused({ agentId: 'agt_nobody' })).toBe('not_found agent_id')
  })
})
