import type { Resident } from '../resident.ts'

/**
 * The field by which a resource says that its actor is parked: its status stays the one in which it is, and no write is
 * accepted before an operator decides (specs/decisions/0091-stuck-work.md). Absent while it runs.
 */
export const stuckOf = ({ parked }: Pick<Resident, 'parked'>): { readonly stuck?: string } =>
  parked === undefined ? {} : { stuck: parked }
