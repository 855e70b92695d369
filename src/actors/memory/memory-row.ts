import type { Row } from '../records/schema.ts'
import type { MemoryData } from './kinds.ts'
import type { MemoryOwner } from './memory-owner.ts'

/** Returns the owner of a stored memory. */
export const ownerOfRow = ({ project, tenant, user }: Row<MemoryData>): MemoryOwner => ({
  ...{ project, tenant },
  user: user ?? '',
})
