import type { ActorNews, FanOut } from '#storage/cluster-ports.ts'
import type { LogEvent } from '#storage/ports.ts'
import type { Clock } from '../clock.ts'
import type { Host } from '../host.ts'
import { charsOf } from '../log/log-page.ts'
import type { Resident } from '../resident.ts'

/** Lifetime of a subscription in ms: a process that follows an actor renews it before. */
const followMs = 6000
/** Maximum size of events in a notification, in UTF-16 units; followers read larger ones from the log. */
const maxChars = 64 * 1024

/** Other processes with streams that follow actors of this process; they are notified of the actors' commits. */
export class RemoteFollowers {
  readonly #fanOut: Pick<FanOut, 'publish'>
  readonly #clock: Pick<Clock, 'steady'>
  readonly #followers = new Map<string, Map<string, number>>()
  readonly #host: Pick<Host, 'shown' | 'resident'>
  #sweptAt = 0

  constructor(fanOut: Pick<FanOut, 'publish'>, clock: Pick<Clock, 'steady'>, host: Pick<Host, 'shown' | 'resident'>) {
    this.#fanOut = fanOut
    this.#clock = clock
    this.#host = host
  }

  add(actor: string, process: string): void {
    const now = this.#clock.steady()
    const processes = this.#followers.get(actor) ?? new Map<string, number>()
    const shown = processes.has(process) ? undefined : this.#shownOf(actor)
    if (shown !== undefined) this.#fanOut.publish(process, shown)
    this.#followers.set(actor, processes.set(process, now + followMs))
    if (now - this.#sweptAt > followMs) this.#sweep(now)
  }

  /** What was shown of an actor and is not durable yet: a process that begins to follow it finds no more in the log. */
  #shownOf(actor: string): ActorNews | undefined {
    const events = this.#host.shown.after(actor, 0)
    const newest = events.at(-1)
    return newest && { actor, events, busy: this.#host.resident(actor)?.busy ?? true, lastSequence: newest.sequence }
  }

  /** Notifies the followers of a durable commit. Call it in order. */
  committed(resident: Resident, events: readonly LogEvent[]): void {
    this.#notify(resident, events, resident.state.lastSequence)
  }

  /** Notifies the followers of events that are not durable yet. */
  shown(resident: Resident, events: readonly LogEvent[]): void {
    this.#notify(resident, events, events.at(-1)?.sequence ?? 0)
  }

  #notify({ id, busy }: Resident, events: readonly LogEvent[], lastSequence: number): void {
    const processes = this.#followers.get(id)
    if (processes === undefined) return
    const now = this.#clock.steady()
    const large = events.reduce((chars, event) => chars + charsOf(event), 0) > maxChars
    const news = { actor: id, events: large ? [] : events, busy, lastSequence }
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
