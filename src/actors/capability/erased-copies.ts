import { Port } from './port.ts'

/** What was erased: a project; a tenant of it, or one user of that tenant, where they are not null. */
export interface ErasedOwner {
  readonly project: string
  readonly tenant: string | null
  /** External id. */
  readonly user: string | null
}

/** Port for what drops the copies that this process keeps of erased data. */
export const erasedCopiesPort = new Port<(erased: ErasedOwner) => void>('what keeps copies of erased data')
