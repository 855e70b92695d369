import type { EffectContext } from '#runtime/effects/effects.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { FaultyStorage } from '#test/support/faulty-storage.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { calm } from '#test/support/virtual-clock.ts'
import { logOf, openProbe, type Run, typesOf } from '../probe.ts'

export const id = 'prb_1'
/** Requests the effect under a policy. */
export const work = (policy: string): StoredEvent => ({ type: 'work', policy })

/** An effect that a test ends, and that records every start. */
export class Worker {
  readonly begun: EffectContext[] = []
  #end: (output: string | Error) => void = () => {}

  readonly run: Run = (_params, context) => {
    this.begun.push(context)
    return new Promise((resolve, reject) => {
      this.#end = (output) =>
        output instanceof Error ? reject(output) : resolve({ event: { type: 'worked', output } })
    })
  }

  get keys(): readonly string[] {
    return this.begun.map((context) => context.idempotencyKey)
  }

  async end(output: string | Error): Promise<void> {
    await calm()
    this.#end(output)
    await calm()
  }
}

/** A probe whose process can die, and a second process on the same store. */
export const twoProcesses = async (first: Worker, second: Worker) => {
  const faulty = new FaultyStorage(openMemoryStorage())
  const old = await openProbe({ storage: faulty.storage, work: first.run, speak: first.run })
  await old.create(id)
  return {
    old,
    faulty,
    restart: () => openProbe({ storage: faulty.inner, work: second.run, speak: second.run }),
    log: async () => typesOf(await logOf(faulty.inner, id)),
    outputs: async () =>
      (await logOf(faulty.inner, id)).filter((each) => each.event_type === 'worked').map((each) => each.payload.output),
  }
}
