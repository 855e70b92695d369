import { actorRows, definitions, kinds } from '../../src/actors/capabilities.ts'
import { systemClock } from '../../src/actors/runtime/clock.ts'
import { rebuildRows } from '../../src/actors/runtime/rebuild-rows.ts'
import { usageLedger } from '../../src/actors/usage/usage-ledger.ts'
import { databaseOf } from '../../src/open-storage.ts'
import { openMongoStorage } from '../../src/storage/mongo/open-mongo-storage.ts'
import type { Problem } from './verdict.ts'

/** Every row that does not follow from the commits. */
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
