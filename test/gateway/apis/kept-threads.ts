import pino from 'pino'
import { formKinds } from '#gateway/apis/responses/kinds.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'

/** What messages keep their threads with. */
export const keptThreads = (clock = { now: Date.UTC(2026, 10, 21) }) => {
  const { records } = openMemoryStorage({ now: () => clock.now })
  // of the memory alone: it is done at once
  void records.prepare(formKinds)
  return { records, now: () => clock.now, log: pino({ level: 'silent' }) }
}
