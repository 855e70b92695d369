import { isErased } from '../erasure/erased-actors.ts'
import type { Host, HostOptions } from '../host.ts'
import { discardCause } from '../step/system-steps.ts'
import { stuckMessages } from '../stuck/stuck-notes.ts'
import { Outbox } from './outbox.ts'

/** Opens the outbox of a host: with its sinks, without messages to erased actors or those that an operator discarded. */
export const openOutbox = (host: Host, options: HostOptions): Outbox => {
  const { sinks, storage } = options
  const erased = (actor: string) => isErased(storage.records, actor)
  const discarded = async (sender: string, message: string): Promise<boolean> =>
    (await storage.commits.byCause(sender, discardCause('poison_message', message))) !== null
  const parts = { sinks: sinks?.(host) ?? {}, erased, discarded, ...stuckMessages(host.stuck) }
  return new Outbox(host, { ...options, ...parts })
}
