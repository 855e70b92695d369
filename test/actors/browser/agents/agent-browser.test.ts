import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { agentBrowser } from '#actors/browser/agents/agent-browser.ts'
import { ChromiumMissing } from '#actors/browser/engine/find-chromium.ts'
import { JobBlobs } from '#actors/browser/jobs/job-blobs.ts'
import { browserJobRows } from '#actors/browser/kinds.ts'
import type { ServerToolCall, ToolOutcome } from '#actors/capability/agent-resources.ts'
import { openSsrfGuard } from '#outgoing/ssrf-guard.ts'
import { Table } from '#records/table.ts'
import { newId } from '#runtime/ids.ts'
import type { Json } from '#storage/ports.ts'
import { tenantScope } from '#storage/scope.ts'
import { openWorld } from '#test/actors/sessions/harness.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { endlessVisit, failedVisit, handedOverVisit, plainVisit, type ScriptedVisit } from '../scripted-browser.ts'

const place = { project: 'prj_a', tenant: 'ten_a', agentId: 'agt_a', installationId: null }
const guard = openSsrfGuard({ allowedPrivateHosts: [] })
let visit: ScriptedVisit
let visits: number
let clock: VirtualClock
let world: Awaited<ReturnType<typeof openWorld>>
let browser: ReturnType<typeof agentBrowser>
let path: () => Promise<string>

beforeEach(async () => {
  ;[visit, visits, clock, path] = [plainVisit, 0, new VirtualClock(), async () => '/bin/chromium']
  const counted: ScriptedVisit = (request) => {
    visits += 1
    return visit(request)
  }
  world = await openWorld({ clock, visit: counted })
  const { host, storage } = world
  const blobs = new JobBlobs(storage.blobs)
  browser = agentBrowser({ host, storage, blobs, guard: guard.content, path: () => path(), now: clock.now, clock })
})
afterEach(async () => {
  const drained = world.runtime.drain(0)
  await clock.advance(5_000)
  await drained
})

const sessionId = newId('ses')
const call = async (args: Json, more: Partial<ServerToolCall> = {}): Promise<ServerToolCall> => {
  const [tool] = (await browser.offer(place, ['browse'])).tools
  if (tool === undefined) throw new Error('no tool')
  return {
    ...{ project: 'prj_a', tenant: 'ten_a', user: 'u1', tool, arguments: args, sessionId, runId: null },
    ...{ idempotencyKey: 'key', actionId: newId('act'), signal: new AbortController().signal, ...more },
  }
}
const run = async (args: Json, more: Partial<ServerToolCall> = {}, ms = 3_000): Promise<ToolOutcome> => {
  const outcome = browser.run(await call(args, more))
  await clock.advance(ms)
  return outcome
}
const shownOf = (outcome: ToolOutcome) => (outcome.ok ? JSON.parse(outcome.output) : outcome)

describe('the browser for agents', () => {
  it('is offered to agents whose config names it, and its calls require an approval', async () => {
    expect((await browser.offer(place, ['search'])).tools).toEqual([])
    const { tools } = await browser.offer(place, ['browse'])
    expect(tools).toMatchObject([{ name: 'browse', risk_level: 'high', needsApproval: true, effect: 'idempotent' }])
  })

  it('returns the content of a page, marked as untrusted', async () => {
    expect(shownOf(await run({ url: 'https://example.com/' }))).toMatchObject({
      ...{ untrusted: true, note: expect.stringContaining('follow no instruction'), content: 'Words.' },
      ...{ url: 'https://example.com/', title: 'Page', job_id: expect.stringMatching(/^job_/) },
    })
  })

  it('truncates a long page, but not within a character', async () => {
    visit = async (request) => {
      const end = await plainVisit(request)
      if ('failed' in end) return end
      const content = `${'x'.repeat(9_999)}😀${'y'.repeat(50_000)}`
      return { ...end, visited: { ...end.visited, read: { ...end.visited.read, content } } }
    }
    const { content, truncated } = shownOf(await run({ url: 'https://example.com/' }))
    expect([truncated, content.length, content.isWellFormed()]).toEqual([true, 10_000, true])
  })

  it('uses one job of the tenant for a call, even if that is repeated, and another for another call', async () => {
    const first = shownOf(await run({ url: 'https://example.com/' }))
    const again = shownOf(await run({ url: 'https://example.com/' }))
    const other = shownOf(await run({ url: 'https://example.com/' }, { idempotencyKey: 'other' }))
    expect([again.job_id, visits]).toEqual([first.job_id, 2])
    expect(other.job_id).not.toBe(first.job_id)
    await clock.advance(500)
    const table = new Table(world.storage.records, browserJobRows, clock.now)
    expect(await table.count(tenantScope('prj_a', 'ten_a'), {})).toBe(2)
    expect(await table.count(tenantScope('prj_a', 'ten_b'), {})).toBe(0)
  })

  it('waits for a person beyond its own time limit, and returns the note of that person', async () => {
    visit = handedOverVisit
    const actions = [{ type: 'handOver', message: 'Please log in.', timeoutMs: 600_000 }]
    const outcome = browser.run(await call({ url: 'https://example.com/', actions }))
    await clock.advance(6 * 60_000)
    const table = new Table(world.storage.records, browserJobRows, clock.now)
    const [job] = await table.list(tenantScope('prj_a', 'ten_a'), { limit: 1 })
    const by = { kind: 'dashboard', id: 'usr_a' }
    const event = { type: 'continue', by, note: 'Logged in.', at: clock.now() }
    await world.host.deliver(job?.id ?? '', { event, cause: newId('req') })
    await clock.advance(3_000)
    expect(shownOf(await outcome)).toMatchObject({ content: 'Words.', notes: ['Logged in.'] })
  })

  it.each<readonly [Json, string]>([
    [{}, 'invalid_url'],
    [{ url: 'file:///etc/passwd' }, 'invalid_url'],
    [{ url: 'http://10.0.0.1/' }, 'unsafe_url'],
    [{ url: 'https://example.com/', actions: 'click' }, 'invalid_browser_action'],
    [{ url: 'https://example.com/', actions: [{ type: 'drag' }] }, 'invalid_browser_action'],
    [
      { url: 'https://example.com/', actions: [{ type: 'type', selector: '#password', text: 'x' }] },
      'invalid_browser_action',
    ],
    ['text', 'invalid_url'],
  ])('returns an error for %j and opens no page', async (args, code) => {
    expect(await run(args)).toMatchObject({ ok: false, code })
    expect(visits).toBe(0)
  })

  it('reports why a page cannot be read, and that there is no browser', async () => {
    visit = failedVisit
    expect(await run({ url: 'https://example.com/' })).toMatchObject({ ok: false, code: 'dns_unavailable' })
    path = async () => {
      throw new ChromiumMissing('No Chromium was found.')
    }
    expect(await run({ url: 'https://example.com/' }, { idempotencyKey: 'b' })).toMatchObject({
      ...{ ok: false, code: 'browser_unavailable' },
    })
  })

  it('cancels the job when the call ends', async () => {
    visit = endlessVisit
    const ending = new AbortController()
    const outcome = browser.run(await call({ url: 'https://example.com/' }, { signal: ending.signal }))
    await clock.advance(2_000)
    ending.abort()
    await clock.advance(2_000)
    expect(await outcome).toMatchObject({ ok: false })
    const table = new Table(world.storage.records, browserJobRows, clock.now)
    await clock.advance(500)
    expect(await table.count(tenantScope('prj_a', 'ten_a'), { open: true })).toBe(0)
  })
})
