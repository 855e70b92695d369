import { type LiveActor, liveActorMs, type Member, type Presence } from '#storage/cluster-ports.ts'
import type { Clock } from '../clock.ts'
import { liveActorOf } from '../live-actor.ts'
import type { Resident } from '../resident.ts'
import { Rounds } from '../rounds.ts'

/** What the directory of live actors is filled from. */
export interface DirectoryParts {
  readonly residents: () => Iterable<Pick<Resident, 'id' | 'definition' | 'owner'>>
  readonly self: () => Member
  readonly presence: Pick<Presence, 'moved'>
  readonly clock: Clock
}

const everyMs = 1000
/** What was announced is announced again in time, so that the directory does not forget it. */
const againMs = liveActorMs / 2
/** So many actors are announced at a time: the directory is for people, and may not cost what a turn costs. */
const mostAtOnce = 200

/**
 * Announces to the directory once a second which actors came to this process's memory and which left. One that came and left
 * in between is never announced, which is most of what a busy node has for a moment only.
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

  /** The directory was away, and may know nothing any more. */
  forget(): void {
    this.#announced.clear()
  }

  /** Announces what has changed since the last time. */
  async round(): Promise<void> {
    const { residents, self, presence, clock } = this.#parts
    const now = clock.now()
    const me = self()
    const live = new Set<string>()
    const came: LiveActor[] = []
    for (const resident of residents()) {
      live.add(resident.id)
      const announced = this.#announced.get(resident.id)
      if (came.length >= mostAtOnce || (announced !== undefined && now - announced.atMs < againMs)) continue
      came.push(liveActorOf(resident, me))
    }
    const gone = [...this.#announced.values()].filter((announced) => !live.has(announced.live.actor))
    const left = gone.slice(0, mostAtOnce).map((announced) => announced.live)
    for (const each of came) this.#announced.set(each.actor, { live: each, atMs: now })
    for (const { actor } of left) this.#announced.delete(actor)
    await presence.moved(came, left)
  }
}
