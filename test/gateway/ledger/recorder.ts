import { systemClock } from '#runtime/clock.ts'
import { openSqliteStorage } from '#storage/sqlite/open-sqlite-storage.ts'
import { callerOf, callOf, openLedger } from './calls.ts'

/*
 * The process that ledger-crash.test.ts kills: it records calls without end, and prints their number after each
 * flush. `node recorder.ts <path of the store>`
 */
const storage = await openSqliteStorage({ path: process.argv[2] ?? '' })
const { ledger } = await openLedger(storage, systemClock)
for (let n = 0; ; ) {
  const until = n + Math.ceil(Math.random() * 60)
  while (n < until) {
    const caller = callerOf({ requestId: `request-${n++}` })
    ledger.record(callOf({ caller, startedAt: systemClock.now() }))
  }
  await ledger.flush()
  process.stdout.write(`${n}\n`)
}
