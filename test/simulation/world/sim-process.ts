import type { Clock } from '#runtime/clock.ts'
import type { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'

/** The connection broke or was refused: the client cannot know what happened to its request. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost'
}

/** The time that a message takes, in ms. */
export const latencyMs = (random: Random): number => (random.chance(0.1) ? random.between(5, 60) : random.between(0, 4))

/** How long a client waits for an answer. */
const patienceMs = 6000

/**
 * One process of the server: everything that reaches it goes through `enter`, so that nothing runs in it once it is
 * dead, or while it is stalled.
 */
export class SimProcess {
  readonly name: string
  readonly clock: Clock
  dead = false
  readonly #scheduler: Scheduler
  readonly #random: Random
  readonly #connections = new Set<() => void>()
  #stalledUntil = 0
  #jumpedMs = 0
  #cutOffUntil = 0

  /** @param skewMs how far its clock is ahead of the true time. */
  constructor(name: string, scheduler: Scheduler, random: Random, skewMs: number) {
    this.name = name
    this.#scheduler = scheduler
    this.#random = random
    this.clock = {
      now: () => scheduler.now() + skewMs + this.#jumpedMs,
      steady: () => scheduler.now(),
      after: (ms, work) => this.after(ms, work),
      soon: (work) => {
        this.after(0, work)
      },
    }
  }

  /** Runs `work` in this process after `ms`, unless it dies before. */
  after(ms: number, work: () => void): () => void {
    let gone = false
    this.#scheduler.after(ms, () => {
      if (!gone) this.enter(() => gone || work())
    })
    return () => {
      gone = true
    }
  }

  /** Runs `work` in this process: at once, when it wakes, or never. */
  enter(work: () => void): void {
    if (this.dead) return
    const stallMs = this.#stalledUntil - this.#scheduler.now()
    if (stallMs <= 0) work()
    else this.#scheduler.after(stallMs, () => this.enter(work))
  }

  /** Stops the process for a while (SIGSTOP, a long garbage collection). */
  stall(ms: number): void {
    this.#stalledUntil = this.#scheduler.now() + ms
  }

  /** Whether its requests reach the store. */
  get reachesStore(): boolean {
    return this.#scheduler.now() >= this.#cutOffUntil
  }

  /** Cuts it off from the store for this time. */
  cutOffFromStore(ms: number): void {
    this.#cutOffUntil = this.#scheduler.now() + ms
  }

  /** Moves its wall clock, or sets it right again. Timers are not affected. */
  setClock(byMs: number | 'right'): void {
    this.#jumpedMs = byMs === 'right' ? 0 : this.#jumpedMs + byMs
  }

  /** Ends the process: nothing of it runs any more, and every connected client is notified. */
  crash(): void {
    if (this.dead) return
    this.dead = true
    for (const broken of [...this.#connections]) broken()
  }

  /** Called when the process dies, until the returned function is called. */
  connected(broken: () => void): () => void {
    this.#connections.add(broken)
    return () => this.#connections.delete(broken)
  }

  /** A client's request: `work` runs in the process. Rejects with `ConnectionLost` if no answer arrives. */
  call<T>(work: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      let open = true
      const settle = (how: () => void): void => {
        if (!open) return
        open = false
        leave()
        this.#scheduler.after(latencyMs(this.#random), how)
      }
      const lost = (): void => settle(() => reject(new ConnectionLost()))
      const leave = this.connected(lost)
      if (this.dead) lost()
      this.#scheduler.after(patienceMs, lost)
      this.after(latencyMs(this.#random), () => {
        work().then(
          (value) => settle(() => resolve(value)),
          (error: unknown) => settle(() => reject(error)),
        )
      })
    })
  }
}
