import { subscribe } from 'node:diagnostics_channel'
import { Socket } from 'node:net'
import { openMongoStorage } from '#storage/mongo/open-mongo-storage.ts'
import { projectScope } from '#storage/scope.ts'
import { commitOf, recordOf, widgets } from '../samples.ts'

/*
 * Program: prints, for each kind of work, how it ended when every connection to MongoDB ended right before the driver was given
 * its command, and how the next one of the same kind ended.
 */

/** Below the time after which a caller would give up, and far above that of an answer. */
const settledMs = 10_000
/** Time within which a new connection works. */
const againMs = 30_000

const sockets: Socket[] = []
subscribe('net.client.socket', (message) => {
  if (typeof message === 'object' && message !== null && 'socket' in message && message.socket instanceof Socket)
    sockets.push(message.socket)
})

const [, , url = '', database = ''] = process.argv
const store = await openMongoStorage({ url, database })
await store.records.prepare([widgets])
const scope = projectScope('prj_1')
const later = <T>(ms: number, value: T): Promise<T> => new Promise((resolve) => setTimeout(resolve, ms, value).unref())

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
  return Promise.race([settled, later(settledMs, 'hangs')])
}

const works = async (work: () => Promise<unknown>): Promise<string> => {
  for (const end = performance.now() + againMs; performance.now() < end; await later(50, null)) {
    const done = await Promise.race([
      work().then(
        () => true,
        () => false,
      ),
      later(againMs, false),
    ])
    if (done) return 'works'
  }
  return 'fails'
}

const cases: readonly (readonly [name: string, isQueued: boolean, work: (n: number) => Promise<unknown>])[] = [
  ['append', true, (n) => store.commits.append([commitOf(`closing_${n}`, 1)])],
  ['row', true, (n) => store.records.project([{ kind: widgets, record: recordOf(`w_${n}`) }])],
  ['read', false, () => store.records.get(widgets, scope, 'w_1')],
  ['list', false, () => store.records.list(widgets, scope, { limit: 10 })],
]
const keepAlive = setInterval(() => {}, 1_000)
for (const [name, isQueued, work] of cases) {
  await works(() => store.ping())
  console.log(`${name}: ${await cutUnder(() => work(1), isQueued)}, then ${await works(() => work(2))}`)
}
clearInterval(keepAlive)
await store.close()
