import { createHash } from 'node:crypto'
import type { ServerTool } from '#actors/capability/agent-resources.ts'
import { actorBlobs, tenantBlobs } from '#runtime/blobs/blob-owner.ts'
import { isObject } from '#runtime/schema.ts'
import type { Owner } from '#runtime/step/actor-state.ts'
import type { contextPolicy } from '#specs/agent-config.ts'
import type { Infer } from '#specs/dsl/schema.ts'
import type { conversationMemory } from '#specs/memory-field.ts'
import type { tool } from '#specs/tools.ts'
import type { BlobStore, Json, JsonObject } from '#storage/ports.ts'
import { turnConfig } from '../schema.ts'

/** A tool as a turn or an agent declares it (`sessions.turns`). */
export type ToolDeclaration = Infer<typeof tool>

/** A tool of a turn: one that is declared, or one that a resource of the agent brings. */
export type TurnTool = ToolDeclaration | ServerTool

/** What a model call needs beside the conversation. Fixed when the turn starts, so that a change of the agent never changes a turn that goes on. */
export interface TurnConfig {
  /** System messages in order. */
  readonly instructions: readonly string[]
  readonly tools: readonly TurnTool[]
  readonly temperature: number | null
  readonly max_tokens: number | null
  /** What else the agent says of its model calls; absent for nothing. */
  readonly sampling?: Sampling
  /** What happens when the conversation outgrows the model; absent: it is truncated. */
  readonly context?: ContextPolicy
  /** How memory is used; absent for not at all. */
  readonly memory?: TurnMemory
  /** The plan by which the call's tenant is charged, where an installation has one. */
  readonly rate_plan_id?: string
}

/** How a conversation is shortened (`agents.create`, `config.context`). */
export type ContextPolicy = Infer<typeof contextPolicy>

/** Fields of a chat completion, as an agent's config has them; `models` are the fallbacks. */
export type Sampling = JsonObject

/** The `memory` field of a turn or an agent, with its defaults still to come. */
export type TurnMemory = Exclude<Infer<typeof conversationMemory>, boolean>

/** A turn that sets nothing: the most common one, so it costs a context nothing. */
const plainConfig: TurnConfig = { instructions: [], tools: [], temperature: null, max_tokens: null }

const isPlain = ({
  instructions,
  tools,
  temperature,
  max_tokens,
  rate_plan_id,
  sampling,
  context,
  memory,
}: TurnConfig): boolean =>
  instructions.length + tools.length === 0 &&
  [temperature ?? undefined, max_tokens ?? undefined, rate_plan_id, sampling, context, memory].every(
    (value) => value === undefined,
  )

/** A configuration longer than this is kept as a blob, once for all turns that share it. */
const maxInlineLength = 1024

const knownBlobs = 10_000

/** Keeps turn configurations: small ones inside the session's context, large ones as blobs by their hash. */
export class TurnConfigs {
  readonly #blobs: BlobStore
  readonly #read = new Map<string, TurnConfig>()
  readonly #written = new Set<string>()

  constructor(blobs: BlobStore) {
    this.#blobs = blobs
  }

  /**
   * What the context holds of `config`; a blob it needs is durable when this resolves.
   *
   * @param owner what the blob's name starts with, when it is to be removed with its owner (`configOwner`).
   * @throws {StoreUnavailable}
   */
  keep(project: string, config: TurnConfig, owner = ''): JsonObject | Promise<JsonObject> {
    if (isPlain(config)) return {}
    const text = JSON.stringify(config)
    return text.length <= maxInlineLength ? { inline: text } : this.#keepBlob(project, text, owner)
  }

  /** The configuration that a context holds. @throws {StoreUnavailable} */
  read(project: string, kept: Json): TurnConfig | Promise<TurnConfig> {
    const { inline, hash } = isObject(kept) ? kept : {}
    if (typeof inline === 'string') return turnConfig(JSON.parse(inline))
    if (typeof hash !== 'string') return plainConfig
    return this.#read.get(`${project}/${hash}`) ?? this.#readBlob(project, hash)
  }

  async #keepBlob(project: string, text: string, owner: string): Promise<JsonObject> {
    const hash = owner + createHash('sha256').update(text).digest('hex')
    const key = `${project}/${hash}`
    if (!this.#written.has(key)) {
      await this.#blobs.put(project, hash, text)
      if (this.#written.size >= knownBlobs) this.#written.clear()
      this.#written.add(key)
    }
    return { hash }
  }

  async #readBlob(project: string, hash: string): Promise<TurnConfig> {
    const text = await this.#blobs.get(project, hash)
    if (text === null) throw new Error('the blob of a turn configuration is missing')
    const config = turnConfig(JSON.parse(text))
    if (this.#read.size >= knownBlobs) this.#read.clear()
    this.#read.set(`${project}/${hash}`, config)
    return config
  }
}

/**
 * Whose the configuration of an actor's turns is: what an end user's client sent goes with the session, what a tenant's
 * actors share with the tenant, and what the project's own share stays.
 */
export const configOwner = (actor: string, { tenant, user }: Pick<Owner, 'tenant' | 'user'>): string => {
  if (user !== null) return actorBlobs({ actor, tenant })
  return tenant === null ? '' : tenantBlobs(tenant)
}

/** The name by which the model calls a tool, and events name it. */
export const toolName = (tool: TurnTool): string => {
  if (tool.type === 'function') return tool.function.name
  return tool.type === 'web_search_preview' ? tool.type : tool.name
}
