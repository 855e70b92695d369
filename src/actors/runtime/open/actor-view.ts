import type { StateValue } from '#machines/definition.ts'
import type { JsonObject } from '#storage/ports.ts'
import type { Host } from '../host.ts'
import { Refused } from '../refused.ts'
import { storedState } from '../step/actor-state.ts'

/** The state of an actor. */
export interface StateOfActor {
  readonly id: string
  /** Id of its machine. */
  readonly machine: string
  /** XState's state value: a name, or names nested. */
  readonly value: StateValue
  readonly context: JsonObject
  /** Whether it is in a final state. */
  readonly isDone: boolean
  /** Names of the effects without a result. */
  readonly running: readonly string[]
  /** Why it accepts nothing, after an effect failed too often; null when it works. */
  readonly parked: string | null
}

/** Reads actors of a host. */
export class ActorView {
  readonly #host: Pick<Host, 'load'>

  constructor(host: Pick<Host, 'load'>) {
    this.#host = host
  }

  /** @throws {Refused} `not_found` */
  async read(id: string): Promise<StateOfActor> {
    const resident = await this.#host.load(id)
    if (resident === null) throw new Refused({ code: 'not_found' })
    const { state, definition, parked = null } = resident
    return {
      id,
      machine: definition.name,
      ...storedState(state.snapshot),
      isDone: state.snapshot.status === 'done',
      running: Object.values(state.inFlight).map(({ name }) => name),
      parked,
    }
  }
}
