import type { ClientParts } from '../client.ts'
import { Watcher } from '../watcher.ts'
import { identities } from '../world/identities.ts'
import type { Life } from '../world/life.ts'
import type { RestingSessions } from '../world/resting.ts'
import { PageClient } from './page-client.ts'
import { SessionClient } from './session-client.ts'

/** Number of resting sessions that a client uses besides those that it creates. */
const restingEach = 2

/** Clients that use sessions. */
export class SessionLife implements Life {
  readonly #parts: ClientParts
  readonly #watchers: Watcher[] = []
  readonly #resting: RestingSessions | null
  #clients = 0

  /** @param resting sessions that exist before the first process starts. */
  constructor(parts: ClientParts, resting: RestingSessions | null) {
    this.#parts = parts
    this.#resting = resting
  }

  async prepare(): Promise<void> {}

  admit(work: (life: () => Promise<void>) => void): void {
    const { random } = this.#parts
    const clients = random.between(2, 4)
    for (let index = 0; index < clients; index++) {
      const identity = random.pick(identities)
      if (identity === undefined) return
      const client = new SessionClient(`c${this.#clients++}`, identity, this.#parts)
      work(() => this.#liveOf(client))
      if (this.#parts.cluster.size > 1) work(() => this.#readPages(client))
    }
  }

  async checkCalm(): Promise<void> {
    for (const watcher of this.#watchers) {
      const { session, seen } = watcher.log
      this.#parts.ledger.expect(watcher.isUpToDate, () => `${watcher.name} has ${seen.length} events of ${session}`)
    }
  }

  async checkRest(): Promise<void> {}

  checkExpired(): void {}

  /** The actions of one client: some sessions, some turns in each, sometimes two things at once. */
  async #liveOf(client: SessionClient): Promise<void> {
    const { random } = this.#parts
    for (let count = 0; this.#resting !== null && count < restingEach; count++) {
      client.sessions.push(this.#resting.take(client.identity, (min, max) => random.between(min, max)))
    }
    await client.create()
    if (random.chance(0.3)) await client.create()
    for (const session of client.sessions) if (random.chance(0.6)) this.#watch(client, session)
    const acts = random.between(2, 5)
    for (let act = 0; act < acts; act++) {
      const session = random.pick(client.sessions)
      if (session === undefined) return
      const turn = client.turn(session)
      if (random.chance(0.25)) await this.#meddle(client, session)
      await turn
      if (random.chance(0.1)) await client.ownAction()
    }
    if (random.chance(0.2)) await client.delete(client.sessions[0] ?? '')
  }

  /** Reads pages of the client's sessions at any process, meanwhile. */
  async #readPages({ name, identity, sessions }: SessionClient): Promise<void> {
    const { random, scheduler } = this.#parts
    const pages = new PageClient(`${name}'s pages`, identity, this.#parts)
    for (let round = 0; round < 20; round++) {
      await scheduler.pause(random.between(50, 900))
      const session = random.pick(sessions)
      if (session !== undefined) await pages.read(session)
    }
  }

  /** Something that happens while a turn is in progress. */
  async #meddle(client: SessionClient, session: string): Promise<void> {
    const { random, scheduler } = this.#parts
    await scheduler.pause(random.between(0, 400))
    if (random.chance(0.5)) {
      await client.cancel(session)
      await client.turn(session)
    } else if (random.chance(0.7)) await client.turn(session)
    else await client.delete(session)
  }

  #watch(client: SessionClient, session: string): void {
    const watcher = new Watcher(`w${this.#watchers.length}`, client.identity, session, this.#parts)
    this.#watchers.push(watcher)
    watcher.watch().catch((error: unknown) => this.#parts.ledger.broken(String(error)))
  }
}
