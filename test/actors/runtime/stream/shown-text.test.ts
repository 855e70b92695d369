import { describe, expect, it } from 'vitest'
import { StoreUnavailable } from '#storage/ports.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { forever, logOf, openProbe, type ProbeOptions, type Run, read, typesOf } from '../probe.ts'

const id = 'prb_01kb0000000000000000000001'

/** An effect that shows what the test gives it, until the test lets it end. */
class Speaker {
  readonly #end = Promise.withResolvers<void>()
  show: (text: string) => void = () => {}

  readonly run: NonNullable<ProbeOptions['speak']> = async (_params, { show }) => {
    this.show = show
    await this.#end.promise
    return { event: { type: 'spoken', delta: '' }, takesText: true }
  }

  end(): void {
    this.#end.resolve()
  }
}

const settled = () => new Promise<void>((resolve) => setImmediate(resolve))

const opened = async (options: ProbeOptions = {}) => {
  const speaker = new Speaker()
  const storage = options.storage ?? openMemoryStorage()
  const probe = await openProbe({ ...options, storage, speak: speaker.run })
  await probe.create(id)
  await probe.deliver(id, { type: 'speak' })
  const commits = async () => (await storage.commits.ofActor(id, 0, 100)).length
  const says = async (...texts: readonly string[]) => {
    for (const text of texts) {
      speaker.show(text)
      await probe.clock.advance(1)
    }
  }
  return { probe, storage, speaker, commits, says }
}

const shown = (events: readonly { readonly sequence: number; readonly payload: { delta?: unknown } }[]) =>
  events.map(({ sequence, payload }) => [sequence, payload.delta])

describe('text of a running effect', () => {
  it('is shown at once, and makes no commit for a second', async () => {
    const { probe, commits, says } = await opened()
    const before = await commits()
    const reader = read(probe.host.feed.follow(id, 1, { at: 'never' }))
    await says('one ', 'two ', 'three')
    expect(shown(reader.events)).toEqual([
      [2, 'one '],
      [3, 'two '],
      [4, 'three'],
    ])
    expect(await commits()).toBe(before)
    await probe.clock.advance(1000)
    expect(await commits()).toBe(before + 1)
    expect(shown(await logOf(probe.storage, id)).slice(1)).toEqual(shown(reader.events))
  })

  it('is shown before the loop goes on to other work', async () => {
    const { probe, speaker } = await opened()
    const reader = read(probe.host.feed.follow(id, 1, { at: 'never' }))
    setImmediate(() => speaker.show('one'))
    const next = new Promise((resolve) => setImmediate(() => resolve(shown(reader.events))))
    expect(await next).toEqual([[2, 'one']])
  })

  it('is one commit with the result that comes first, under the sequences that readers know', async () => {
    const { probe, speaker, commits, says } = await opened()
    const before = await commits()
    const reader = read(probe.host.feed.follow(id, 1, { at: 'never' }))
    await says('one ', 'two ')
    speaker.end()
    await probe.clock.advance(1)
    await settled()
    expect(await commits()).toBe(before + 1)
    expect(typesOf(reader.events)).toEqual(['speech.delta', 'speech.delta', 'speech.ended'])
    expect(reader.events.at(-1)?.payload.text).toBe('one two ')
    expect((await logOf(probe.storage, id)).slice(1).map(({ at: _, ...event }) => event)).toEqual(reader.events)
  })

  it('comes before a step of another cause, so that it is in the log before what that step says', async () => {
    const { probe, says } = await opened()
    await says('one ', 'two ')
    await probe.deliver(id, { type: 'stop' })
    expect(typesOf(await logOf(probe.storage, id))).toEqual([
      'speech.started',
      'speech.delta',
      'speech.delta',
      'stopped',
    ])
  })

  it('is found by a reader that begins in the middle', async () => {
    const { probe, says } = await opened()
    await says('one ', 'two ', 'three ')
    const late = read(probe.host.feed.follow(id, 2, { at: 'never' }))
    expect(shown(late.events)).toEqual([
      [3, 'two '],
      [4, 'three '],
    ])
    await says('four')
    expect(shown(late.events).at(-1)).toEqual([5, 'four'])
  })

  it('is stored once, with the lengths of its pieces', async () => {
    const { probe, storage, says } = await opened()
    await says('one ', 'two ', 'three')
    await probe.clock.advance(1000)
    const commit = (await storage.commits.ofActor(id, 0, 100)).at(-1)
    expect(commit?.events).toMatchObject([{ sequence: 4, payload: { delta: 'one two three' }, cuts: [4, 4, 5] }])
  })

  it('becomes durable at a time that streams have in common, and within a second', async () => {
    const { probe, storage, says } = await opened()
    const begun = probe.clock.now()
    await probe.clock.advance(37)
    await says('one ', 'two ')
    await probe.clock.advance(962)
    const commit = (await storage.commits.ofActor(id, 0, 100)).at(-1)
    expect(commit?.events).toMatchObject([{ cuts: [4, 4] }])
    expect(Number(commit?.at) - begun).toBe(1000)
  })

  it('waits while so much of it is not durable that a new owner would not leave it out', async () => {
    const { probe, storage, says } = await opened()
    const append = storage.commits.append.bind(storage.commits)
    storage.commits.append = async (commits) => commits.map(() => 'unknown' as const)
    const reader = read(probe.host.feed.follow(id, 1, { at: 'never' }))
    await says(...Array.from({ length: 1100 }, () => 'x'))
    expect(reader.events.length).toBeLessThanOrEqual(1024)
    storage.commits.append = append
  })

  it('is one commit at a time that a full store refuses, however much of it waits', async () => {
    const { probe, storage, says } = await opened()
    let commits = 0
    storage.commits.append = () => {
      commits += 1
      const { promise, reject } = Promise.withResolvers<never>()
      probe.clock.after(5, () => reject(new StoreUnavailable('full')))
      return promise
    }
    await says(...Array.from({ length: 400 }, () => 'x'.repeat(1000)))
    for (let second = 0; second < 20; second++) await probe.clock.advance(1000)
    // waits of 50 ms to 2 s, of which a half may be chance
    expect(commits).toBeLessThanOrEqual(30)
  })
})

describe('text that its process showed before it died', () => {
  it('has sequences that nothing else gets, whoever reads', async () => {
    const { probe: first, storage, says } = await opened()
    await says('one ')
    await first.clock.advance(1000)
    await says('two ', 'three')
    const second = await openProbe({ storage, speaksAgain: true })
    await second.deliver(id, { type: 'say', text: 'x' })
    const log = await logOf(storage, id)
    expect(log.map(({ sequence, event_type }) => [sequence, event_type])).toEqual([
      [1, 'speech.started'],
      [2, 'speech.delta'],
      [1027, 'speech.restarted'],
      [1028, 'said'],
    ])
    expect(log[2]?.payload).toEqual({ from: 2 })
  })

  it('is followed by the next event without a read of the log, for a reader that was shown it', async () => {
    const { probe: first, storage, says } = await opened()
    await says('one ')
    await first.clock.advance(1000)
    await says('two ')
    const again = Promise.withResolvers<void>()
    const second = await openProbe({ storage, speaksAgain: again.promise })
    const reader = read(second.host.feed.follow(id, 3, { at: 'never' }))
    storage.commits.events = () => Promise.reject(new Error('the log was read'))
    again.resolve()
    await second.clock.advance(1)
    expect(reader.events).toMatchObject([{ sequence: 1027, event_type: 'speech.restarted' }])
  })

  it('is left out by a process that streams again, whose text a later reader has whole', async () => {
    const { storage, says } = await opened()
    await says('one ')
    const texts = Array.from({ length: 40 }, (_, at) => `${at} `)
    const speak: Run = async (params, context) => {
      for (const text of texts) {
        context.show(text)
        await settled()
      }
      return forever(params, context)
    }
    const second = await openProbe({ storage, speak })
    await second.clock.advance(1000)
    const reader = read(second.host.feed.follow(id, 1, { at: 'never' }))
    await second.clock.advance(1)
    expect(reader.events.map(({ payload }) => payload.delta)).toEqual(texts)
  })

  it('is left out even if the next event has another cause', async () => {
    const { storage, says } = await opened()
    await says('one ', 'two ')
    const second = await openProbe({ storage })
    await second.deliver(id, { type: 'say', text: 'x' })
    expect((await logOf(storage, id)).every(({ sequence }) => sequence === 1 || sequence > 1025)).toBe(true)
  })

  it('leaves the parts of its second beginning their places in the log, however they are numbered', async () => {
    const storage = openMemoryStorage()
    const heard = (delta: string) => ({ type: 'heard', delta })
    // a second beginning has as many parts as the first had, and text of as many pieces as the first part has a number
    const speak: Run = async (params, context) => {
      const { part, show } = context
      await part(heard('first '), heard('first '))
      show('and ')
      await settled()
      await part(heard('second'), heard('second'))
      return forever(params, context)
    }
    const first = await openProbe({ storage, speak })
    await first.create(id)
    await first.deliver(id, { type: 'speak' })
    await first.clock.advance(1000)
    const second = await openProbe({ storage, speak, speaksAgain: true })
    await second.deliver(id, { type: 'say', text: 'x' })
    await second.clock.advance(1000)
    const spoken = (await logOf(storage, id)).flatMap(({ event_type, payload }) =>
      event_type === 'speech.restarted' ? ['|'] : event_type === 'speech.delta' ? [String(payload.delta)] : [],
    )
    expect(spoken.join('')).toBe('first and second|first and second')
  })
})
