import { actorRows, definitions, kinds } from '#actors/capabilities.ts'
import { usageLedger } from '#actors/usage/usage-ledger.ts'
import { systemClock } from '#runtime/clock.ts'
import { rebuildRows } from '#runtime/rows/rebuild-rows.ts'
import { databaseOf } from '#src/open-storage.ts'
import { openMongoStorage } from '#storage/mongo/open-mongo-storage.ts'
import type { Problem } from './verdict.ts'

/** Returns every row that does not follow from the commits. */
export const compareRows = async (
  url: string,
): Promise<{ readonly compared: number; readonly problems: readonly Problem[] }> => {
  const storage = await openMongoStorage({ url, database: databaseOf(url), patienceMs: 60_000 })
  try {
    await storage.records.prepare(kinds)
    const parts = { storage, definitions, rows: actorRows, ledger: usageLedger, clock: systemClock, checkOnly: true }
    const { compared, differences, unreadable } = await rebuildRows(parts)
    return {
      compared,
      problems: [
        ...differences.map(({ kind, id, what }) => ({ kind: 'lost', what: `row ${id} of ${kind}: ${what}` }) as const),
        ...unreadable.map((actor) => ({ kind: 'broken', what: `${actor} cannot be restored` }) as const),
      ],
    }
  } finally {
    await storage.close()
  }
}
