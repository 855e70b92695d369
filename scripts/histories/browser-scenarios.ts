import { jobRetentionMs } from '#machines/browser-job/browser-job.ts'
import { browserJobDefinition } from '#machines/browser-job/browser-job-definition.ts'
import { newId } from '#runtime/ids.ts'
import {
  endlessVisit,
  failedVisit,
  handedOverVisit,
  plainVisit,
  type ScriptedVisit,
} from '#test/actors/browser/scripted-browser.ts'
import type { World } from '#test/actors/sessions/harness.ts'
import { calm } from '#test/support/virtual-clock.ts'
import type { Scenario } from './scenarios.ts'

const pollMs = 1000
/** Time in ms after which no person can continue a job that was handed over. */
const handOverMs = 601_000
let visits = plainVisit

const job = async ({ host, clock }: World, visit: ScriptedVisit): Promise<string> => {
  visits = visit
  const id = newId('job')
  const owner = { project: 'prj_a', tenant: null, user: null, createdAt: clock.now() }
  const actions = [{ type: 'type', selector: '#q', text: 'typed', clear: true }]
  const request = {
    ...{ url: 'https://example.com/', actions, screenshot: false, snapshot_tokens: null, wait_until: 'load' },
    ...{ timeout_ms: 30_000, width: 1_280, height: 800, profile: { name: 'shop', save: false } },
  }
  await host.create({ kind: browserJobDefinition, id, owner, input: { job_id: id, request }, cause: newId('req') })
  await calm()
  return id
}

/** Together, these reach every state of a browser job. */
export const browserScenarios: readonly Scenario[] = [
  {
    name: 'jobs',
    scripts: [],
    visit: (request) => visits(request),
    play: async (world, clock) => {
      await job(world, plainVisit)
      await job(world, failedVisit)
      const handedOver = await job(world, handedOverVisit)
      const by = { kind: 'secret_key', id: 'key_a' }
      const continued = { type: 'continue', by, note: 'Logged in.', at: clock.now() }
      await world.host.deliver(handedOver, { event: continued, cause: newId('req') })
      await calm()
      await job(world, handedOverVisit)
      await clock.advance(handOverMs)
      await calm()
      const running = await job(world, endlessVisit)
      const removed = await job(world, endlessVisit)
      await job(world, plainVisit)
      await world.host.deliver(running, { event: { type: 'cancel', at: clock.now() }, cause: newId('req') })
      await world.host.deliver(removed, { event: { type: 'delete' }, cause: newId('req') })
      await calm()
      await clock.leap(jobRetentionMs)
      await clock.advance(pollMs)
    },
  },
]
