import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { environmentOf, podOf } from '../support/rendered-pod.ts'
import { endsTurn } from './stream-reader.ts'
import { World } from './world.ts'

/** What a pod gets from its secret, the address of this machine, and what a test chooses anew for each server. */
const ofTheTest = ['HOST', 'PORT', 'PEER_HOST', 'PEER_PORT', 'DATA_DIR', 'MONGODB_URL', 'MASTER_KEY']

describe('a server with the environment of the chart’s pod', () => {
  const { container } = podOf('single')
  let world: World
  beforeAll(async () => {
    const env = environmentOf(container, { 'metadata.name': 'troupe-7d9c' })
    const rendered = Object.entries(env).filter(([name]) => !ofTheTest.includes(name))
    expect(rendered.length).toBeGreaterThan(1)
    world = await World.start({ store: 'mongo', env: Object.fromEntries(rendered), ownProcess: true })
  })
  afterAll(() => world.stop())

  it('answers its probes and a turn', async () => {
    for (const probe of [container.startupProbe, container.livenessProbe, container.readinessProbe])
      expect((await fetch(`${world.url}${probe.httpGet.path}`)).status).toBe(200)
    const session = await world.api.createSession()
    const turn = await world.api.turn(session, { input: 'Hi', model: 'simulated-1' })
    expect(await turn.until(endsTurn)).toMatchObject({ event: 'turn.completed' })
  })
})
