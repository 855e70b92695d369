import { once } from 'node:events'
import { pause, systemClock } from '#runtime/clock.ts'
import { LocalLimits } from '#storage/local-limits.ts'
import { openPatientMongo } from '#test/storage/mongo-patience.ts'
import { callerOf, callOf, openLedger } from '../ledger/calls.ts'
import { openLimited, requestOf } from './limited.ts'

/*
 * A process of limit-admission.int.test.ts: it prints "ready", waits for input, spends a budget with concurrent calls
 * until it is refused, and prints "refused". `node spender.ts <url> <database> <hold ms> <concurrent calls>`
 */
const [url = '', database = '', holdMs = '', atOnce = ''] = process.argv.slice(2)

const storage = await openPatientMongo({ url, database })
const limits = new LocalLimits(systemClock)
const { admission } = await openLimited(storage.records, systemClock, { limits, holdMs: Number(holdMs) })
const { ledger } = await openLedger(storage, systemClock, () => admission.flush())

let made = 0
const spend = async (): Promise<void> => {
  for (;;) {
    const ticket = await Promise.resolve(admission.admit(requestOf())).catch(() => null)
    if (ticket === null) return
    await pause(systemClock, Math.random() * 40)
    const costUsd = `0.${Math.floor(Math.random() * 1e9)}`
    ticket.settle(costUsd, 0)
    ledger.record(callOf({ costUsd, caller: callerOf(), bodies: null }))
    if (++made === 10) process.stdout.write('spending\n')
  }
}

process.stdout.write('ready\n')
await once(process.stdin, 'data')
process.stdin.destroy()
await Promise.all(Array.from({ length: Number(atOnce) }, spend))
await ledger.flush()
process.stdout.write('refused\n')
await ledger.stop()
await storage.close()
