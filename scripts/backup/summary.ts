import type { InventoryData } from '#actors/backup/inventory.ts'

/** Formats the contents of a project as one line. */
export const contentsOf = ({ actors, commits, blobs, records }: InventoryData): string => {
  const rows = Object.entries(records).map(([kind, { count }]) => `${count} ${kind}`)
  return `${actors} actors, ${commits.count} commits, ${blobs.count} blobs; ${rows.join(', ')}`
}
