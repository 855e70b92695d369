import { describe, expect, it } from 'vitest'
import { openHealth } from '#transport/health.ts'
import { logReadiness, openProcessState } from '#transport/process-state.ts'
import { FakeResponse } from './http/fakes.ts'

const ready = async (ping: () => Promise<void>, draining = false): Promise<[number, unknown]> => {
  const response = new FakeResponse()
  const state = openProcessState()
  if (draining) state.trigger.drain()
  await openHealth({ ping, state }).ready(response)
  return [response.status, JSON.parse(response.text)]
}

describe('health', () => {
  it('reports live whatever the state of the store', () => {
    const response = new FakeResponse()
    openHealth({ ping: () => Promise.reject(new Error('down')), state: openProcessState() }).live(response)
    expect([response.status, response.text]).toEqual([200, '{"status":"ok"}'])
  })

  it('reports ready if the store responds', async () => {
    expect(await ready(() => Promise.resolve())).toEqual([200, { status: 'ready' }])
  })

  it('reports not ready if the store does not respond, without the reason', async () => {
    const answer = await ready(() => Promise.reject(new Error('mongodb://user:secret@host')))
    expect(answer).toEqual([503, { status: 'storage_unavailable' }])
  })

  it('reports not ready while draining', async () => {
    expect(await ready(() => Promise.resolve(), true)).toEqual([503, { status: 'draining' }])
  })

  it('does not wait for the store while draining', async () => {
    expect(await ready(() => new Promise(() => {}), true)).toEqual([503, { status: 'draining' }])
  })

  it('logs each change of readiness once', async () => {
    const lines: unknown[] = []
    const log = { info: (line: object) => void lines.push(line), warn: (line: object) => void lines.push(line) }
    const state = openProcessState()
    logReadiness(state, log)
    let works = false
    const health = openHealth({ ping: () => (works ? Promise.resolve() : Promise.reject(new Error('down'))), state })
    const probe = () => health.ready(new FakeResponse())
    await probe()
    await probe()
    works = true
    await probe()
    await probe()
    state.trigger.drain()
    expect(lines).toEqual([{ readiness: 'storage_unavailable' }, { readiness: 'ready' }, { readiness: 'draining' }])
  })

  it('pings the store once for concurrent requests', async () => {
    let pings = 0
    const health = openHealth({ ping: async () => void pings++, state: openProcessState() })
    await Promise.all([health.ready(new FakeResponse()), health.ready(new FakeResponse())])
    expect(pings).toBe(1)
    await health.ready(new FakeResponse())
    expect(pings).toBe(2)
  })
})
