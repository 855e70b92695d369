import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openMongoStorage } from '#storage/mongo/open-mongo-storage.ts'
import type { Storage } from '#storage/ports.ts'
import { projectScope } from '#storage/scope.ts'
import { commitOf, recordOf, widgets } from '../samples.ts'

/** Below the time after which a caller would give up, and far above that of an answer. */
const settledMs = 10_000
const scope = projectScope('prj_1')
const row = (n: number) => ({ kind: widgets, record: recordOf(`w_${n}`) })

describe('a connection to MongoDB that ends while a command is on its way to it', () => {
  const sockets: Socket[] = []
  const noteSocket = (message: unknown): void => {
    if (typeof message === 'object' && message !== null && 'socket' in message && message.socket instanceof Socket)
      sockets.push(message.socket)
  }
  let store: Storage

  beforeAll(async () => {
    subscribe('net.client.socket', noteSocket)
    store = await openMongoStorage({ url: process.env.MONGODB_URL ?? '', database: 'closing_connection' })
    await store.records.prepare([widgets])
  })
  afterAll(async () => {
    unsubscribe('net.client.socket', noteSocket)
    await store.close()
  })

  /** Ends every connection right before the driver is given a command, in the same turn of the event loop. */
  const cutUnder = async (work: () => Promise<unknown>, isQueued: boolean): Promise<string> => {
    setImmediate(() => {
      for (const socket of sockets.splice(0)) socket.destroy()
    })
    // queues send in the next turn of the event loop by themselves
    if (!isQueued) await new Promise((resolve) => setImmediate(resolve))
    const settled = work().then(
      () => 'settled',
      () => 'settled',
    )
    const late = new Promise<string>((resolve) => setTimeout(() => resolve('hangs'), settledMs).unref())
    return Promise.race([settled, late])
  }

  it.each([
    { what: 'append', isQueued: true, work: (n: number) => store.commits.append([commitOf(`closing_${n}`, 1)]) },
    { what: 'row', isQueued: true, work: (n: number) => store.records.project([row(n)]) },
    { what: 'read', isQueued: false, work: () => store.records.get(widgets, scope, 'w_1') },
    { what: 'list', isQueued: false, work: () => store.records.list(widgets, scope, { limit: 10 }) },
  ])('leaves no $what unanswered, and the next one works', async ({ work, isQueued }) => {
    await vi.waitFor(() => store.ping(), { timeout: 30_000 })
    expect(await cutUnder(() => work(1), isQueued)).toBe('settled')
    await vi.waitFor(async () => void (await work(2)), { timeout: 30_000 })
  })
})
