import { beforeAll, describe, expect, it } from 'vitest'
import { TurnConfigs } from '../../../src/actors/sessions/turn-config.ts'
import type { Principal } from '../../../src/actors/use-cases/call.ts'
import { sessionUseCases } from '../../../src/actors/use-cases/sessions.ts'
import { openWorld } from '../sessions/harness.ts'
import { callOf, install, move, newAgent, openAgentWorld, published, refusalOf } from './harness.ts'

/** Agents of one world, and the sessions of another whose turns ask for them. */
const open = async () => {
  const agents = await openAgentWorld()
  const world = await openWorld({ scripts: [{ text: ['One.'] }, { text: ['Two.'] }, { text: ['Three.'] }] })
  const { host, storage, provider } = world
  const useCases = sessionUseCases({
    host,
    records: storage.records,
    configs: new TurnConfigs(storage.blobs),
    agentConfig: (agent) => agents.configs.of(agent),
    installedAgent: agents.installedAgent,
    checkModel: () => {},
    defaultModel: () => 'scripted-1',
    now: Date.now,
  })
  const tenant = await agents.tenant()
  const [agent, other] = [await newAgent(agents, { system_prompt: 'Alone.' }), await newAgent(agents)]
  await published(agents, agent, '1.0.0')
  await published(agents, other, '1.0.0')
  const mine = await install(agents, {
    tenant_id: tenant,
    agent_id: agent,
    overlays: { system_prompt_append: 'Acme.' },
  })
  const second = await install(agents, { tenant_id: tenant, agent_id: other })
  const token = (...installationIds: readonly string[]): Principal => ({
    kind: 'client_token',
    project: 'prj_a',
    tenant,
    user: 'ada',
    permissions: ['sessions:turn'],
    sessionId: null,
    installationIds,
  })
  const key = (keyType: 'secret' | 'public' = 'secret', agentId = agent): Principal => ({
    kind: 'agent_key',
    project: 'prj_a',
    keyId: 'key_1',
    agentId,
    keyType,
    allowedDomains: [],
  })
  const start = (principal: Principal | undefined, agent_id?: string) =>
    useCases['sessions.create'](
      callOf({}, {}, { metadata: {}, ...(agent_id !== undefined && { agent_id }) }, principal),
    )
  const get = (principal: Principal, id: string) =>
    useCases['sessions.get'](callOf({ session_id: id }, {}, undefined, principal))
  const turn = async (principal: Principal | undefined, id: string) => {
    const { stream } = await useCases['sessions.turns'](callOf({ session_id: id }, {}, { input: 'hi' }, principal))
    await new Promise<void>((resolve) => stream.start({ push: () => true, end: () => resolve() }))
    return provider.asked.at(-1)?.instructions
  }
  const list = async (principal: Principal) => {
    const page = await useCases['sessions.list'](callOf({}, { page: 1, limit: 20 }, undefined, principal))
    return page.data.map(({ id }) => id)
  }
  return { agents, agent, other, mine, second, token, key, start, get, turn, list }
}

let world: Awaited<ReturnType<typeof open>>
beforeAll(async () => {
  world = await open()
})

describe('a client token of an installation', () => {
  it("starts sessions of the installation's agent, which run its version under its overlays", async () => {
    const { start, turn, token, mine, agent, agents } = world
    const session = await start(token(mine.id))
    expect(session.agent_id).toBe(agent)
    expect(await turn(token(mine.id), session.id)).toEqual(['I am 1.0.0.\n\nAcme.'])
    await published(agents, agent, '2.0.0')
    await agents.useCases['installations.upgrade'](callOf({ installation_id: mine.id }, {}, {}))
    expect(await turn(undefined, session.id)).toEqual(['I am 2.0.0.\n\nAcme.'])
  })

  it('starts none of another agent, and none without a name when there are several', async () => {
    const { start, token, mine, second, other } = world
    expect(await refusalOf(start(token(mine.id), other))).toBe('not_found agent_id')
    expect(await refusalOf(start(token(mine.id), 'agt_nobody'))).toBe('not_found agent_id')
    expect(await refusalOf(start(token(mine.id, second.id)))).toBe('missing_field agent_id')
    expect((await start(token(mine.id, second.id), other)).agent_id).toBe(other)
    expect(await refusalOf(start(token('ins_nobody')))).toBe('not_found agent_id')
  })

  it('sees no session of another installation, nor one without any', async () => {
    const { start, get, token, mine, second, other } = world
    const elsewhere = await start(token(second.id), other)
    const free = await start(token())
    expect(await refusalOf(get(token(mine.id), elsewhere.id))).toBe('not_found session_id')
    expect(await refusalOf(get(token(mine.id), free.id))).toBe('not_found session_id')
    expect(await get(token(), elsewhere.id)).toMatchObject({ id: elsewhere.id })
  })

  it('runs no turn once the installation is disabled or its version retired', async () => {
    const { agents, start, turn, token, second, other } = world
    const session = await start(token(second.id))
    await agents.useCases['installations.delete'](callOf({ installation_id: second.id }, {}, undefined))
    expect(await refusalOf(turn(token(second.id), session.id))).toBe('agent_not_runnable installation_id')
    expect(await refusalOf(start(token(second.id)))).toBe('not_found agent_id')
    await agents.useCases['installations.update'](callOf({ installation_id: second.id }, {}, { status: 'active' }))
    await move(agents, 'retire', other, '1.0.0')
    expect(await refusalOf(turn(token(second.id), session.id))).toBe('agent_not_runnable version')
  })
})

describe('a key of an agent', () => {
  it('starts, reads and lists sessions of its agent only', async () => {
    const { start, get, list, key, agent, other } = world
    const session = await start(key())
    expect(session.agent_id).toBe(agent)
    expect(await refusalOf(start(key(), other))).toBe('not_found agent_id')
    expect(await refusalOf(get(key('secret', other), session.id))).toBe('not_found session_id')
    expect(await get(key(), session.id)).toMatchObject({ id: session.id })
    expect(await list(key())).toContain(session.id)
    expect(await list(key('secret', other))).not.toContain(session.id)
  })

  it('that browsers see lists nothing and reaches no session of a tenant', async () => {
    const { start, get, list, key, token, mine } = world
    const tenants = await start(token(mine.id))
    expect(await refusalOf(list(key('public')))).toBe('forbidden')
    expect(await refusalOf(get(key('public'), tenants.id))).toBe('not_found session_id')
    expect(await get(key(), tenants.id)).toMatchObject({ id: tenants.id })
    const own = await start(key('public'))
    expect(await get(key('public'), own.id)).toMatchObject({ id: own.id })
  })
})

describe('a session of an agent that was deleted', () => {
  it('runs no turn any more: its prompt is gone', async () => {
    const { agents, start, turn } = world
    const agent = await newAgent(agents)
    const session = await start(undefined, agent)
    expect(await turn(undefined, session.id)).toEqual([])
    await agents.useCases['agents.delete'](callOf({ agent_id: agent }, {}, undefined))
    expect(await refusalOf(turn(undefined, session.id))).toBe('agent_not_runnable')
  })
})
