import { type AnyMachineSnapshot, initialTransition } from 'xstate'
import type { MachineDefinition } from '#machines/definition.ts'
import { sourceDefinition } from '#machines/knowledge-source/knowledge-source-definition.ts'
import type { StoredEvent } from '#storage/ports.ts'
import { after, pathOf } from '../outcome.ts'
import type { Walk } from '../reached.ts'

/** The machine as the runtime knows it. */
export const { machine }: MachineDefinition = sourceDefinition

const input = {
  source_id: 'ksr_1',
  knowledge_base_id: 'kb_1',
  created_by: null,
  type: 'url',
  title: null,
  url: 'https://example.com/a',
  refresh_interval_s: null,
  metadata: {},
  upload: null,
  filename: null,
  mime_type: null,
}

const document = { text: ['t'], chunks: ['c'], characters: 9, chunk_count: 2, page_count: null, title: null }
const changes = { added: 2, removed: 0, unchanged: 0 }

export const syncs: StoredEvent = {
  type: 'synced',
  ...{ checksum: 'abc', size_bytes: 9, mime_type: 'text/plain', document, changes, at: 1 },
}
export const unchanged: StoredEvent = { type: 'unchanged', at: 2 }
export const fails: StoredEvent = {
  type: 'sync_failed',
  ...{ error: { code: 'unreachable', message: 'The URL cannot be reached.' }, final: false, jitter: 0.5 },
}
export const failsForGood: StoredEvent = { ...fails, final: true }
export const embeds: StoredEvent = { type: 'embedded', vectors: { embedder: 'e', parts: ['v'], count: 2 } }
export const embedFails: StoredEvent = { type: 'embed_failed', jitter: 0 }
export const embedAgain: StoredEvent = { type: 'embed' }
export const sync: StoredEvent = { type: 'sync', upload: null }
export const schedule: StoredEvent = { type: 'update', refresh_interval_s: 600 }
const unschedule: StoredEvent = { type: 'update', refresh_interval_s: null }
export const move: StoredEvent = { type: 'update', url: 'https://example.com/b' }
export const deletion: StoredEvent = { type: 'delete' }
export const backoff: StoredEvent = { type: 'xstate.after.backoff.knowledge_source.pending' }
export const embedBackoff = (state: 'ready' | 'failed'): StoredEvent => ({
  type: `xstate.after.backoff.knowledge_source.${state}.postponed`,
})
export const due = (state: 'ready' | 'failed'): StoredEvent => ({
  type: `xstate.after.interval.knowledge_source.${state}.scheduled`,
})

export const fresh = (): AnyMachineSnapshot => initialTransition(machine, input)[0]

/** A source after these events. */
export const source = (...events: readonly StoredEvent[]): AnyMachineSnapshot => after(machine, fresh(), ...events)

/** Every event in every state of a source. */
export const walk: Walk = {
  machine,
  input,
  events: [
    ...[syncs, unchanged, fails, failsForGood, embeds, embedFails, embedAgain, sync, schedule, unschedule, move],
    ...[deletion, backoff, embedBackoff('ready'), embedBackoff('failed'), due('ready'), due('failed')],
  ],
  kindOf: ({ value, context }) => `${pathOf(value)} ${context.attempts} ${context.refresh_interval_s}`,
}
