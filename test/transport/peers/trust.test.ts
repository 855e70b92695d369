import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { StoreUnavailable } from '#storage/ports.ts'
import { commitOf } from '#test/storage/samples.ts'
import { VirtualClock } from '#test/support/virtual-clock.ts'
import { peerLimits } from '#transport/peers/peer-limits.ts'
import {
  about,
  actorOf,
  closeAll,
  closedAfter,
  done,
  openPeering,
  openRaw,
  openServer,
  otherKey,
  portOf,
  served,
} from './peering.ts'

afterEach(closeAll)

/** Resolves when the socket is closed, for any reason. */
const closed = (socket: Socket): Promise<void> => new Promise((resolve) => socket.once('close', () => resolve()))

describe('nodes during a change of the master key', () => {
  const [old, next] = [otherKey, Buffer.alloc(32, 9)]
  const rounds = {
    'before and with the new key to open': [{ key: old }, { key: old, otherKeys: [next] }],
    'with the new key to open and to seal': [
      { key: old, otherKeys: [next] },
      { key: next, otherKeys: [old] },
    ],
    'with the new key to seal and alone': [{ key: next, otherKeys: [old] }, { key: next }],
  } as const
  for (const [name, [one, other]] of Object.entries(rounds)) {
    it(`reach each other: ${name}`, async () => {
      for (const [client, server] of [
        [one, other],
        [other, one],
      ] as const) {
        const { address } = await served(() => Promise.resolve(done), server)
        expect(await openPeering(client).request(address, about('ses_1'))).toEqual(done)
      }
    })
  }

  it('refuse a node that has none of their keys', async () => {
    const { address } = await served(() => Promise.resolve(done), { key: next, otherKeys: [old] })
    const stranger = openPeering({ key: Buffer.alloc(32, 1), otherKeys: [next].slice(1) })
    await expect(stranger.request(address, about('ses_1'))).rejects.toThrow(StoreUnavailable)
  })
})

describe('a process without the key', () => {
  it('gets no response', async () => {
    let requestCount = 0
    const server = await served(() => {
      requestCount++
      return Promise.resolve(done)
    })
    await expect(openPeering({ key: otherKey }).request(server.address, about('ses_1'))).rejects.toThrow(
      StoreUnavailable,
    )
    expect(requestCount).toBe(0)
  })

  it('receives no request if it acts as the server', async () => {
    let requestCount = 0
    const thief = await served(
      () => {
        requestCount++
        return Promise.resolve(done)
      },
      { key: otherKey },
    )
    await expect(openPeering().request(thief.address, about('ses_secret'))).rejects.toThrow(StoreUnavailable)
    expect(requestCount).toBe(0)
  })

  it.each([
    ['sends a request at once', `${JSON.stringify({ id: 1, ask: about('ses_1') })}\n`],
    ['speaks HTTP', 'GET / HTTP/1.1\r\n\r\n'],
    ['sends much', 'x'.repeat(100_000)],
  ])('is disconnected when it %s', async (_, sent) => {
    let requestCount = 0
    const server = await served(() => {
      requestCount++
      return Promise.resolve(done)
    })
    const socket = connect(portOf(server), '127.0.0.1')
    socket.on('error', () => socket.destroy())
    let heard = ''
    socket.on('data', (bytes: Buffer) => {
      heard += bytes.toString('latin1')
    })
    socket.write(sent)
    await closed(socket)
    expect(heard).not.toContain('{')
    expect(requestCount).toBe(0)
  })

  it('is disconnected when it sends nothing', async () => {
    const server = await served(() => Promise.resolve(done))
    const socket = connect(portOf(server), '127.0.0.1')
    socket.on('error', () => socket.destroy())
    socket.resume()
    await closed(socket)
    expect(socket.destroyed).toBe(true)
  })

  it('does not keep a server from closing', async () => {
    const clock = new VirtualClock()
    const server = await openServer(() => Promise.resolve(done), { clock })
    const socket = connect(portOf(server), '127.0.0.1')
    socket.on('error', () => socket.destroy())
    await once(socket, 'connect')
    const ended = server.close()
    await clock.advance(peerLimits.closeMs)
    expect(await ended).toBeUndefined()
  })

  it('reads no plain text on the connection', async () => {
    const commit = commitOf('ses_secret', 1)
    const server = await served(() => Promise.resolve({ kind: 'told', commit, duplicate: false }))
    const passed: Buffer[] = []
    const wire = await openRaw((near) => {
      const far = connect(portOf(server), '127.0.0.1')
      for (const socket of [near, far]) socket.on('data', (bytes: Buffer) => passed.push(bytes))
      near.pipe(far)
      far.pipe(near)
      far.on('error', () => far.destroy())
      far.on('close', () => near.destroy())
      near.on('close', () => far.destroy())
    })
    closedAfter(() => wire.server.close())
    expect(await openPeering().request(wire.address, about('ses_secret'))).toMatchObject({ kind: 'told' })
    const text = Buffer.concat(passed).toString('latin1')
    expect(text.length).toBeGreaterThan(100)
    expect(text).not.toMatch(/ses_secret|told|delivered/)
  })

  it('cannot change a request on the connection unnoticed', async () => {
    const requested: string[] = []
    const server = await served((request) => {
      requested.push(actorOf(request))
      return Promise.resolve(done)
    })
    const armed = { is: false }
    const wire = await openRaw((near) => {
      const far = connect(portOf(server), '127.0.0.1')
      near.on('data', (bytes: Buffer) => {
        if (armed.is) bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1)
        far.write(bytes)
      })
      far.pipe(near)
      far.on('error', () => far.destroy())
      far.on('close', () => near.destroy())
      near.on('close', () => far.destroy())
    })
    closedAfter(() => wire.server.close())
    const peers = openPeering()
    await peers.request(wire.address, about('ses_1'))
    armed.is = true
    await expect(peers.request(wire.address, about('ses_2'))).rejects.toThrow(StoreUnavailable)
    expect(requested).toEqual(['ses_1'])
  })

  it('cannot replay what a peer has sent', async () => {
    let requestCount = 0
    const server = await served(() => {
      requestCount++
      return Promise.resolve(done)
    })
    const recorded: Buffer[] = []
    const wire = await openRaw((near) => {
      const far = connect(portOf(server), '127.0.0.1')
      near.on('data', (bytes: Buffer) => recorded.push(bytes))
      near.pipe(far)
      far.pipe(near)
      near.on('close', () => far.destroy())
    })
    closedAfter(() => wire.server.close())
    const peers = openPeering()
    await peers.request(wire.address, about('ses_1'))
    peers.close()
    const replay = connect(portOf(server), '127.0.0.1')
    replay.on('error', () => replay.destroy())
    replay.resume()
    replay.write(Buffer.concat(recorded))
    await closed(replay)
    expect(requestCount).toBe(1)
  })
})
