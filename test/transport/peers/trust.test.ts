import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { StoreUnavailable } from '../../../src/storage/ports.ts'
import { peerLimits } from '../../../src/transport/peers/peer-limits.ts'
import { VirtualClock } from '../../support/virtual-clock.ts'
import { about, asking, closeAll, closedAfter, done, openRaw, otherKey, portOf, served } from './peering.ts'

afterEach(closeAll)

describe('somebody without the key', () => {
  it('is not answered', async () => {
    let asked = 0
    const server = await served(() => {
      asked++
      return Promise.resolve(done)
    })
    await expect(asking({ key: otherKey }).ask(server.address, about('ses_1'))).rejects.toThrow(StoreUnavailable)
    expect(asked).toBe(0)
  })

  it('is not told anything when he answers: the question stays here', async () => {
    let heard = ''
    const thief = await openRaw((socket) => {
      socket.on('data', (bytes: Buffer) => {
        heard += bytes.toString()
        socket.write(`${JSON.stringify({ proof: 'A'.repeat(43) })}\n`)
      })
      socket.write(`${JSON.stringify({ nonce: 'B'.repeat(43) })}\n`)
    })
    closedAfter(() => thief.server.close())
    await expect(asking().ask(thief.address, about('ses_secret'))).rejects.toThrow(StoreUnavailable)
    expect(heard).toContain('proof')
    expect(heard).not.toContain('ses_secret')
  })

  it.each([
    ['asks at once', `${JSON.stringify({ id: 1, ask: about('ses_1') })}\n`],
    ['sends no JSON', 'GET / HTTP/1.1\r\n\r\n'],
    ['sends a proof of his own', `${JSON.stringify({ nonce: 'A'.repeat(43), proof: 'A'.repeat(43) })}\n`],
    ['sends more than a greeting', 'x'.repeat(peerLimits.greetingMaxBytes + 1)],
  ])('is cut off when he %s', async (_, sent) => {
    let asked = 0
    const server = await served(() => {
      asked++
      return Promise.resolve(done)
    })
    const socket = connect(portOf(server), '127.0.0.1')
    socket.on('error', () => socket.destroy())
    let heard = ''
    socket.on('data', (bytes: Buffer) => {
      heard += bytes.toString()
    })
    socket.write(sent)
    await once(socket, 'close')
    expect(heard.split('\n').filter((line) => line !== '')).toHaveLength(1)
    expect(asked).toBe(0)
  })

  it('is cut off when he says nothing for 2 s', async () => {
    const clock = new VirtualClock()
    const server = await served(() => Promise.resolve(done), { clock })
    const socket = connect(portOf(server), '127.0.0.1')
    const closed = once(socket, 'close')
    await once(socket, 'data')
    await clock.advance(peerLimits.greetingMs)
    await closed
  })

  it('cannot use again what a peer has sent', async () => {
    let asked = 0
    const server = await served(() => {
      asked++
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
    const peers = asking()
    await peers.ask(wire.address, about('ses_1'))
    peers.close()
    const replay = connect(portOf(server), '127.0.0.1')
    replay.on('error', () => replay.destroy())
    replay.resume()
    replay.write(Buffer.concat(recorded))
    await once(replay, 'close')
    expect(asked).toBe(1)
  })
})
