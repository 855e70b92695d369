import type { PlacedWork } from '#runtime/internal.ts'
import type { JsonObject } from '#storage/index.ts'
import { Port } from './port.ts'

/** What was erased: a project; a tenant of it, or one user of that tenant, where they are not null. */
export interface ErasedOwner {
  readonly project: string
  readonly tenant: string | null
  /** External id. */
  readonly user: string | null
}

/** Drops the copies that this process keeps of erased data. */
type Dropping = (erased: ErasedOwner) => void

const service = 'erased_copies.drop'

/** The copies that processes keep in memory, such as indexes, and that an erasure drops in all of them. */
export class ErasedCopies {
  readonly #placed: Pick<PlacedWork, 'serve' | 'everywhere'>
  readonly #kept: Dropping[] = []

  constructor(placed: Pick<PlacedWork, 'serve' | 'everywhere'>) {
    this.#placed = placed
    placed.serve(service, async (input) => {
      const erased = erasedIn(input)
      for (const drop of this.#kept) drop(erased)
      return {}
    })
  }

  /** Registers what this process keeps. */
  keptBy(drop: Dropping): void {
    this.#kept.push(drop)
  }

  /** Drops the copies in this process, and in the others that can be reached: the next round of an erasure repeats it. */
  drop(erased: ErasedOwner): Promise<void> {
    return this.#placed.everywhere(service, { ...erased })
  }
}

const erasedIn = ({ project, tenant, user }: JsonObject): ErasedOwner => ({
  project: String(project),
  tenant: typeof tenant === 'string' ? tenant : null,
  user: typeof user === 'string' ? user : null,
})

export const erasedCopiesPort = new Port<ErasedCopies>('the copies of erased data')
