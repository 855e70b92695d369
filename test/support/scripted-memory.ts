import type {
  MemoryAt,
  MemoryService,
  RecallRequest,
  Writeback,
  WritebackMessage,
} from '#actors/capability/memory-service.ts'
import { marked } from '#facts/injected-text.ts'
import type { MessageRecord } from '#storage/ports.ts'

/** Name of the receiver of write messages, in place of an actor. */
export const scriptedMemorySink = 'scripted_memory'

/** A memory service that recalls fixed contents, and records requests and writes. */
export class ScriptedMemory implements MemoryService {
  /** Contents that every recall returns. */
  known: readonly string[] = []
  /** Reason with which every recall fails; null for none. */
  failed: string | null = null
  /** Error that every start throws; null for none. */
  down: Error | null = null
  readonly recalls: { readonly at: MemoryAt; readonly request: RecallRequest }[] = []
  readonly started: { readonly at: MemoryAt; readonly message: WritebackMessage }[] = []
  readonly ended: string[] = []
  /** Messages sent by commits. */
  readonly sent: { readonly user: string | null; readonly id: string; readonly input: unknown }[] = []

  async recall(at: MemoryAt, request: RecallRequest) {
    this.recalls.push({ at, request })
    if (this.failed !== null) return { hits: [], text: '', costUsd: 0, failed: this.failed }
    const hits = this.known.map((content, index) => ({ id: `mem_${index}`, score: 0.9, content }))
    const text = hits.length === 0 ? '' : marked(this.known.map((content) => `- ${content}`).join('\n'))
    return { hits, text, costUsd: 0, failed: null }
  }

  writeback(_at: MemoryAt, { cause, user, assistant, recalled, source }: Writeback): WritebackMessage {
    const input = { exchange: { user, assistant, recalled }, source }
    return { to: scriptedMemorySink, event: { type: 'create', input }, requestId: `receipt of ${cause}`, input }
  }

  async start(at: MemoryAt, message: WritebackMessage): Promise<void> {
    if (this.down !== null) throw this.down
    this.started.push({ at, message })
  }

  /** Records a message once, as an actor would process it. */
  async take({ user }: { readonly user: string | null }, { id, event }: MessageRecord): Promise<void> {
    if (!this.sent.some((known) => known.id === id)) this.sent.push({ user, id, input: event.input })
  }

  async endSession(_at: unknown, session: string): Promise<void> {
    this.ended.push(session)
  }
}
