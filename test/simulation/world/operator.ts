import { mostStarts, readParked } from '#runtime/step/actor-state.ts'
import type { Commit } from '#storage/ports.ts'
import type { Ledger } from '../ledger.ts'
import type { Cluster } from './cluster.ts'
import { Random } from './random.ts'
import type { Scheduler } from './scheduler.ts'

/** What an operator needs. */
export interface OperatorParts {
  readonly seed: number
  readonly cluster: Cluster
  readonly scheduler: Scheduler
  readonly ledger: Ledger
  readonly note: (text: string) => void
}

/**
 * Has parked actors begin their effect again. Processes of a simulation end for reasons of their own, three times while the
 * same effect runs in some seeds: its actor is parked then, as it has to be (specs/decisions/0091-stuck-work.md), and whoever
 * needs it is told so until somebody decides. Without an operator its clients, and all who wait for its slot, wait for ever.
 */
export class Operator {
  readonly #parts: OperatorParts
  readonly #random: Random
  /** Actors that are being looked at. */
  readonly #underWay = new Set<string>()
  #decisions = 0

  constructor(parts: OperatorParts) {
    this.#parts = parts
    // drawn apart, so that a seed in which nothing is parked stays what it was
    this.#random = new Random(`operator/${parts.seed}`)
    parts.ledger.watching.push((commit) => {
      if (readParked(commit) !== undefined && !this.#underWay.has(commit.actor)) void this.#decide(commit)
    })
  }

  /** Decides until the actor runs again, or is deleted. */
  async #decide(commit: Commit): Promise<void> {
    const { actor } = commit
    this.#underWay.add(actor)
    this.#checkReason(commit)
    for (let parked = readParked(commit); parked !== undefined; parked = this.#parkedNow(actor)) {
      await this.#parts.scheduler.pause(this.#random.between(300, 3000))
      const { kind, effect: subject } = parked
      const event = { type: '$retry', stuck: { kind, subject }, by: { kind: 'system', id: null } }
      const cause = `$retry:${++this.#decisions}`
      this.#parts.note(`the operator retries ${subject}`)
      // an attempt that fails is followed by another one
      await this.#parts.cluster.call(({ host }) => host.deliver(actor, { event, cause })).catch(() => {})
    }
    this.#underWay.delete(actor)
  }

  #parkedNow(actor: string) {
    const commit = this.#parts.ledger.actors.get(actor)?.commits.at(-1)
    return commit && readParked(commit)
  }

  /** Processes have ended while the effect ran as often as it takes, the last one while it ran alone. */
  #checkReason({ actor, snapshot }: Commit): void {
    const { ledger } = this.#parts
    const commits = ledger.actors.get(actor)?.commits ?? []
    const effect = String(Object(snapshot?.parked).effect)
    const ran = commits.filter(({ in_flight }) => in_flight[effect] !== undefined)
    const ends = ran.filter(({ event }) => event.type === '$fenced').length
    const wasAlone = ran.some(({ event }) => event.type === '$alone')
    ledger.expect(ends >= mostStarts && wasAlone, () => `${actor} is parked after ${ends} ends of ${effect}`)
  }
}
