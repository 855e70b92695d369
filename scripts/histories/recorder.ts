import type { Host } from '#runtime/host.ts'
import type { Delivery } from '#runtime/resident.ts'
import type { AppendOutcome, Commit, Storage } from '#storage/ports.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import type { History, RecordedStep } from './history.ts'

/** Records the actors of a host: every event that is delivered to them, and every commit that is written. */
export class Recorder {
  /** Storage to which the host writes. */
  readonly storage: Storage
  readonly #steps = new Map<string, RecordedStep[]>()
  readonly #delivered = new Map<string, Omit<RecordedStep, 'commit'>>()
  readonly #inner = openMemoryStorage()
  readonly #blobs = new Map<string, string>()

  constructor() {
    const { commits, blobs } = this.#inner
    const put = (project: string, hash: string, content: string): Promise<void> => {
      this.#blobs.set(hash, content)
      return blobs.put(project, hash, content)
    }
    const append = (each: readonly Commit[]) => this.#append(each)
    this.storage = {
      ...this.#inner,
      blobs: { ...blobs, put },
      commits: new Proxy(commits, {
        get: (target, name) => {
          if (name === 'append') return append
          const method: unknown = Reflect.get(target, name)
          return typeof method === 'function' ? method.bind(target) : method
        },
      }),
    }
  }

  /** Intercepts what the host delivers to its actors. */
  listen(host: Host): void {
    this.#listenToText(host)
    const deliverTo = host.deliverTo.bind(host)
    const deliverHere = host.deliverHere.bind(host)
    const create = host.create.bind(host)
    host.deliverTo = (resident, delivery) => {
      this.#delivered.set(`${resident.id} ${delivery.cause}`, stepOf(delivery))
      return deliverTo(resident, delivery)
    }
    host.deliverHere = (id, delivery, reloads) => {
      this.#delivered.set(`${id} ${delivery.cause}`, stepOf(delivery))
      return deliverHere(id, delivery, reloads)
    }
    host.create = (creation) => {
      this.#delivered.set(`${creation.id} ${creation.cause}`, { event: { type: 'create', input: creation.input } })
      return create(creation)
    }
  }

  /** Intercepts the text that effects show: the runtime adds it to a step of its own, or to that of the result. */
  #listenToText({ shown }: Host): void {
    const part = shown.part.bind(shown)
    const rest = shown.rest.bind(shown)
    const settled = shown.settled.bind(shown)
    shown.part = (resident) => {
      const delivery = part(resident)
      if (delivery !== undefined) this.#delivered.set(`${resident.id} ${delivery.cause}`, stepOf(delivery))
      return delivery
    }
    shown.settled = (resident) => {
      // the commit that ends an effect would take over the events of its parts: a history has each step by itself
      resident.parts = undefined
      settled(resident)
    }
    shown.rest = (resident, delivery) => {
      const fields = rest(resident, delivery)
      const step = stepOf({ ...delivery, event: { ...delivery.event, ...fields } })
      this.#delivered.set(`${resident.id} ${delivery.cause}`, step)
      return fields
    }
  }

  /** Returns the histories of all actors so far, named `<name>-<number>` within each machine. */
  histories(name: string): readonly History[] {
    const numbers = new Map<string, number>()
    const histories: History[] = []
    for (const steps of this.#steps.values()) {
      const commit = steps[0]?.commit
      if (commit === undefined) continue
      const number = (numbers.get(commit.machine) ?? 0) + 1
      numbers.set(commit.machine, number)
      const blobs = this.#blobsOf(JSON.stringify(steps))
      histories.push({ machine: commit.machine, name: `${name}-${number}`, blobs, steps })
    }
    return histories
  }

  async #append(commits: readonly Commit[]): Promise<readonly AppendOutcome[]> {
    const outcomes = await this.#inner.commits.append(commits)
    for (const [index, commit] of commits.entries()) if (outcomes[index] === 'done') this.#keep(commit)
    return outcomes
  }

  #keep(commit: Commit): void {
    const { actor, cause, seq } = commit
    const given = this.#delivered.get(`${actor} ${cause}`)
    if (given === undefined) throw new Error(`${actor} made a commit of ${cause} that nobody gave it`)
    const steps = this.#steps.get(actor) ?? []
    this.#steps.set(actor, steps)
    // the nonce is the only part of a commit that differs in every recording
    const step: RecordedStep = { ...given, commit: { ...commit, nonce: `${seq}` } }
    steps.push(JSON.parse(JSON.stringify(step)))
  }

  /** Returns the blobs that these steps refer to, including those removed since. */
  #blobsOf(text: string): Readonly<Record<string, string>> {
    return Object.fromEntries([...this.#blobs].filter(([hash]) => text.includes(hash)))
  }
}

const stepOf = ({ event, done, part, starts }: Delivery): Omit<RecordedStep, 'commit'> => ({
  event,
  ...(done !== undefined && { done }),
  ...(part !== undefined && { part }),
  ...(starts !== undefined && { starts }),
})
