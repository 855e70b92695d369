import { describe, expect, it } from 'vitest'
import { StoreUnavailable } from '#storage/ports.ts'
import { calm } from '#test/support/virtual-clock.ts'
import { logOf, typesOf } from '../probe.ts'
import { id, twoProcesses, Worker, work } from './effect-worker.ts'

describe('an effect that its machine ends in a commit whose answer is lost', () => {
  /** Ends the effect: the commit is written, but its answer is lost and the store stays unreadable. */
  const stopUnheard = async (worker: Worker, ending: 'before' | 'after') => {
    const { old, faulty } = await twoProcesses(worker, new Worker())
    faulty.hold(async ({ event }) => {
      if (event.type === 'stop') faulty.unreadable = true
    })
    faulty.next(...(ending === 'before' ? [undefined, 'answer_lost' as const] : []))
    const working = old.deliver(id, work('at_most_once'))
    if (ending === 'after') {
      await working
      await calm()
      faulty.next('answer_lost')
    }
    const stopping = expect(old.deliver(id, { type: 'stop' })).rejects.toThrow(StoreUnavailable)
    await old.clock.advance(1000)
    await stopping
    return { old, faulty }
  }

  it('is not called if its mark comes after that commit', async () => {
    const worker = new Worker()
    const { old, faulty } = await stopUnheard(worker, 'before')
    faulty.unreadable = false
    await old.clock.advance(10_000)
    expect(typesOf(await logOf(faulty.inner, id))).toEqual(['stopped'])
    expect(worker.begun).toEqual([])
  })

  it('is aborted through its signal as soon as the store answers', async () => {
    const worker = new Worker()
    const { old, faulty } = await stopUnheard(worker, 'after')
    expect(worker.begun.map(({ signal }) => signal.aborted)).toEqual([false])
    faulty.unreadable = false
    await old.clock.advance(1000)
    expect(worker.begun.map(({ signal }) => signal.aborted)).toEqual([true])
  })
})
