import { pino } from 'pino'
import { definitions, kinds } from '#actors/capabilities.ts'
import type { RemoteTools } from '#actors/capability/remote-tools.ts'
import { ToolHeaders } from '#actors/sessions/tools/tool-headers.ts'
import { NoticeDelivery } from '#records/notice-delivery.ts'
import { keysOf } from '#records/sealing/server-keys.ts'
import { type Clock, systemClock } from '#runtime/clock.ts'
import type { RecordStore, Storage } from '#storage/ports.ts'
import { openMemoryStorage } from './memory/open-memory-storage.ts'

/** Options of a test installation. */
export interface ServicesOptions {
  readonly storage?: Storage
  readonly clock?: Clock
}

/** Opens the dependencies of all parts of the product: a store in memory prepared for all kinds, a clock and a silent log. */
export const openServices = async ({ storage, clock = systemClock }: ServicesOptions = {}) => {
  const opened = storage ?? openMemoryStorage({ now: clock.now })
  await opened.records.prepare(kinds)
  return { storage: opened, records: opened.records, clock, log: pino({ level: 'silent' }) }
}

/** The same, with notices stored in the documents of records; they are delivered from `notices.start` on. */
export const openNoticedServices = async (options: ServicesOptions = {}) => {
  const { storage: inner, clock, log } = await openServices(options)
  const notices = new NoticeDelivery(inner.records, { kinds, definitions, clock, log })
  const { records } = notices
  return { storage: { ...inner, records }, records, inner, notices, clock, log }
}

/** A secret box whose sealed text stays readable and is bound to its `aad`. */
export const readableBox = {
  seal: (text: string, aad: string): string => `${aad}#${text}`,
  open: (sealed: string, aad: string): string => {
    if (!sealed.startsWith(`${aad}#`)) throw new Error('sealed for another place')
    return sealed.slice(aad.length + 1)
  },
}

/** Tool headers stored in the records of a test. */
export const toolHeadersOf = (records: RecordStore): ToolHeaders =>
  new ToolHeaders({ records, box: readableBox, keys: keysOf({ masterKey: Buffer.alloc(32, 1) }), now: Date.now })

/** Remote tools of an installation without remote tool servers. */
export const noRemoteTools = (): RemoteTools => ({
  call: async () => ({ ok: false, code: 'server_not_found', message: 'There are no servers.' }),
  offer: async () => [],
})
