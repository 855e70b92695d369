import { describe, expect, it } from 'vitest'
import { agentKeys } from '#actors/accounts/kinds.ts'
import { agentCatalogue, agentInstallations, agentVersionNames } from '#actors/agents/kinds.ts'
import { projectScope } from '#storage/scope.ts'
import {
  type AgentWorld,
  callOf,
  draft,
  install,
  move,
  newAgent,
  openAgentWorld,
  published,
  refusalOf,
  secretOf,
} from './harness.ts'

const remove = ({ useCases }: AgentWorld, id: string) =>
  useCases['agents.delete'](callOf({ agent_id: id }, {}, undefined))

type Visibility = 'public' | 'unlisted' | 'private'

const catalogue = async ({ useCases }: AgentWorld, visibility?: Visibility, project = 'prj_a') => {
  const query = { limit: 20, ...(visibility !== undefined && { visibility }) }
  const { data } = await useCases['agent_catalog.list'](callOf({}, query, undefined, secretOf(project)))
  return data.map(({ agent_id, version }) => `${agent_id} ${version}`)
}

describe('agents', () => {
  it('keep their configuration and are found in their project only', async () => {
    const { useCases } = await openAgentWorld()
    const config = { model: 'simulated-1', system_prompt: 'Be brief.', temperature: 0.2 }
    const body = { name: 'Helper', config, visibility: 'public' as const }
    const made = await useCases['agents.create'](callOf({}, {}, body))
    expect(made).toMatchObject({ ...body, description: null })
    const params = { agent_id: made.id }
    expect(await useCases['agents.get'](callOf(params, {}, undefined))).toEqual(made)
    expect(await refusalOf(useCases['agents.get'](callOf(params, {}, undefined, secretOf('prj_b'))))).toMatch(
      'not_found',
    )
    const { data, next_cursor } = await useCases['agents.list'](callOf({}, { limit: 1 }, undefined))
    expect([data, next_cursor]).toEqual([[made], null])
  })

  it('are updated in the given fields, which the next turn of a session uses', async () => {
    const world = await openAgentWorld()
    const id = await newAgent(world, { system_prompt: 'Be brief.' })
    const session = { project: 'prj_a', agentId: id, installationId: null, tenant: null }
    expect(await world.configs.of(session)).toMatchObject({ system_prompt: 'Be brief.' })
    const update = world.useCases['agents.update']
    const params = { agent_id: id }
    expect(await update(callOf(params, {}, { description: 'Sums.' }))).toMatchObject({
      name: 'Helper',
      description: 'Sums.',
      config: { system_prompt: 'Be brief.' },
    })
    const changed = await update(callOf(params, {}, { config: { model: 'scripted-2' } }))
    expect(changed).toMatchObject({ config: { model: 'scripted-2' }, description: 'Sums.' })
    expect(await world.configs.of(session)).toMatchObject({ model: 'scripted-2', system_prompt: null })
    expect(await refusalOf(update(callOf(params, {}, { name: 'Mine' }, secretOf('prj_b'))))).toBe('not_found agent_id')
  })

  it('cannot be deleted while active installations use them', async () => {
    const world = await openAgentWorld()
    const agent = await newAgent(world)
    await published(world, agent, '1.0.0')
    const { id } = await install(world, { tenant_id: await world.tenant(), agent_id: agent })
    expect(await refusalOf(remove(world, agent))).toBe('agent_in_use')
    await world.useCases['installations.delete'](callOf({ installation_id: id }, {}, undefined))
    expect(await remove(world, agent)).toEqual({ id: agent, deleted: true })
  })

  it('leave nothing behind: no version, no name, no key, no entry in the catalogue', async () => {
    const world = await openAgentWorld()
    const agent = await newAgent(world)
    const versions = [
      await published(world, agent, '1.0.0', { visibility: 'public' }),
      await draft(world, agent, '2.0.0'),
    ]
    const key = await world.useCases['agent_keys.create'](
      callOf({ agent_id: agent }, {}, { name: 'k', environment: 'live', key_type: 'secret', allowed_domains: [] }),
    )
    expect(await catalogue(world)).toEqual([`${agent} 1.0.0`])
    await remove(world, agent)
    expect(await refusalOf(remove(world, agent))).toBe('not_found agent_id')
    expect(await catalogue(world)).toEqual([])
    for (const kind of [agentVersionNames, agentKeys, agentCatalogue]) {
      expect(await world.records.count(kind, projectScope('prj_a'))).toBe(0)
    }
    expect(await world.keys.verify(key.key)).toBeNull()
    for (const { id } of versions) await expect.poll(() => world.storage.commits.head(id)).toBeNull()
    const session = { project: 'prj_a', agentId: agent, installationId: null, tenant: null }
    expect(await world.configs.of(session)).toBeNull()
  })

  it('leave nothing behind of what is created while they are deleted', async () => {
    const world = await openAgentWorld()
    const tenant = await world.tenant()
    for (let round = 0; round < 5; round += 1) {
      const agent = await newAgent(world)
      await published(world, agent, '1.0.0')
      const key = { name: 'k', environment: 'live', key_type: 'secret', allowed_domains: [] } as const
      const work = await Promise.allSettled([
        remove(world, agent),
        draft(world, agent, '1.1.0'),
        install(world, { tenant_id: tenant, agent_id: agent }),
        world.useCases['agent_keys.create'](callOf({ agent_id: agent }, {}, key)),
      ])
      expect(work[0].status).toBe('fulfilled')
      for (const kind of [agentVersionNames, agentKeys])
        expect(await world.records.count(kind, projectScope('prj_a'))).toBe(0)
      expect(await world.records.count(agentInstallations, projectScope('prj_a'), { status: 'active' })).toBe(0)
    }
  })

  it('can be deleted again if the first attempt failed', async () => {
    const world = await openAgentWorld()
    const agent = await newAgent(world)
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) await published(world, agent, version)
    const { delivered } = world.host
    let left = 2
    world.host.delivered = (id) => (left-- > 0 ? delivered.call(world.host, id) : Promise.reject(new Error('died')))
    await expect(remove(world, agent)).rejects.toThrow('died')
    world.host.delivered = delivered
    await remove(world, agent)
    expect(await world.records.count(agentVersionNames, projectScope('prj_a'))).toBe(0)
  })
})

describe('the catalogue', () => {
  it('shows each agent with its newest public or unlisted version', async () => {
    const world = await openAgentWorld()
    const [one, two, three] = [await newAgent(world), await newAgent(world), await newAgent(world)]
    await published(world, one, '1.0.0', { visibility: 'public', requirements: { region: 'eu' } })
    await published(world, one, '1.1.0', { visibility: 'unlisted' })
    await published(world, one, '2.0.0', { visibility: 'private' })
    await published(world, two, '1.0.0', { visibility: 'unlisted' })
    await published(world, three, '1.0.0')
    await draft(world, three, '2.0.0', { visibility: 'public' })
    expect(await catalogue(world)).toEqual([`${two} 1.0.0`, `${one} 1.1.0`])
    expect(await catalogue(world, 'public')).toEqual([`${one} 1.0.0`])
    expect(await catalogue(world, 'unlisted')).toEqual([`${two} 1.0.0`, `${one} 1.1.0`])
    expect(await catalogue(world, 'private')).toEqual([`${three} 1.0.0`, `${one} 2.0.0`])
    expect(await catalogue(world, 'public', 'prj_b')).toEqual([])
    const { data } = await world.useCases['agent_catalog.list'](
      callOf({}, { limit: 20, visibility: 'public' }, undefined),
    )
    expect(data[0]).toMatchObject({ name: 'Helper', visibility: 'public', requirements: { region: 'eu' } })
  })

  it('shows the previous version if the newest is deprecated or retired', async () => {
    const world = await openAgentWorld()
    const agent = await newAgent(world)
    for (const version of ['1.0.0', '1.1.0', '1.2.0']) await published(world, agent, version, { visibility: 'public' })
    await move(world, 'retire', agent, '1.2.0')
    expect(await catalogue(world)).toEqual([`${agent} 1.1.0`])
    await move(world, 'deprecate', agent, '1.1.0')
    expect(await catalogue(world)).toEqual([`${agent} 1.0.0`])
    await move(world, 'retire', agent, '1.0.0')
    expect(await catalogue(world)).toEqual([])
  })

  it('applies the latest notice about a version, in whichever order they arrive', async () => {
    const world = await openAgentWorld()
    const agent = await newAgent(world)
    await published(world, agent, '1.0.0', { visibility: 'public' })
    const { id } = await draft(world, agent, '2.0.0', { visibility: 'public' })
    const word = { version_id: id, agent_id: agent, version: '2.0.0', visibility: 'public', published_at: 5 }
    const { Catalogue } = await import('#actors/agents/catalogue.ts')
    const { sink } = new Catalogue({ records: world.records, now: Date.now })
    const owner = { project: 'prj_a', tenant: null, user: null }
    const notify = (type: string, listings: number) =>
      sink(owner, { id: `m${listings}`, to: 'agent_catalog', event: { type, ...word, listings } }, false)
    await notify('unlist', 2)
    await notify('list', 1)
    expect(await catalogue(world)).toEqual([`${agent} 1.0.0`])
    await notify('list', 3)
    expect(await catalogue(world)).toEqual([`${agent} 2.0.0`])
  })

  it('is complete after many concurrent publications', async () => {
    const world = await openAgentWorld()
    const agent = await newAgent(world)
    const versions = Array.from({ length: 20 }, (_, minor) => `1.${minor}.0`)
    for (const version of versions) await draft(world, agent, version, { visibility: 'public' })
    await Promise.all(versions.map((version) => move(world, 'publish', agent, version)))
    await Promise.all(versions.slice(10).map((version) => move(world, 'retire', agent, version)))
    expect(await catalogue(world)).toEqual([`${agent} 1.9.0`])
  })

  it('is listed in pages', async () => {
    const world = await openAgentWorld()
    for (let made = 0; made < 3; made++)
      await published(world, await newAgent(world), '1.0.0', { visibility: 'public' })
    const list = world.useCases['agent_catalog.list']
    const first = await list(callOf({}, { limit: 2 }, undefined))
    const rest = await list(callOf({}, { limit: 2, cursor: first.next_cursor ?? '' }, undefined))
    expect([first.data.length, rest.data.length, rest.next_cursor]).toEqual([2, 1, null])
  })
})
