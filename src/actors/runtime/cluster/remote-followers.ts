import type { FanOut } from '#storage/cluster-ports.ts'
import type { LogEvent } from '#storage/ports.ts'
import type { Clock } from '../clock.ts'
import { charsOf } from '../log/log-page.ts'
import type { Resident } from '../resident.ts'

/** Lifetime of a subscription in ms: a process that follows an actor renews it before. */
const followMs = 6000
/** Maximum size of events in a notification, in UTF-16 units; followers read larger ones from the log. */
const mostChars = 64 * 1024

/** Other processes with streams that follow actors of this process; they are notified of the actors' commits. */
export class RemoteFollowers {
  readonly #fanOut: Pick<FanOut, 'publish'>
  readonly #clock: Pick<Clock, 'steady'>
  readonly #followers = new Map<string, Map<string, number>>()
  #sweptAt = 0

  constructor(fanOut: Pick<FanOut, 'publish'>, clock: Pick<Clock, 'steady'>) {
    this.#fanOut = fanOut
    this.#clock = clock
  }

  add(actor: string, process: string): void {
    const now = this.#clock.steady()
    const processes = this.#followers.get(actor) ?? new Map<string, number>()
    this.#followers.set(actor, processes.set(process, now + followMs))
    if (now - this.#sweptAt > followMs) this.#sweep(now)
  }

  /** Notifies the followers of a durable commit. Call it in order. */
  committed(resident: Resident, events: readonly LogEvent[]): void {
    const processes = this.#followers.get(resident.id)
    if (processes === undefined) return
    const now = this.#clock.steady()
    const { lastSequence } = resident.state
    const large = events.reduce((chars, event) => chars + charsOf(event), 0) > mostChars
    const news = { actor: resident.id, events: large ? [] : events, busy: resident.busy, lastSequence }
    for (const [process, until] of processes) {
      if (until < now) processes.delete(process)
      else this.#fanOut.publish(process, news)
    }
  }

  #sweep(now: number): void {
    this.#sweptAt = now
    for (const [actor, processes] of this.#followers) {
      for (const [process, until] of processes) if (until < now) processes.delete(process)
      if (processes.size === 0) this.#followers.delete(actor)
    }
  }
}
