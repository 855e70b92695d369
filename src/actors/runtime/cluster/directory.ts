import { type LiveActor, liveActorMs, type Member, type Presence } from '#storage/cluster-ports.ts'
import type { Clock } from '../clock.ts'
import { liveActorOf } from '../live-actor.ts'
import type { Resident } from '../resident.ts'
import { Rounds } from '../rounds.ts'

/** Dependencies of `LiveDirectory`. */
export interface DirectoryParts {
  readonly residents: () => Iterable<Pick<Resident, 'id' | 'definition' | 'owner'>>
  readonly self: () => Member
  readonly presence: Pick<Presence, 'moved'>
  readonly clock: Clock
}

const everyMs = 1000
/** Interval at which an entry is renewed, in ms, before the directory drops it. */
const againMs = liveActorMs / 2
/** Maximum number of actors announced per round: the directory only informs people, and must cost less than turns. */
const maxConcurrent = 200

/**
 * Announces to the directory once a second which actors entered and left this process's memory. An actor that entered
 * and left in between is never announced; on a busy node that is most of them.
 */
export class LiveDirectory {
  readonly #parts: DirectoryParts
  readonly #announced = new Map<string, { readonly live: LiveActor; readonly atMs: number }>()
  readonly #rounds: Rounds

  constructor(parts: DirectoryParts) {
    this.#parts = parts
    this.#rounds = new Rounds({ clock: parts.clock, everyMs, round: () => this.round() })
  }

  start(): void {
    this.#rounds.start()
  }

  stop(): void {
    void this.#rounds.stop()
  }

  /** Announces everything anew: the directory was unavailable, and may have lost its entries. */
  forget(): void {
    this.#announced.clear()
  }

  /** Announces the changes since the last round. */
  async round(): Promise<void> {
    const { residents, self, presence, clock } = this.#parts
    const now = clock.now()
    const me = self()
    const live = new Set<string>()
    const came: LiveActor[] = []
    for (const resident of residents()) {
      live.add(resident.id)
      const announced = this.#announced.get(resident.id)
      if (came.length >= maxConcurrent || (announced !== undefined && now - announced.atMs < againMs)) continue
      came.push(liveActorOf(resident, me))
    }
    const gone = [...this.#announced.values()].filter((announced) => !live.has(announced.live.actor))
    const left = gone.slice(0, maxConcurrent).map((announced) => announced.live)
    for (const each of came) this.#announced.set(each.actor, { live: each, atMs: now })
    for (const { actor } of left) this.#announced.delete(actor)
    await presence.moved(came, left)
  }
}
