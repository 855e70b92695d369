import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findChromium } from '#actors/browser/engine/find-chromium.ts'
import { type VisitEnd, visit } from '#actors/browser/engine/visit.ts'
import { jobRequest } from '#actors/browser/jobs/job-request.ts'
import { openSsrfGuard, type SsrfGuard } from '#outgoing/ssrf-guard.ts'
import { newId } from '#runtime/ids.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { openPrivateNames, privateAddresses } from '#test/support/private-addresses.ts'
import { html, Site } from '#test/support/site.ts'

describe.skipIf(process.env.CHROMIUM_PATH === undefined)('addresses that lead to private places', () => {
  const names = openPrivateNames()
  let canary: Server
  let reached: string[] = []
  let control: Site
  let guard: SsrfGuard
  let probes: readonly string[] = []

  beforeAll(async () => {
    canary = createServer((_request, response) => response.end('words of the canary'))
    canary.on('connection', () => reached.push('canary'))
    await new Promise<void>((resolve) => canary.listen(0, '127.0.0.1', resolve))
    const address = canary.address()
    probes = privateAddresses(typeof address === 'object' && address !== null ? address.port : 0)
    control = await Site.open({ '/': html('<p>control page</p>', { 'access-control-allow-origin': '*' }) })
    guard = openSsrfGuard({
      allowedPrivateHosts: [],
      allowedContentHosts: [control.host],
      connectTimeoutMs: 500,
      lookup: names.lookup,
    })
  })
  beforeEach(() => {
    reached = []
    names.again()
  })
  afterAll(async () => {
    await guard.close()
    await control.close()
    await new Promise((resolve) => canary.close(resolve))
  })

  const requestFor = (url: string) =>
    jobRequest(guard.content, {
      ...{ url, screenshot: false, waitUntil: 'domcontentloaded', timeoutMs: 20_000, actions: [] },
    })
  const visited = (request: ReturnType<typeof requestFor>): Promise<VisitEnd> =>
    visit(
      {
        guard: guard.content,
        path: () => findChromium(process.env.CHROMIUM_PATH ?? null),
        limits: { maxMemoryBytes: 2 ** 31, maxBytes: 50_000_000 },
        now: Date.now,
      },
      {
        ...{ id: newId('job'), request, state: null, signal: new AbortController().signal },
        ...{ submitting: async () => true, stepped: async () => {} },
      },
    )

  it('are reached by no job whose address they are, which does open a public page', async () => {
    const left: ReturnType<typeof requestFor>[] = []
    for (const probe of probes) {
      try {
        left.push(requestFor(probe))
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error
        expect(['invalid_url', 'unsafe_url']).toContain(error.code)
      }
    }
    // what is refused by its text never meets a browser: the others are names, of which one of each kind is visited
    expect(left.length).toBeLessThan(40)
    const kinds = ['loop', 'six', 'rebinding', 'mixed', 'metadata', 'zero']
    const chosen = left.filter(({ url }) => kinds.some((kind) => url.startsWith(`http://${kind}.example`)))
    expect(chosen).toHaveLength(kinds.length)
    for (const request of chosen) expect(await visited(request)).toHaveProperty('failed')
    expect(reached).toEqual([])
    const end = await visited(requestFor(control.url('/')))
    expect('visited' in end && end.visited.read.content).toContain('control page')
  }, 240_000)
})
