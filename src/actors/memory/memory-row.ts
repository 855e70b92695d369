import type { Row } from '../records/schema.ts'
import type { MemoryData } from './kinds.ts'
import type { MemoryOwner } from './memory-owner.ts'

/** Whose a stored memory is. */
export const ownerOfRow = ({ project, tenant, user }: Row<MemoryData>): MemoryOwner => ({
  ...{ project, tenant },
  user: user ?? '',
})
