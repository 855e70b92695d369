import { describe, expect, it } from 'vitest'
import { type Commit, StoreUnavailable } from '#storage/ports.ts'
import { projectScope, tenantScope, userScope } from '#storage/scope.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { calm } from '#test/support/virtual-clock.ts'
import { logOf, openProbe, owner, probeRows, read, typesOf } from './probe.ts'
import { probeDefinition } from './probe-machine.ts'

const id = 'prb_1'
const count = { type: 'count' }

const open = async (options: Parameters<typeof openProbe>[0] = {}) => {
  const faulty = new FaultyStorage(openMemoryStorage())
  const probe = await openProbe({ storage: faulty.storage, ...options })
  await probe.create(id)
  return { faulty, probe, log: async () => typesOf(await logOf(faulty.inner, id)) }
}

describe('an actor', () => {
  it.each([
    ['its project', projectScope('prj_1')],
    ['its tenant', tenantScope('prj_1', 'ten_1')],
    ['its user', userScope('prj_1', 'ten_1', 'usr_1')],
  ])('is found in the scope of %s', async (_, scope) => {
    const { probe } = await open()
    expect((await probe.host.find(scope, probeDefinition, id)).id).toBe(id)
  })

  it.each([
    ['another project', projectScope('prj_2'), id],
    ['another tenant', tenantScope('prj_1', 'ten_2'), id],
    ['another user', userScope('prj_1', 'ten_1', 'usr_2'), id],
    ['the same names in another project', userScope('prj_2', 'ten_1', 'usr_1'), id],
    ['its project by an unknown id', projectScope('prj_1'), 'prb_2'],
    ['its project by an id of another kind', projectScope('prj_1'), 'ses_1'],
  ])('is not found in the scope of %s', async (_, scope, requested) => {
    const { probe } = await open()
    await expect(probe.host.find(scope, probeDefinition, requested)).rejects.toMatchObject({ code: 'not_found' })
  })
})

it('is loaded by the repeat of a creation that failed after its commit was durable', async () => {
  const { faulty, probe } = await open()
  const creation = { kind: probeDefinition, id: 'prb_2', owner, input: {}, cause: 'key', again: true }
  faulty.unreadable = true
  await expect(probe.host.create(creation)).rejects.toBeInstanceOf(StoreUnavailable)
  faulty.unreadable = false
  expect(await probe.host.create(creation)).toMatchObject({ duplicate: true, commit: { seq: 1 } })
  expect(probe.host.resident('prb_2')).toBeDefined()
  await probe.host.rows.settled()
  expect(await faulty.inner.records.get(probeRows, projectScope('prj_1'), 'prb_2')).toMatchObject({ version: 1 })
})

describe('a cause', () => {
  it('is processed once: a repetition returns the first result and changes nothing', async () => {
    const { probe, log } = await open()
    const first = await probe.deliver(id, count, { cause: 'key' })
    await probe.deliver(id, count)
    const again = await probe.deliver(id, count, { cause: 'key' })
    expect(first.duplicate).toBe(false)
    expect(again).toMatchObject({ duplicate: true, commit: { seq: 2, events: [{ sequence: 1 }] } })
    expect(await log()).toEqual(['counted', 'counted'])
  })

  it('is processed once when it is delivered twice concurrently', async () => {
    const { probe, log } = await open()
    const both = await Promise.all([1, 2].map(() => probe.deliver(id, count, { cause: 'key' })))
    expect(both.map((delivered) => delivered.duplicate)).toEqual([false, true])
    expect(await log()).toEqual(['counted'])
  })

  it('returns its first result even if the event would be refused now', async () => {
    const { probe } = await open()
    await probe.deliver(id, count, { cause: 'key' })
    expect(await probe.deliver(id, { type: 'refuse' }, { cause: 'key' })).toMatchObject({ duplicate: true })
  })

  it('creates an actor once', async () => {
    const { probe, faulty } = await open()
    expect(await probe.create(id)).toMatchObject({ duplicate: true })
    const next = await openProbe({ storage: faulty.inner })
    await next.deliver(id, count)
    expect(await next.create(id)).toMatchObject({ duplicate: true })
    expect((await next.find(id)).state.snapshot.context).toMatchObject({ count: 1 })
  })
})

describe('a poison event', () => {
  it.each(['guard', 'assign', 'undeclared'])('(%s) is refused and leaves the actor unchanged', async (type) => {
    const { probe, faulty, log } = await open()
    await probe.deliver(id, count)
    const before = await faulty.inner.commits.head(id)
    await expect(probe.deliver(id, { type })).rejects.toMatchObject({ code: 'internal_error' })
    expect(await faulty.inner.commits.head(id)).toEqual(before)
    expect((await probe.find(id)).state.snapshot.context).toMatchObject({ count: 1 })
    await probe.deliver(id, count)
    expect(await log()).toEqual(['counted', 'counted'])
  })

  it('sent as a message does not block the messages after it', async () => {
    const { probe, log } = await open()
    await probe.create('prb_2')
    await probe.deliver('prb_2', {
      type: 'send',
      messages: [
        { to: id, event: { type: 'guard' } },
        { to: id, event: count },
      ],
    })
    await calm()
    expect(await log()).toEqual(['counted'])
  })
})

describe('an actor that another process has advanced', () => {
  const moveOn = async ({ inner: { commits } }: FaultyStorage, times = 1): Promise<void> => {
    for (let n = 0; n < times; n++) {
      const head = await commits.head(id)
      const context = head?.snapshot?.context
      if (head === null || typeof context !== 'object' || context === null) throw new Error('the probe exists')
      const sequence = head.last_sequence + 1
      const theirs = {
        ...head,
        seq: head.seq + 1,
        cause: `theirs:${head.seq}`,
        nonce: `theirs:${head.seq}`,
        events: [{ sequence, event_type: 'counted', payload: {} }],
        last_sequence: sequence,
        snapshot: { ...head.snapshot, context: { ...context, count: Number(Reflect.get(context, 'count')) + 1 } },
      }
      await commits.append([theirs])
    }
  }

  it('is loaded again and applies its event after theirs', async () => {
    const { probe, faulty } = await open()
    await probe.deliver(id, count)
    await moveOn(faulty, 3)
    await probe.deliver(id, count)
    expect((await logOf(faulty.inner, id)).map((event) => event.sequence)).toEqual([1, 2, 3, 4, 5])
    expect((await probe.find(id)).state.snapshot.context).toMatchObject({ count: 5 })
  })

  it('keeps the order of its waiting events', async () => {
    const { probe, faulty } = await open()
    await moveOn(faulty)
    const deliveries = [1, 2, 3].map((n) => probe.deliver(id, { type: 'say', n }))
    await Promise.all(deliveries)
    const said = (await logOf(faulty.inner, id)).filter((event) => event.event_type === 'said')
    expect(said.map((event) => event.payload.n)).toEqual([1, 2, 3])
  })

  it('shows its readers the events of the other process as well', async () => {
    const { probe, faulty } = await open()
    const reader = read(probe.host.feed.follow(id, 0, { at: 'never' }))
    await probe.deliver(id, count)
    await moveOn(faulty, 2)
    await probe.deliver(id, count)
    await calm()
    expect(reader.events.map((event) => event.sequence)).toEqual([1, 2, 3, 4])
  })

  it('fails the delivery if it is advanced again at every attempt', async () => {
    const { probe, faulty } = await open()
    let theirs = 0
    faulty.hold(async (commit: Commit) => {
      await faulty.inner.commits.append([{ ...commit, cause: `theirs${++theirs}`, nonce: `theirs${theirs}` }])
    })
    await expect(probe.deliver(id, count)).rejects.toThrow(StoreUnavailable)
    expect(theirs).toBeLessThan(10)
  })
})

describe('a commit whose outcome stays unknown', () => {
  const lostAnswer = async () => {
    const opened = await open({ work: async () => ({ event: { type: 'worked', output: 'fine' } }) })
    const { probe, faulty } = opened
    const reader = read(probe.host.feed.follow(id, 0, { at: 'never' }))
    faulty.next('answer_lost')
    faulty.unreadable = true
    const delivering = probe.deliver(id, { type: 'work', policy: 'idempotent' }, { cause: 'key' })
    const refused = expect(delivering).rejects.toThrow(StoreUnavailable)
    await probe.clock.advance(5000)
    await refused
    return { ...opened, reader }
  }

  it('takes effect once the store is back, without another request', async () => {
    const { probe, faulty, log, reader } = await lostAnswer()
    faulty.unreadable = false
    await probe.clock.advance(10_000)
    expect(await log()).toEqual(['worked'])
    expect(typesOf(reader.events)).toEqual(['worked'])
  })

  it('is found by a repeated request', async () => {
    const { probe, faulty, log } = await lostAnswer()
    faulty.unreadable = false
    const again = await probe.deliver(id, { type: 'work', policy: 'idempotent' }, { cause: 'key' })
    expect(again.duplicate).toBe(true)
    await calm()
    expect(await log()).toEqual(['worked'])
  })

  it('shows its event to stream readers once the store is back', async () => {
    const { probe, faulty } = await open()
    const reader = read(probe.host.feed.follow(id, 0, { at: 'never' }))
    faulty.next('answer_lost')
    faulty.unreadable = true
    const delivering = probe.deliver(id, count).catch(() => 'unknown')
    await probe.clock.advance(5000)
    expect(await delivering).toBe('unknown')
    expect(reader.events).toEqual([])
    faulty.unreadable = false
    await probe.clock.advance(10_000)
    expect(typesOf(reader.events)).toEqual(['counted'])
  })

  it('leaves no open commit', async () => {
    const { probe, faulty } = await open()
    for (let n = 0; n < 3; n++) await probe.deliver(id, count)
    faulty.next('answer_lost')
    faulty.unreadable = true
    const delivering = probe.deliver(id, count).catch(() => 'unknown')
    await probe.clock.advance(5000)
    expect(await delivering).toBe('unknown')
    faulty.unreadable = false
    await probe.clock.advance(10_000)
    expect(await faulty.inner.commits.open({ limit: 10 })).toEqual([])
  })

  it('adds a new actor to lists once the store is back', async () => {
    const { probe, faulty } = await open()
    faulty.next('answer_lost')
    faulty.unreadable = true
    const made = probe.create('prb_2').catch(() => 'unknown')
    await probe.clock.advance(5000)
    expect(await made).toBe('unknown')
    faulty.unreadable = false
    await probe.clock.advance(10_000)
    expect(await faulty.inner.records.count(probeRows, projectScope(owner.project))).toBe(2)
  })
})

it('commits nothing and throws StoreUnavailable while the store is away', async () => {
  const { probe, faulty, log } = await open()
  faulty.away = true
  const delivering = probe.deliver(id, count).catch((error: unknown) => error)
  await probe.clock.advance(5000)
  expect(await delivering).toBeInstanceOf(StoreUnavailable)
  faulty.away = false
  await probe.deliver(id, count)
  expect(await log()).toEqual(['counted'])
})

it('processes the deliveries of an actor one at a time, in the order of their arrival', async () => {
  const { probe, faulty } = await open()
  const deliveries = Array.from({ length: 50 }, (_, n) => probe.deliver(id, { type: 'say', n }))
  await Promise.all(deliveries)
  const said = await logOf(faulty.inner, id)
  expect(said.map((event) => event.payload.n)).toEqual(Array.from({ length: 50 }, (_, n) => n))
  expect(said.map((event) => event.sequence)).toEqual(Array.from({ length: 50 }, (_, n) => n + 1))
})

it('keeps one copy of an actor that is loaded while it is created, whichever comes first', async () => {
  const { probe } = await open()
  for (let lead = 0; lead < 40; lead++) {
    const made = `prb_made${lead}`
    const liveCopy = () => [...probe.host.residents()].find((resident) => resident.id === made)
    const making = probe.create(made)
    for (let turn = 0; turn < lead; turn++) await Promise.resolve()
    const pending = probe.host.load(made)
    await making
    const first = liveCopy()
    const found = await pending
    await calm()
    expect(liveCopy()).toBe(first)
    expect(found === null || found === first).toBe(true)
  }
})

it('keeps one copy of an actor that is loaded before its first commit is acknowledged', async () => {
  const { probe, faulty } = await open()
  const answer = Promise.withResolvers<void>()
  faulty.holdAnswers((commit) => (commit.actor === 'prb_2' ? answer.promise : undefined))
  const making = probe.create('prb_2')
  await calm()
  const found = await probe.find('prb_2')
  answer.resolve()
  expect(await making).toMatchObject({ duplicate: false, commit: { seq: 1 } })
  expect(await probe.find('prb_2')).toBe(found)
})

it('drops an effect whose actor was removed when its result arrives', async () => {
  const ended = Promise.withResolvers<void>()
  const { probe, faulty } = await open({
    work: async () => {
      await ended.promise
      return { event: { type: 'worked', output: 'too late' } }
    },
  })
  await probe.deliver(id, { type: 'work', policy: 'idempotent' })
  await faulty.inner.commits.forget(id)
  probe.host.drop(id)
  ended.resolve()
  await calm()
  expect(probe.host.effects.running).toBe(0)
})

it('writes the newest row of an actor before rows.settled resolves', async () => {
  const { probe, faulty } = await open()
  for (let n = 0; n < 20; n++) void probe.deliver(id, count)
  await calm()
  await probe.host.rows.settled()
  const row = await faulty.inner.records.get(probeRows, projectScope(owner.project), id)
  expect(row).toMatchObject({ version: 21, tenant: 'ten_1', user: 'usr_1', data: { count: 20 } })
})

it('takes a higher epoch at every start', async () => {
  const storage = openMemoryStorage()
  const hosts = [await openProbe({ storage }), await openProbe({ storage }), await openProbe({ storage })]
  expect(hosts.map(({ host }) => host.epoch)).toEqual([1, 2, 3])
})
