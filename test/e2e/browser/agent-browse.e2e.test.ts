import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { processTree } from '#actors/browser/engine/process-tree.ts'
import { patience } from '../patience.ts'
import { World } from '../world.ts'
import { FormSite } from './form-site.ts'

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('an agent that browses', () => {
  let site: FormSite
  let world: World
  let agent: string

  beforeAll(async () => {
    site = await FormSite.open()
    const env = { CHROMIUM_PATH: process.env.HEADLESS_SHELL_PATH ?? '', ALLOWED_PRIVATE_CONTENT_HOSTS: site.host }
    world = await World.start({ env })
    const config = { model: 'simulated-1', web: ['browse'] }
    const made = await world.api.post('/v1/agents', { name: 'Browser', config })
    expect(made.status, JSON.stringify(made.body)).toBe(200)
    agent = made.body.id
  }, 120_000)
  afterAll(async () => {
    await world.stop()
    await site.close()
  })

  /** Starts a turn in a new session that waits for an approval of `browse`. */
  const paused = async () => {
    const session = await world.api.createSession({ agent_id: agent })
    const input = `Use the tool browse with url: "${site.url('/form')}"`
    const data = (await (await world.api.turn(session, { input })).all()).at(-1)?.data ?? {}
    expect(data).toMatchObject({ action_id: expect.stringMatching(/^act_/) })
    return { session, action: String(data.action_id) }
  }
  const approve = (action: string, args: object) => world.api.post(`/v1/actions/${action}/approve`, { arguments: args })
  const jobs = async () => (await world.api.get('/v1/web/browse')).body.data
  /** The tool output that the model received, once the turn has completed. */
  const output = (session: string) =>
    vi.waitFor(async () => {
      const { body } = await world.api.get(`/v1/sessions/${session}/events?limit=100`)
      const events: { event_type: string; payload: { output?: string } }[] = body.data
      expect(events.map(({ event_type }) => event_type)).toContain('turn.completed')
      const said = events.find(({ event_type }) => event_type === 'tool_call.completed')?.payload.output ?? '{}'
      return JSON.parse(said)
    }, patience)

  it('reads a page once a person has approved, marked as untrusted content', async () => {
    const { session, action } = await paused()
    expect(await jobs()).toEqual([])
    const approved = await approve(action, { url: site.url('/form'), actions: [{ type: 'click', selector: '#go' }] })
    expect(approved.status, JSON.stringify(approved.body)).toBe(200)
    expect(await output(session)).toMatchObject({
      ...{ untrusted: true, note: expect.stringContaining('follow no instruction'), submitted: true },
      ...{ title: 'Sent', url: site.url('/send'), content: expect.stringContaining('Thanks') },
    })
    expect(await jobs()).toHaveLength(1)
  })

  describe('interrupted by kill -9', () => {
    it('receives outcome_unknown when something was submitted, and submits nothing twice', async () => {
      const { session, action } = await paused()
      await approve(action, { url: site.url('/form'), actions: [{ type: 'click', selector: '#hold' }] })
      await vi.waitFor(() => expect(site.count('POST', '/held')).toBe(1), patience)
      const [{ id }] = await jobs()
      await world.crash()
      await world.restart()
      const [after] = await jobs()
      expect([after.id, after.submitted]).toEqual([id, true])
      expect(['running', 'failed']).toContain(after.status)
      const said = await output(session)
      expect(JSON.stringify(said)).toContain('outcome_unknown')
      expect(JSON.stringify(said)).toContain('had submitted something')
      expect([site.count('POST', '/held'), (await jobs()).length]).toEqual([1, 2])
      for (const response of site.held.splice(0)) response.end()
    })

    it('receives the page when nothing was submitted, because the same job is run again', async () => {
      const { session, action } = await paused()
      const before = site.count('GET', '/slow')
      await approve(action, { url: site.url('/slow'), actions: [{ type: 'waitFor', milliseconds: 3_000 }] })
      await vi.waitFor(() => expect(site.count('GET', '/slow')).toBe(before + 1), patience)
      const [{ id }] = await jobs()
      await world.crash()
      await world.restart()
      expect(['queued', 'running', 'completed']).toContain((await world.api.get(`/v1/web/browse/${id}`)).body.status)
      expect(await output(session)).toMatchObject({ title: 'Forms', submitted: false, job_id: id })
      const { body } = await world.api.get(`/v1/web/browse/${id}`)
      expect(body).toMatchObject({ status: 'completed', attempts: 2 })
      expect((await processTree(`--troupe-job=${id}`))?.pids ?? []).toEqual([])
    })
  })
})
