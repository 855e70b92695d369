import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { PeerGone, type PeerRequest } from '#runtime/messages/peers.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { StoreUnavailable } from '#storage/ports.ts'
import { commitOf } from '#test/storage/samples.ts'
import { calm, VirtualClock } from '#test/support/virtual-clock.ts'
import { peerLimits } from '#transport/peers/peer-limits.ts'
import {
  about,
  actorOf,
  closeAll,
  closedAfter,
  done,
  held,
  openPeering,
  openRaw,
  openServer,
  openWire,
  portOf,
  served,
} from './peering.ts'

afterEach(closeAll)

describe('requests between processes', () => {
  it('arrive unchanged, and so do their responses', async () => {
    const commit = commitOf('ses_1', 1, {
      events: [{ sequence: 1, event_type: 'turn.started', payload: { text: 'grüße\n☃' } }],
    })
    const came: PeerRequest[] = []
    const server = await served((request) => {
      came.push(request)
      return Promise.resolve({ kind: 'told', commit, duplicate: true })
    })
    const requests: PeerRequest[] = [
      {
        kind: 'deliver',
        actor: 'ses_1',
        delivery: { event: { type: 'turn', input: 'a\nb' }, stored: { type: 'turn' }, cause: 'c' },
        follower: 'p',
      },
      { kind: 'deliver', actor: 'ses_1', delivery: { event: { type: 'cancel' }, cause: 'd' } },
      {
        kind: 'create',
        machine: 'session',
        actor: 'ses_2',
        owner: { project: 'prj', tenant: null, user: 'u', createdAt: 1 },
        input: { metadata: {} },
        cause: 'e',
      },
      { kind: 'delivered', actor: 'ses_1' },
      { kind: 'rows' },
      { kind: 'question', actor: 'job_1', question: { kind: 'frame', after: 0 } },
      { kind: 'task', service: 'search', key: 'prj', input: { text: 'harbour' } },
      { kind: 'task', service: 'drop', key: null, input: {} },
      { kind: 'follow', actors: ['ses_1', 'ses_2'], follower: 'p' },
    ]
    const peers = openPeering()
    for (const request of requests)
      expect(await peers.request(server.address, request)).toEqual({ kind: 'told', commit, duplicate: true })
    expect(came).toEqual(requests)
  })

  it('arrive in the order in which they were sent', async () => {
    const { service, came, answer } = held()
    const server = await served(service)
    const peers = openPeering()
    const names = Array.from({ length: 500 }, (_, at) => `ses_${at}`)
    const answers = names.map((name) => peers.request(server.address, about(name)))
    await expect.poll(() => came.length).toBe(names.length)
    expect(came).toEqual(names)
    for (const name of names) answer(name)
    await Promise.all(answers)
  })

  it('are answered independently: a slow one does not block others', async () => {
    const { service, came, answer } = held()
    const server = await served(service)
    const peers = openPeering()
    const slow = peers.request(server.address, about('slow'))
    const quick = peers.request(server.address, about('quick'))
    await expect.poll(() => came).toEqual(['slow', 'quick'])
    answer('quick')
    expect(await quick).toEqual(done)
    answer('slow')
    expect(await slow).toEqual(done)
  })

  it('share one connection if they are concurrent', async () => {
    let connections = 0
    const server = await served(() => Promise.resolve(done))
    const wire = await openWire(portOf(server))
    closedAfter(wire.close)
    wire.server.on('connection', () => connections++)
    const peers = openPeering()
    await Promise.all(Array.from({ length: 200 }, (_, at) => peers.request(wire.address, about(`ses_${at}`))))
    expect(connections).toBe(1)
  })

  it('may be as large as a request and its commit can become', async () => {
    const text = '☃'.repeat(3_000_000)
    const server = await served((request) => Promise.resolve(actorOf(request) === text ? done : { kind: 'elsewhere' }))
    expect(await openPeering().request(server.address, about(text))).toEqual(done)
  })
})

describe('a failure in another process', () => {
  it('is thrown here with the same code, message and details', async () => {
    const refusal = new ServiceError('rate_limit_exceeded', {
      param: 'input',
      message: 'Slower.',
      retryAfterS: 3,
      extra: { used: 4, limit: 4 },
    })
    const server = await served(() => Promise.reject(refusal))
    const error = await openPeering()
      .request(server.address, about('ses_1'))
      .catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ServiceError)
    expect(error).toMatchObject({ code: refusal.code, message: refusal.message, details: refusal.details })
  })

  it('is StoreUnavailable if the store of that process is unavailable', async () => {
    const server = await served(() => Promise.reject(new StoreUnavailable('no primary')))
    const answer = openPeering().request(server.address, about('ses_1'))
    await expect(answer).rejects.toThrow(new StoreUnavailable('no primary'))
  })

  it('reveals nothing of a defect except that a retry is possible', async () => {
    const server = await served(() => {
      throw new TypeError('secret is undefined')
    })
    const answer = openPeering().request(server.address, about('ses_1'))
    await expect(answer).rejects.toThrow(new StoreUnavailable('the peer failed'))
  })

  it.each([
    ['kind', { kind: 'a_later_kind', actor: 'ses_1' }],
    ['form', { kind: 'deliver', actor: 'ses_1', delivery: { event: 'turn' } }],
    ['inherited name', { kind: 'constructor' }],
  ])('by an unknown %s of a request is the response elsewhere, and reaches no service', async (_, request) => {
    let requestCount = 0
    const server = await served(() => {
      requestCount++
      return Promise.resolve(done)
    })
    const later: PeerRequest = Object(request)
    expect(await openPeering().request(server.address, later)).toEqual({ kind: 'elsewhere' })
    expect(requestCount).toBe(0)
  })

  it.each([
    ['kind', { kind: 'a_later_kind' }],
    ['form', { kind: 'told', commit: {}, duplicate: false }],
  ])('by an unknown %s of its response is an unknown outcome', async (_, answer) => {
    const server = await served(() => Promise.resolve(Object(answer)))
    await expect(openPeering().request(server.address, about('ses_1'))).rejects.toThrow(StoreUnavailable)
  })
})

describe('a process that ended', () => {
  it('is reported as gone at once', async () => {
    const server = await openServer(() => Promise.resolve(done))
    await server.close()
    await expect(openPeering().request(server.address, about('ses_1'))).rejects.toThrow(PeerGone)
  })

  it('leaves open requests with an unknown outcome, is gone for later ones, and can be replaced', async () => {
    const { service, came } = held()
    const server = await openServer(service)
    const wire = await openWire(portOf(server))
    const peers = openPeering()
    const open = peers.request(wire.address, about('ses_1'))
    await expect.poll(() => came).toEqual(['ses_1'])
    wire.close()
    const error = await open.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(StoreUnavailable)
    expect(error).not.toBeInstanceOf(PeerGone)
    await expect(peers.request(wire.address, about('ses_1'))).rejects.toThrow(PeerGone)
    await server.close()
    const next = await served(() => Promise.resolve(done), { port: Number(wire.address.split(':')[1]) })
    expect(await peers.request(next.address, about('ses_1'))).toEqual(done)
  })

  it('answers its open requests, and refers later ones elsewhere', async () => {
    const { service, came, answer } = held()
    const server = await openServer(service)
    const peers = openPeering()
    const first = peers.request(server.address, about('ses_1'))
    await expect.poll(() => came).toEqual(['ses_1'])
    const closed = server.close()
    expect(await peers.request(server.address, about('ses_2'))).toEqual({ kind: 'elsewhere' })
    answer('ses_1')
    expect(await first).toEqual(done)
    await closed
    await expect(peers.request(server.address, about('ses_3'))).rejects.toThrow(PeerGone)
    expect(came).toEqual(['ses_1'])
  })

  it('ends even if one of its requests is never answered', async () => {
    const clock = new VirtualClock()
    const { service, came } = held()
    const server = await openServer(service, { clock })
    const open = openPeering().request(server.address, about('ses_1'))
    const lost = expect(open).rejects.toThrow(StoreUnavailable)
    await expect.poll(() => came).toEqual(['ses_1'])
    const closed = server.close()
    await clock.advance(peerLimits.closeMs)
    await closed
    await lost
  })
})

describe('a cut connection', () => {
  it('leaves open requests with an unknown outcome, and is replaced for the next request', async () => {
    const { service, came, answer } = held()
    const server = await served(service)
    const wire = await openWire(portOf(server))
    closedAfter(wire.close)
    const peers = openPeering()
    const open = [peers.request(wire.address, about('ses_1')), peers.request(wire.address, about('ses_2'))]
    await expect.poll(() => came.length).toBe(2)
    wire.cut()
    for (const outcome of await Promise.allSettled(open))
      expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'StoreUnavailable' } })
    const again = peers.request(wire.address, about('ses_3'))
    await expect.poll(() => came.length).toBe(3)
    answer('ses_3')
    expect(await again).toEqual(done)
  })

  it('is reported with its address, unlike one that was never open or was closed here', async () => {
    const server = await served(() => Promise.resolve(done))
    const wire = await openWire(portOf(server))
    closedAfter(wire.close)
    const [peers, closing] = [openPeering(), openPeering()]
    const lost: string[] = []
    peers.onLost?.((address) => lost.push(address))
    closing.onLost?.((address) => lost.push(`${address} was closed here`))
    await peers.request(wire.address, about('ses_1'))
    await closing.request(wire.address, about('ses_1'))
    await expect(peers.request('127.0.0.1:1', about('ses_1'))).rejects.toThrow(PeerGone)
    closing.close()
    expect(lost).toEqual([])
    wire.cut()
    await expect.poll(() => lost).toEqual([wire.address])
    expect(await peers.request(wire.address, about('ses_1'))).toEqual(done)
  })

  it('within a response delivers no partial response', async () => {
    const server = await served(() => Promise.resolve(done))
    // the bytes from the server are forwarded one by one, and the connection is cut before byte number `before`
    const torn = async (before: number) => {
      const sent = { bytes: 0 }
      const wire = await openRaw((near) => {
        const far = connect(portOf(server), '127.0.0.1')
        near.pipe(far)
        far.on('error', () => far.destroy())
        far.on('data', (bytes: Buffer) => {
          for (const byte of bytes) {
            if (++sent.bytes === before) return near.destroy()
            near.write(Buffer.of(byte))
          }
        })
        near.on('close', () => far.destroy())
      })
      closedAfter(() => wire.server.close())
      return { address: wire.address, sent }
    }
    const whole = await torn(Number.POSITIVE_INFINITY)
    expect(await openPeering().request(whole.address, about('ses_1'))).toEqual(done)
    const all = whole.sent.bytes
    for (const before of [all, all - 1, all - 20]) {
      const { address } = await torn(before)
      await expect(openPeering().request(address, about('ses_1')), String(before)).rejects.toThrow(StoreUnavailable)
    }
  })
})

describe('a slow peer', () => {
  it('is given up after 5 s', async () => {
    const clock = new VirtualClock()
    const { service, came } = held()
    const server = await served(service)
    const open = openPeering({ clock }).request(server.address, about('ses_1'))
    const late = expect(open).rejects.toThrow('does not answer')
    await expect.poll(() => came.length).toBe(1)
    await clock.leap(peerLimits.answerMs)
    await late
  })

  it('that answers other requests keeps its connection', async () => {
    const clock = new VirtualClock()
    const { service, came, answer } = held()
    const server = await served(service)
    const peers = openPeering({ clock })
    const slow = peers.request(server.address, about('slow'))
    const late = expect(slow).rejects.toThrow(StoreUnavailable)
    await expect.poll(() => came.length).toBe(1)
    await clock.leap(peerLimits.answerMs - 1)
    const quick = peers.request(server.address, about('quick'))
    await expect.poll(() => came.length).toBe(2)
    const third = peers.request(server.address, about('third'))
    await expect.poll(() => came.length).toBe(3)
    answer('quick')
    await quick
    await clock.advance(1)
    await late
    answer('third')
    expect(await third).toEqual(done)
  })

  it('that never authenticates is given up after 2 s', async () => {
    const clock = new VirtualClock()
    const mute = await openRaw(() => {})
    closedAfter(() => mute.server.close())
    const open = openPeering({ clock }).request(mute.address, about('ses_1'))
    const late = expect(open).rejects.toThrow(StoreUnavailable)
    await once(mute.server, 'connection')
    await clock.advance(peerLimits.handshakeMs)
    await late
  })

  it('has a limited number of open requests', async () => {
    const mute = await openRaw(() => {})
    closedAfter(() => mute.server.close())
    const peers = openPeering()
    const open = Array.from({ length: peerLimits.openQuestions }, () => peers.request(mute.address, about('ses_1')))
    await expect(peers.request(mute.address, about('ses_1'))).rejects.toThrow('too many')
    peers.close()
    const outcomes = await Promise.allSettled(open)
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
  })
})

describe('a frame that is too large', () => {
  const huge = 'x'.repeat(peerLimits.frameMaxBytes)

  it('is not sent as a request, and does not affect others', async () => {
    const server = await served(() => Promise.resolve(done))
    const peers = openPeering()
    const [large, small] = await Promise.allSettled([
      peers.request(server.address, about(huge)),
      peers.request(server.address, about('ses_1')),
    ])
    expect(large).toMatchObject({ status: 'rejected', reason: { name: 'StoreUnavailable' } })
    expect(small).toEqual({ status: 'fulfilled', value: done })
  })

  it('is not sent as a response: its outcome is unknown', async () => {
    const commit = commitOf('ses_1', 1, { event: { type: 'turn', input: huge } })
    const server = await served((request) =>
      Promise.resolve(actorOf(request) === 'large' ? { kind: 'told', commit, duplicate: false } : done),
    )
    const peers = openPeering()
    const large = peers.request(server.address, about('large'))
    const small = peers.request(server.address, about('small'))
    await expect(large).rejects.toThrow(StoreUnavailable)
    expect(await small).toEqual(done)
  })
})

describe('the requesting side', () => {
  it('rejects a request to an invalid address', async () => {
    await expect(openPeering().request('nowhere', about('ses_1'))).rejects.toThrow(StoreUnavailable)
  })

  it('rejects open and new requests once it is closed', async () => {
    const server = await served(() => Promise.resolve(done))
    const peers = openPeering()
    const open = peers.request(server.address, about('ses_1'))
    peers.close()
    await expect(open).rejects.toThrow(StoreUnavailable)
    await expect(peers.request(server.address, about('ses_1'))).rejects.toThrow(StoreUnavailable)
    await calm()
  })
})
