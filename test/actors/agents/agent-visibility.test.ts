import { describe, expect, it } from 'vitest'
import { type AgentData, agentCatalogue, agents, type CatalogueData } from '#actors/agents/kinds.ts'
import type { Row } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { projectScope } from '#storage/scope.ts'
import { callOf, newAgent, openAgentWorld, published } from './harness.ts'

type World = Awaited<ReturnType<typeof openAgentWorld>>
type Visibility = 'private' | 'unlisted' | 'public'

const listed = async ({ useCases }: World, visibility?: Visibility) => {
  const query = { limit: 20, ...(visibility !== undefined && { visibility }) }
  const { data } = await useCases['agent_catalog.list'](callOf({}, query, undefined))
  return data.map((row) => `${row.agent_id} ${row.visibility}`)
}

const becomes = (world: World, agent: string, visibility: Visibility) =>
  world.useCases['agents.update'](callOf({ agent_id: agent }, {}, { visibility }))

describe('the visibility of an agent', () => {
  it('hides its public versions from the lists of the catalogue at once, and shows them in that of private ones', async () => {
    const world = await openAgentWorld()
    const agent = await newAgent(world)
    await published(world, agent, '1.0.0', { visibility: 'public' })
    expect(await listed(world)).toEqual([`${agent} public`])
    await becomes(world, agent, 'private')
    expect([await listed(world), await listed(world, 'public')]).toEqual([[], []])
    await expect.poll(() => listed(world, 'private')).toEqual([`${agent} private`])
    await becomes(world, agent, 'unlisted')
    await expect.poll(() => listed(world, 'unlisted')).toEqual([`${agent} unlisted`])
    await becomes(world, agent, 'public')
    await expect.poll(() => listed(world, 'public')).toEqual([`${agent} public`])
  })

  it('is public in records of earlier releases, and their catalogue rows stay as they were', async () => {
    const world = await openAgentWorld()
    const agent = await newAgent(world)
    await published(world, agent, '1.0.0', { visibility: 'unlisted' })
    const scope = projectScope('prj_a')
    const withoutOwn = ({ data: { visibility: _, ...before } }: Row<AgentData>) => before
    const withoutAgents = ({ data: { agent_visibility: _, ...before } }: Row<CatalogueData>) => before
    await new Table(world.records, agents, Date.now).change(scope, agent, { edit: withoutOwn })
    await new Table(world.records, agentCatalogue, Date.now).change(scope, agent, { edit: withoutAgents })
    const shown = await world.useCases['agents.get'](callOf({ agent_id: agent }, {}, undefined))
    expect(shown.visibility).toBe('public')
    expect(await listed(world)).toEqual([`${agent} unlisted`])
  })
})
