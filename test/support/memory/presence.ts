import { type HostFacts, type LiveActor, liveActorMs, type Member, type Presence } from '#storage/cluster-ports.ts'

interface Announced {
  readonly host: Member & HostFacts
  readonly untilMs: number
}

/**
 * A directory in memory, for pure tests: one instance is the directory of all processes of a simulation. `up` disables it
 * and enables it again, empty.
 */
export class MemoryPresence implements Presence {
  readonly #hosts = new Map<string, Announced>()
  readonly #actors = new Map<string, { readonly live: LiveActor; readonly untilMs: number }>()
  readonly #now: () => number
  #up = true

  /** @param now clock in ms since the epoch. */
  constructor(now: () => number) {
    this.#now = now
  }

  get up(): boolean {
    return this.#up
  }

  set up(up: boolean) {
    this.#up = up
    this.#hosts.clear()
    this.#actors.clear()
  }

  async announce(self: Member, facts: HostFacts, ms: number): Promise<void> {
    if (this.#up) this.#hosts.set(self.process, { host: { ...self, ...facts }, untilMs: this.#now() + ms })
  }

  async withdraw(process: string): Promise<void> {
    this.#hosts.delete(process)
  }

  async alive(self: Member): Promise<ReadonlySet<string> | null> {
    const processes = new Set(this.#announced().map(({ process }) => process))
    return processes.has(self.process) ? processes : null
  }

  async hosts(): Promise<readonly (Member & HostFacts)[]> {
    return this.#announced()
  }

  async moved(came: readonly LiveActor[], left: readonly LiveActor[]): Promise<void> {
    if (!this.#up) return
    for (const { actor } of left) this.#actors.delete(actor)
    for (const live of came) this.#actors.set(live.actor, { live, untilMs: this.#now() + liveActorMs })
  }

  async actors(project: string, limit: number): Promise<readonly LiveActor[]> {
    const processes = new Set(this.#announced().map(({ process }) => process))
    const live = [...this.#actors.values()].filter(({ untilMs }) => untilMs > this.#now()).map((entry) => entry.live)
    return live.filter((actor) => actor.project === project && processes.has(actor.process)).slice(0, limit)
  }

  async close(): Promise<void> {}

  #announced(): readonly (Member & HostFacts)[] {
    return [...this.#hosts.values()].filter(({ untilMs }) => untilMs > this.#now()).map(({ host }) => host)
  }
}
