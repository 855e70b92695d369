import pino from 'pino'
import { formKinds } from '#gateway/apis/responses/kinds.ts'
import { ChatMemory } from '#gateway/remembering/chat-memory.ts'
import { openMemoryStorage } from '#test/support/memory/open-memory-storage.ts'
import { ScriptedMemory } from '#test/support/scripted-memory.ts'

/** The parts in which messages store their threads and memories. */
export const keptThreads = (clock = { now: Date.UTC(2026, 10, 21) }, service = new ScriptedMemory()) => {
  const { records } = openMemoryStorage({ now: () => clock.now })
  // Storage in memory settles at once.
  void records.prepare(formKinds)
  const now = () => clock.now
  return { records, memory: new ChatMemory({ service: () => service, now }), now, log: pino({ level: 'silent' }) }
}
