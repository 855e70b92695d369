import { describe, expect, it } from 'vitest'
import { openHealth } from '#transport/health.ts'
import { FakeResponse } from './http/fakes.ts'

const ready = async (ping: () => Promise<void>, draining = false): Promise<[number, unknown]> => {
  const response = new FakeResponse()
  await openHealth({ ping, draining: () => draining }).ready(response)
  return [response.status, JSON.parse(response.text)]
}

describe('health', () => {
  it('is live whatever the store does', () => {
    const response = new FakeResponse()
    openHealth({ ping: () => Promise.reject(new Error('down')), draining: () => true }).live(response)
    expect([response.status, response.text]).toEqual([200, '{"status":"ok"}'])
  })

  it('is ready when the store answers', async () => {
    expect(await ready(() => Promise.resolve())).toEqual([200, { status: 'ready' }])
  })

  it('is not ready when the store does not, and does not say why', async () => {
    const answer = await ready(() => Promise.reject(new Error('mongodb://user:secret@host')))
    expect(answer).toEqual([503, { status: 'storage_unavailable' }])
  })

  it('is not ready while it drains', async () => {
    expect(await ready(() => Promise.resolve(), true)).toEqual([503, { status: 'draining' }])
  })

  it('asks the store once for all who ask at the same time', async () => {
    let pings = 0
    const health = openHealth({ ping: async () => void pings++, draining: () => false })
    await Promise.all([health.ready(new FakeResponse()), health.ready(new FakeResponse())])
    expect(pings).toBe(1)
    await health.ready(new FakeResponse())
    expect(pings).toBe(2)
  })
})
