import type { Call } from '#actors/call/call.ts'
import { modelLimitOf } from '#actors/call/reach.ts'
import type { MemoryAt, MemoryService, Recall, WritebackMessage } from '#actors/capability/memory-service.ts'
import { withoutMarked } from '#facts/index.ts'
import { arrayOf, objectOf, textOf } from '#outgoing/wire.ts'
import type { Infer } from '#specs/dsl/schema.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { type memoryBlock, type memoryField, usesMemory } from '#specs/memory-field.ts'
import { callerOf } from '../call/caller.ts'
import { guardrailNames } from '../call/guarding/guardrail-names.ts'
import type { CacheHeaders } from '../call/reuse.ts'
import { memoryFetchTool } from './memory-fetch-tool.ts'
import { memoryUserOf } from './memory-user.ts'

/** A request's `memory` field with its defaults. */
type MemoryWanted = Exclude<Infer<typeof memoryField>, boolean>

/** The `memory` field of a response. */
export type MemoryBlock = Infer<typeof memoryBlock>

type Headers = readonly (readonly [name: string, value: string])[]

/** The parts of a request that memory depends on. */
export interface RememberedRequest {
  readonly call: Pick<
    Call<unknown, unknown, unknown>,
    'principal' | 'scope' | 'requestId' | 'attribution' | 'idempotency'
  > &
    Pick<CacheHeaders, 'guardrails'>
  readonly memory: Infer<typeof memoryField> | null | undefined
  readonly messages: readonly unknown[]
  /** The end user named in the request; the `userId` of the memory field takes precedence. */
  readonly user?: string | undefined
  readonly source: 'chat' | 'response'
}

/** Dependencies of chat memory; the memory service is looked up with each request. */
export interface ChatMemoryParts {
  readonly service: () => MemoryService
  readonly now: () => number
}

/** Maximum characters of a response that are remembered. */
const maxAnswer = 32_768

/** Recalls memories before a chat request, and stores new ones after the response. */
export class ChatMemory {
  readonly #parts: ChatMemoryParts

  constructor(parts: ChatMemoryParts) {
    this.#parts = parts
  }

  /**
   * Recalls memories for a request; null when the request does not use memory. Store failures and exceeded quotas do
   * not fail the request: it continues without memories.
   *
   * @throws {ServiceError} `missing_field`, `invalid_field`; `secret_key_required` when the credential may not name a
   * user.
   */
  async begin(request: RememberedRequest): Promise<RememberedChat | null> {
    if (!usesMemory(request.memory)) return null
    const wanted = typeof request.memory === 'object' && request.memory !== null ? request.memory : {}
    const at = placeOf(request, wanted)
    const asOf = instantOf(wanted.asOf)
    const query = lastWords(request.messages)
    const service = this.#parts.service()
    const { topK, threshold, graph, mode } = wanted
    const reads = wanted.retrieve !== false && query !== ''
    const recall = reads
      ? await service.recall({ ...at, scope: null }, { query, topK, threshold, graph, mode, asOf })
      : nothing
    return new RememberedChat({ service, at, recall, request, wanted, query, now: this.#parts.now() })
  }
}

const nothing = { hits: [], text: '', costUsd: 0, failed: null } as const

interface RememberedParts {
  readonly service: MemoryService
  readonly at: MemoryAt
  readonly recall: Recall & { readonly failed: string | null }
  readonly request: RememberedRequest
  readonly wanted: MemoryWanted
  readonly query: string
  readonly now: number
}

/** One chat request that uses memory. */
export class RememberedChat {
  readonly #parts: RememberedParts
  readonly #message: WritebackMessage | null
  #answer = ''
  #failed: string | null = null

  constructor(parts: RememberedParts) {
    this.#parts = parts
    this.#message = parts.wanted.write === false || parts.query === '' ? null : this.#writeback()
  }

  /** The request's messages, with the recalled text inserted before the last user message. */
  get messages(): readonly unknown[] {
    const { recall, request } = this.#parts
    if (recall.text === '') return request.messages
    const last = request.messages.findLastIndex((message) => objectOf(message).role === 'user')
    return request.messages.toSpliced(Math.max(last, 0), 0, { role: 'system', content: recall.text })
  }

  /** Returns the request's tools; in index mode with a tool that fetches a whole memory. */
  tools<Tool>(
    tools: readonly Tool[] | null | undefined,
  ): readonly (Tool | typeof memoryFetchTool)[] | null | undefined {
    const { wanted, recall } = this.#parts
    if (wanted.mode !== 'index' || recall.hits.length === 0) return tools
    const isThere = (tools ?? []).some((tool) => nameOf(tool) === memoryFetchTool.function.name)
    return isThere ? tools : [...(tools ?? []), memoryFetchTool]
  }

  /** The user whose memories the request has. */
  get user(): string {
    return this.#parts.at.user
  }

  /** Response headers; they are known before the response begins. */
  get headers(): Headers {
    const { hits, failed } = this.#parts.recall
    return [
      ['x-service-memory-retrieved', String(hits.length)],
      ...(this.#message === null ? [] : [['x-service-memory-write-request', this.#message.requestId] as const]),
      ...(failed === null ? [] : [['x-service-memory-skipped', failed] as const]),
    ]
  }

  /** The response's `memory` field. */
  get block(): MemoryBlock {
    const retrieved = this.#parts.recall.hits.map((hit) => ({ ...hit }))
    if (this.#message === null || this.#answer === '')
      return { retrieved, written: [], write_status: 'skipped', write_request_id: null }
    if (this.#failed !== null) return { retrieved, written: [], write_status: 'error', write_request_id: null }
    return { retrieved, written: [], write_status: 'pending', write_request_id: this.#message.requestId }
  }

  /** Adds a part of the response text. */
  add(text: string): void {
    if (this.#answer.length < maxAnswer) this.#answer += text
  }

  /**
   * Starts storing memories once the response is complete; the write is durable when this resolves. A failure is
   * reported in `block`, never thrown.
   */
  async finish(): Promise<void> {
    if (this.#message === null || this.#answer === '') return
    try {
      await this.#parts.service.start(this.#parts.at, this.#writeback())
    } catch {
      this.#failed = 'store_unavailable'
    }
  }

  #writeback(): WritebackMessage {
    const { service, at, recall, request, wanted, query, now } = this.#parts
    const { call } = request
    return service.writeback(at, {
      cause: `chat ${call.idempotency?.cause ?? call.requestId}`,
      user: query,
      assistant: this.#answer.slice(0, maxAnswer),
      recalled: recall.hits.map(({ content }) => content),
      at: now,
      source: request.source,
      extract: { ...wanted.extract, models: modelLimitOf(call.principal), guardrails: guardrailNames(callerOf(call)) },
    })
  }
}

const nameOf = (tool: unknown): string => textOf(objectOf(objectOf(tool).function).name)

const placeOf = ({ call, user: named }: RememberedRequest, wanted: MemoryWanted): MemoryAt => {
  const { project, tenant, externalUserId } = callerOf(call)
  const user = memoryUserOf(call, { named: wanted.userId ?? named, attributed: externalUserId })
  const { scope = 'user', sessionId = null, namespace = null } = wanted
  if (scope === 'session' && sessionId === null)
    throw new ServiceError('missing_field', {
      param: 'memory.sessionId',
      message: 'The scope session requires sessionId.',
    })
  return { project, tenant, user, scope, session: sessionId, namespace }
}

const instantOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Date.parse(text))

/** Returns the text of the last user message, without recalled text that the caller copied from an earlier request. */
const lastWords = (messages: readonly unknown[]): string => {
  const last = messages.findLast((message) => objectOf(message).role === 'user')
  return withoutMarked(contentText(objectOf(last).content)).trim()
}

const contentText = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : arrayOf(content)
        .map((part) => textOf(objectOf(part).text))
        .filter((text) => text !== '')
        .join('\n')
