import { afterEach, describe, expect, it } from 'vitest'
import { openNodes } from '#actors/operators/open-nodes.ts'
import { newSession, openWorld, type World } from '../sessions/harness.ts'

const worlds: World[] = []

afterEach(async () => {
  for (const world of worlds.splice(0)) await world.runtime.drain(0)
})

const open = async () => {
  const world = await openWorld({})
  worlds.push(world)
  return { world, nodes: openNodes(world.runtime, undefined, world.clock) }
}

describe('a process that runs alone', () => {
  it('is the only node, with all shards and the actors that it has in memory', async () => {
    const { world, nodes } = await open()
    await newSession(world)
    const [node, ...others] = await nodes.list()
    expect(others).toEqual([])
    expect(node).toMatchObject({ address: null, current: true, alive: true, draining: false, shards: 256 })
    expect(node?.facts).toEqual({ liveActors: 1, runningEffects: 0 })
  })

  it('runs every actor, and lists the live actors of a project', async () => {
    const { world, nodes } = await open()
    const [first, second] = [await newSession(world), await newSession(world)]
    const [node] = await nodes.list()
    expect(await nodes.runnerOf(first)).toBe(node?.node)
    const found = await nodes.liveActors('prj_a', 10)
    expect(found.map(({ actor }) => actor).sort()).toEqual([first, second].sort())
    expect(await nodes.liveActors('prj_a', 1)).toHaveLength(1)
    expect(await nodes.liveActors('prj_b', 10)).toEqual([])
  })
})
