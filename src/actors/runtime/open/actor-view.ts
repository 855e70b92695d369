import type { StateValue } from '#machines/definition.ts'
import type { Json, JsonObject } from '#storage/ports.ts'
import type { Host } from '../host.ts'
import type { Resident } from '../resident.ts'
import { storedState } from '../step/actor-state.ts'

/** The state of an actor. */
export interface StateOfActor {
  readonly id: string
  /** Id of its machine. */
  readonly machine: string
  /** XState's state value: a name, or names nested. */
  readonly value: StateValue
  readonly context: JsonObject
  /** What the machine's `output` says in its final state; absent without any. */
  readonly output?: Json | undefined
  /** Whether it is in a final state. */
  readonly isDone: boolean
  /** Names of the effects without a result. */
  readonly running: readonly string[]
  /** Why it accepts nothing, after an effect failed too often; null when it works. */
  readonly parked: string | null
}

/** Reads actors of a host. */
export class ActorView {
  readonly #host: Pick<Host, 'load' | 'refuse' | 'coming'>

  constructor(host: Pick<Host, 'load' | 'refuse' | 'coming'>) {
    this.#host = host
  }

  /** Loads an actor, also one that a stored message requests. @throws {Refused} `not_found` @throws {StoreUnavailable} */
  async resident(id: string): Promise<Resident> {
    await this.#host.coming(id)
    const resident = await this.#host.load(id)
    if (resident === null) throw this.#host.refuse({ code: 'not_found' })
    return resident
  }

  /** @throws {Refused} `not_found` */
  async read(id: string): Promise<StateOfActor> {
    const { state, definition, parked = null } = await this.resident(id)
    const { history: _, ...stored } = storedState(state.snapshot)
    return {
      id,
      machine: definition.name,
      // a copy: the actor goes on from its own
      ...structuredClone(stored),
      isDone: state.snapshot.status === 'done',
      running: Object.values(state.inFlight).map(({ name }) => name),
      parked,
    }
  }
}
