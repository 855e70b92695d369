import { afterEach, expect, it } from 'vitest'
import { StoreUnavailable } from '#storage/ports.ts'
import { about, closeAll, openPeering, served } from './peering.ts'

afterEach(closeAll)

it('requests are given up by the other side when the requester leaves, or its process', async () => {
  const given: unknown[] = []
  const server = await served(
    (_request, signal) =>
      new Promise((_, reject) => {
        given.push('begun')
        signal?.addEventListener('abort', () => {
          given.push(signal.reason)
          reject(signal.reason)
        })
      }),
  )
  const peers = openPeering()
  const leaving = new AbortController()
  const left = peers.request(server.address, about('ses_1'), leaving.signal)
  await expect.poll(() => given.length).toBe(1)
  leaving.abort(new Error('it left'))
  await expect(left).rejects.toThrow('it left')
  await expect.poll(() => given[1]).toBeInstanceOf(StoreUnavailable)
  const lost = peers.request(server.address, about('ses_2'))
  await expect.poll(() => given.length).toBe(3)
  peers.close()
  await expect(lost).rejects.toThrow(StoreUnavailable)
  await expect.poll(() => given[3]).toBeInstanceOf(StoreUnavailable)
})
