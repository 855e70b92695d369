import pino from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ChromiumMissing } from '#actors/browser/engine/find-chromium.ts'
import { handOverUseCases } from '#actors/browser/handover/hand-over-use-cases.ts'
import { JobBlobs } from '#actors/browser/jobs/job-blobs.ts'
import { jobUseCases } from '#actors/browser/jobs/job-use-cases.ts'
import { jobRetentionMs } from '#machines/browser-job/browser-job.ts'
import { openSsrfGuard } from '#outgoing/ssrf-guard.ts'
import { maxOpenJobs } from '#specs/resources/web/browse-limits.ts'
import { openWorld } from '#test/actors/sessions/harness.ts'
import { callOf } from '#test/support/call-of.ts'
import { calm, VirtualClock } from '#test/support/virtual-clock.ts'
import { endlessVisit, failedVisit, handedOverVisit, plainVisit, type ScriptedVisit } from '../scripted-browser.ts'

const guard = openSsrfGuard({ allowedPrivateHosts: [] })
let visit: ScriptedVisit
let clock: VirtualClock
let world: Awaited<ReturnType<typeof openWorld>>
let path: () => Promise<string>
let jobs: ReturnType<typeof jobUseCases>
let persons: ReturnType<typeof handOverUseCases>

beforeEach(async () => {
  visit = plainVisit
  path = async () => '/bin/chromium'
  clock = new VirtualClock()
  world = await openWorld({ clock, visit: (request) => visit(request) })
  const { host, storage } = world
  const blobs = new JobBlobs(storage.blobs)
  jobs = jobUseCases({ host, storage, blobs, guard: guard.content, path: () => path(), now: clock.now })
  persons = handOverUseCases({ host, blobs, now: clock.now, log: pino({ level: 'silent' }) })
})
afterEach(async () => {
  const drained = world.runtime.drain(0)
  await clock.advance(5_000)
  await drained
})

const plain = { actions: [], screenshot: false, waitUntil: 'load', timeoutMs: 30_000 } as const
const create = async (url = 'https://example.com/') => {
  const job = jobs['browser_jobs.create'](callOf({}, {}, { ...plain, url }))
  job.catch(() => {})
  await clock.advance(100)
  return job
}
const get = (jobId: string) => jobs['browser_jobs.get'](callOf({ jobId }, {}, undefined))
const list = async (status?: 'completed' | 'running') => {
  const page = jobs['browser_jobs.list'](callOf({}, { limit: 100, ...(status !== undefined && { status }) }, undefined))
  await clock.advance(100)
  return (await page).data
}

describe('browser jobs', () => {
  it('run in the background, and return the content of the page', async () => {
    const { id } = await create()
    await calm()
    expect(await get(id)).toMatchObject({
      ...{ id, status: 'completed', submitted: false, attempts: 1, error: null },
      result: { content: 'Words.', title: 'Page', url: 'https://example.com/', untrusted: true, screenshot: null },
      steps: [{ index: 0, type: 'navigate', screenshot: `/v1/web/browse/${id}/steps/0/screenshot` }],
    })
    const picture = await jobs['browser_jobs.picture'](callOf({ jobId: id, index: '0' }, {}, undefined))
    expect(picture).toEqual({ contentType: 'image/webp', bytes: Buffer.from('picture') })
  })

  it('report why they failed', async () => {
    visit = failedVisit
    const { id } = await create()
    await calm()
    expect(await get(id)).toMatchObject({ status: 'failed', error: { code: 'dns_unavailable' }, result: null })
  })

  it('are listed by status', async () => {
    const done = await create()
    visit = endlessVisit
    const open = await create('https://example.org/')
    expect((await list()).map(({ id }) => id)).toEqual([open.id, done.id])
    expect(await list('running')).toMatchObject([{ id: open.id, submitted: true, url: 'https://example.org/' }])
    expect(await list('completed')).toMatchObject([{ id: done.id }])
  })

  it('are limited to 100 open jobs of a project', async () => {
    visit = endlessVisit
    const made = []
    for (let n = 0; n < maxOpenJobs; n++) made.push((await create()).id)
    const refused = jobs['browser_jobs.create'](callOf({}, {}, { ...plain, url: 'https://example.com/' }))
    refused.catch(() => {})
    await clock.advance(100)
    await expect(refused).rejects.toMatchObject({ code: 'browser_queue_full' })
    await jobs['browser_jobs.cancel'](callOf({ jobId: made[0] ?? '' }, {}, undefined))
    await clock.advance(100)
    expect((await create()).id).toMatch(/^job_/)
  })

  it('do not exceed the limit of a project when they are created at the same time', async () => {
    visit = endlessVisit
    const body = { ...plain, url: 'https://example.com/' }
    const create = () => jobs['browser_jobs.create'](callOf({}, {}, body))
    const made = Promise.allSettled(Array.from({ length: maxOpenJobs + 20 }, create))
    await clock.advance(5_000)
    const refused = (await made).filter(({ status }) => status === 'rejected')
    expect(refused).toHaveLength(20)
  })

  it('wait for a person who continues them, and keep the note of that person', async () => {
    visit = handedOverVisit
    const { id } = await create()
    const waiting = { message: 'Please log in.', since: expect.any(String), expires_at: expect.any(String) }
    expect(await get(id)).toMatchObject({ status: 'running', waiting })
    expect(await list('running')).toMatchObject([{ id, status: 'running', waiting }])
    const go = () => persons['browser_jobs.continue'](callOf({ jobId: id }, {}, { note: 'Logged in.' }))
    const both = await Promise.allSettled([go(), go()])
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    await clock.advance(100)
    const steps = [
      { type: 'handOver', note: 'Logged in.' },
      { type: 'navigate', note: null },
    ]
    expect(await get(id)).toMatchObject({ status: 'completed', waiting: null, steps })
    await expect(go()).rejects.toMatchObject({ code: 'invalid_transition' })
  })

  it('fail if no person continues them in time, and can be cancelled while they wait', async () => {
    visit = handedOverVisit
    const { id: cancelled } = await create()
    await jobs['browser_jobs.cancel'](callOf({ jobId: cancelled }, {}, undefined))
    await calm()
    const { id: late } = await create()
    await clock.leap(601_000)
    await clock.advance(2_000)
    expect(await get(late)).toMatchObject({ status: 'failed', waiting: null, error: { code: 'hand_over_expired' } })
    expect(await get(cancelled)).toMatchObject({ status: 'cancelled', waiting: null })
  })

  it('fail if too many wait for a person', async () => {
    visit = handedOverVisit
    const [first, second] = [await create(), await create()]
    // the pool has two places, of which one may wait for a person
    expect(await get(first.id)).toMatchObject({ waiting: { message: 'Please log in.' } })
    expect(await get(second.id)).toMatchObject({ status: 'failed', error: { code: 'hand_over_unavailable' } })
  })

  it.each([
    [{ type: 'handOver', selector: '#q' }, 'actions[0].selector'],
    [{ type: 'click', selector: '#q', message: 'Now.' }, 'actions[0].message'],
    [{ type: 'press', key: 'Enter', timeoutMs: 10_000 }, 'actions[0].timeoutMs'],
  ] as const)('refuse the action %j', async (action, param) => {
    const refused = jobs['browser_jobs.create'](callOf({}, {}, { ...plain, url: 'https://a.test/', actions: [action] }))
    await expect(refused).rejects.toMatchObject({ code: 'invalid_browser_action', details: { param } })
  })

  it('wait for a person for 20 minutes in total at most', async () => {
    const actions = [900_000, 300_000, 10_000].map((timeoutMs) => ({ type: 'handOver', timeoutMs }) as const)
    const refused = jobs['browser_jobs.create'](callOf({}, {}, { ...plain, url: 'https://a.test/', actions }))
    await expect(refused).rejects.toMatchObject({
      ...{ code: 'invalid_browser_action', details: { param: 'actions[2].timeoutMs' } },
    })
  })

  it('are refused if there is no browser', async () => {
    path = async () => {
      throw new ChromiumMissing('No Chromium was found: install one, or set CHROMIUM_PATH.')
    }
    await expect(create()).rejects.toMatchObject({
      code: 'browser_unavailable',
      message: 'No Chromium was found: install one, or set CHROMIUM_PATH.',
    })
  })

  it('are deleted 7 days after their end', async () => {
    const { id } = await create()
    await calm()
    await clock.leap(jobRetentionMs)
    await clock.advance(1_000)
    await expect(get(id)).rejects.toMatchObject({ code: 'not_found' })
    expect(await world.storage.blobs.hashes('prj_a', null, 10)).toEqual([])
  })
})
