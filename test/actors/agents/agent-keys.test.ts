import { describe, expect, it } from 'vitest'
import { AgentKeys, permitsOrigin } from '#actors/accounts/agent-keys.ts'
import { agentReaches } from '#actors/agents/agent-reaches.ts'
import { keysOf } from '#records/sealing/server-keys.ts'
import { type AgentWorld, callOf, newAgent, openAgentWorld, refusalOf, secretOf } from './harness.ts'

type Body = Parameters<AgentWorld['useCases']['agent_keys.create']>[0]['body']

const create = ({ useCases }: AgentWorld, agent: string, body: Partial<Body> = {}, project = 'prj_a') =>
  useCases['agent_keys.create'](
    callOf(
      { agent_id: agent },
      {},
      { name: 'k', environment: 'live', key_type: 'secret', allowed_domains: [], ...body },
      secretOf(project),
    ),
  )

const revoke = ({ useCases }: AgentWorld, agent: string, key: string) =>
  useCases['agent_keys.delete'](callOf({ agent_id: agent, agent_key_id: key }, {}, undefined))

describe('a key of an agent', () => {
  it('is shown once and authenticates its agent', async () => {
    const world = await openAgentWorld()
    const agent = await newAgent(world)
    const made = await create(world, agent, { environment: 'test', allowed_domains: ['app.example'] })
    expect(made).toMatchObject({
      agent_id: agent,
      name: 'k',
      environment: 'test',
      key_type: 'secret',
      key: expect.stringMatching(/^cak_[A-Za-z0-9_-]{43}$/),
      prefix: made.key.slice(0, 8),
      last4: made.key.slice(-4),
      created_by: 'key_prj_a',
      revoked_at: null,
    })
    expect(await world.keys.verify(made.key)).toMatchObject({
      kind: 'agent_key',
      project: 'prj_a',
      keyId: made.id,
      agentId: agent,
      keyType: 'secret',
      allowedDomains: ['app.example'],
    })
    const { data } = await world.useCases['agent_keys.list'](callOf({ agent_id: agent }, { limit: 20 }, undefined))
    expect(data.map(({ id }) => id)).toEqual([made.id])
    expect(JSON.stringify(data)).not.toContain(made.key)
    const stored = JSON.stringify(
      await world.records.list({ name: 'agent_keys' }, callOf({}, {}, {}).scope, { limit: 9 }),
    )
    expect(stored).not.toContain(made.key.slice(4))
  })

  it('for browsers has another prefix', async () => {
    const world = await openAgentWorld()
    const { key } = await create(world, await newAgent(world), { key_type: 'public' })
    expect(key).toMatch(/^cpk_/)
    expect(await world.keys.verify(key)).toMatchObject({ keyType: 'public' })
  })

  it('is refused once it is revoked or has expired', async () => {
    const world = await openAgentWorld()
    const agent = await newAgent(world)
    const made = await create(world, agent)
    expect(await revoke(world, agent, made.id)).toMatchObject({ id: made.id, revoked_at: expect.any(String) })
    expect(await world.keys.verify(made.key)).toBeNull()
    expect(await revoke(world, agent, made.id)).toMatchObject({ id: made.id })
    const brief = await create(world, agent, { expires_at: new Date(Date.now() + 60_000).toISOString() })
    const later = new AgentKeys({
      records: world.records,
      keys: keysOf({ masterKey: Buffer.alloc(32, 1) }),
      now: () => Date.now() + 61_000,
      reachOfAgent: agentReaches({ records: world.records, now: Date.now }),
    })
    expect(await world.keys.verify(brief.key)).not.toBeNull()
    expect(await later.verify(brief.key)).toBeNull()
    expect(await refusalOf(create(world, agent, { expires_at: '2020-01-01T00:00:00.000Z' }))).toBe(
      'invalid_field expires_at',
    )
  })

  it('is refused under another master key, and if it is altered', async () => {
    const world = await openAgentWorld()
    const { key } = await create(world, await newAgent(world))
    const other = new AgentKeys({
      records: world.records,
      keys: keysOf({ masterKey: Buffer.alloc(32, 2) }),
      now: Date.now,
      reachOfAgent: agentReaches({ records: world.records, now: Date.now }),
    })
    expect(await other.verify(key)).toBeNull()
    expect(await world.keys.verify(`${key.slice(0, -1)}${key.endsWith('A') ? 'B' : 'A'}`)).toBeNull()
    expect(await world.keys.verify('cak_short')).toBeNull()
  })

  it('can be created, listed and revoked only in its project and for its agent', async () => {
    const world = await openAgentWorld()
    const [agent, other] = [await newAgent(world), await newAgent(world)]
    const { id } = await create(world, agent)
    expect(await refusalOf(create(world, agent, {}, 'prj_b'))).toBe('not_found agent_id')
    expect(await refusalOf(create(world, 'agt_nobody'))).toBe('not_found agent_id')
    expect(await refusalOf(revoke(world, other, id))).toBe('not_found agent_key_id')
    const { data } = await world.useCases['agent_keys.list'](callOf({ agent_id: other }, { limit: 20 }, undefined))
    expect(data).toEqual([])
  })

  it('writes audit lines for its creation and its revocation', async () => {
    const world = await openAgentWorld()
    const agent = await newAgent(world)
    const { id } = await create(world, agent)
    await revoke(world, agent, id)
    await revoke(world, agent, id)
    await world.notices.delivered()
    expect(await world.audited()).toEqual(['agent.created', 'agent_key.created', 'agent_key.revoked'])
  })
})

describe('allowed domains', () => {
  const cases: readonly (readonly [string, string | undefined, boolean])[] = [
    ['app.example', 'https://app.example', true],
    ['app.example', 'http://app.example', true],
    ['APP.example', 'https://app.EXAMPLE', true],
    ['app.example', 'https://evil-app.example', false],
    ['app.example', 'https://app.example.evil', false],
    ['app.example', 'https://app.example:8443', false],
    ['app.example:8443', 'https://app.example:8443', true],
    ['*.app.example', 'https://a.b.app.example', true],
    ['*.app.example', 'https://app.example', false],
    ['*.app.example', 'https://evilapp.example', false],
    ['https://app.example', 'https://app.example', true],
    ['https://app.example', 'http://app.example', false],
    ['app.example', 'null', false],
    ['app.example', undefined, false],
  ]
  it.each(cases)('%s permits %s: %s', (domain, origin, permitted) => {
    expect(permitsOrigin([domain], origin)).toBe(permitted)
  })

  it('permit any origin if there are none', () => {
    expect(permitsOrigin([], undefined)).toBe(true)
    expect(permitsOrigin([], 'https://anywhere.example')).toBe(true)
  })
})
