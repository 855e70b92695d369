import type { InventoryData } from '#actors/backup/inventory.ts'

/** What a project consists of, on one line. */
export const contentsOf = ({ actors, commits, blobs, records }: InventoryData): string => {
  const rows = Object.entries(records).map(([kind, { count }]) => `${count} ${kind}`)
  return `${actors} actors, ${commits.count} commits, ${blobs.count} blobs; ${rows.join(', ')}`
}
