import { afterAll, beforeAll, describe } from 'vitest'
import { atNight, drawnOf } from '#test/setup/at-night.ts'
import type { Api } from '../api.ts'
import { noBrowser } from '../browser/no-browser.ts'
import { startToolServer, type ToolServer } from '../tool-server.ts'
import { type StoreName, World } from '../world.ts'
import { accepted } from './accepted-suite.ts'
import { Estate } from './estate.ts'
import { foreignIds } from './foreign-ids-suite.ts'
import { idempotency } from './idempotency-suite.ts'
import { isolation } from './isolation-suite.ts'
import { keyedTurns } from './keyed-turns-suite.ts'
import { reaches } from './reach-suite.ts'
import { type RecordingUpstream, startRecordingUpstream } from './recording-upstream.ts'
import { refusals } from './refusals-suite.ts'

/** One of two projects, each of which has two tenants with the same names. */
interface Side {
  readonly api: Api
  /** A member's dashboard session on this project. */
  readonly dashboard: Api
  readonly project: string
  readonly acme: Estate
  readonly globex: Estate
}

/** One server with everything that the sweeps use. */
export interface Swept {
  readonly world: World
  /** Accepts calls of tools, webhooks and models. */
  readonly tool: ToolServer
  /** Accepts only calls of tools, so that they can be counted. */
  readonly counted: ToolServer
  /** Records requests to models. */
  readonly upstream: RecordingUpstream
  /** The dashboard session without a project. */
  readonly dashboard: Api
  readonly mine: Side
  readonly theirs: Side
}

/** The cases of a sweep that run: all, or on the second store by day a third, others at each run. */
export type PartOf = <T>(cases: readonly T[]) => readonly T[]
const whole: PartOf = (cases) => cases
const third: PartOf = (cases) => drawnOf(cases, 3)

/** Runs every sweep over all declared operations on one server: those that change nothing first. */
export const sweepOn = (store: StoreName): void => {
  describe(`on ${store}`, { timeout: 240_000 }, () => {
    let swept: Swept | null = null
    beforeAll(async () => {
      swept = await makeSwept(store)
    }, 480_000)
    afterAll(async () => {
      await swept?.world.stop()
      await Promise.all([swept?.tool.close(), swept?.counted.close(), swept?.upstream.close()])
    })
    const ready = (): Swept => {
      if (swept === null) throw new Error('the server did not start')
      return swept
    }
    // what no store decides is tested on the second one each night: it is refused before a store is read, or is a tool's call
    const isWhole = store === 'sqlite' || atNight
    const partOf = isWhole ? whole : third
    if (isWhole) describe('refusals', () => refusals(ready))
    describe('foreign ids', () => foreignIds(ready, isWhole, partOf))
    describe('isolation', () => isolation(ready, partOf))
    if (isWhole) describe('the reach of a credential', () => reaches(ready))
    describe('an Idempotency-Key', () => idempotency(ready, partOf))
    // leaves resources that fail and are retried, in a tenant that no other sweep uses
    if (store === 'sqlite') describe('accepted parameters', () => accepted(ready))
    // kills the server
    describe('an Idempotency-Key of a turn', () => keyedTurns(ready))
  })
}

const makeSwept = async (store: StoreName): Promise<Swept> => {
  const [tool, counted] = [await startToolServer(), await startToolServer()]
  const upstream = await startRecordingUpstream()
  const world = await World.start({ store, tools: [tool, counted, upstream], env: noBrowser })
  const dashboard = await world.dashboard()
  // compaction of ended turns, minutes later, would disturb the row counts
  await dashboard.post('/api/upkeep/compaction/pause')
  const project: string = (await dashboard.get('/api/projects')).body.data[0].id
  const other: string = (await dashboard.post('/api/projects', { name: 'Another' })).body.id
  const { key } = (await dashboard.post(`/api/projects/${other}/keys`, { name: 'key' })).body
  const sideOf = async (api: Api, id: string): Promise<Side> => {
    const ground = { api, dashboard: dashboard.with({ 'x-project-id': id }), project: id, tool }
    const make = (name: string) => Estate.make({ ...ground, as: (token) => world.as(token) }, name)
    return { ...ground, acme: await make('acme'), globex: await make('globex') }
  }
  const mine = await sideOf(world.api, project)
  return { world, tool, counted, upstream, dashboard, mine, theirs: await sideOf(world.as(key), other) }
}
