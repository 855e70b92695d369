import { createHash } from 'node:crypto'
import type { ServerTool } from '#actors/capability/agent-resources.ts'
import { isObject, type Owner } from '#runtime/index.ts'
import { actorBlobs, tenantBlobs } from '#runtime/internal.ts'
import type { contextPolicy } from '#specs/agent-config.ts'
import type { Infer } from '#specs/dsl/schema.ts'
import type { conversationMemory } from '#specs/memory-field.ts'
import type { tool } from '#specs/tools.ts'
import type { BlobStore, Json, JsonObject } from '#storage/index.ts'
import { turnConfig } from '../schema.ts'

/** A tool as a turn or an agent declares it (`sessions.turns`). */
export type ToolDeclaration = Infer<typeof tool>

/** A tool of a turn: a declared one, or one that a resource of the agent offers. */
export type TurnTool = ToolDeclaration | ServerTool

/**
 * Parameters of a turn's model calls other than the conversation. Fixed when the turn starts, so that a change of the
 * agent never affects a turn in progress.
 */
export interface TurnConfig {
  /** System messages in order. */
  readonly instructions: readonly string[]
  readonly tools: readonly TurnTool[]
  readonly temperature: number | null
  readonly max_tokens: number | null
  /** Other parameters of the agent's model calls; absent for none. */
  readonly sampling?: Sampling
  /** How a conversation that outgrows the model is shortened; absent: it is truncated. */
  readonly context?: ContextPolicy
  /** How memory is used; absent when it is not used. */
  readonly memory?: TurnMemory
  /** The only models that its calls, and those of its delegations and memory, may use; absent: any. */
  readonly models?: readonly string[]
  /** Guardrails of its model calls, in addition to those of the project; absent: none. */
  readonly guardrails?: readonly string[]
  /** Set where an answer that a crash cut is not generated again. */
  readonly on_interrupted?: 'fail'
  /** Set where the log of a session has what the model reasons. */
  readonly show_reasoning?: true
  /** The plan by which the call's tenant is charged, where an installation has one. */
  readonly rate_plan_id?: string
}

/** How a conversation is shortened (`agents.create`, `config.context`). */
export type ContextPolicy = Infer<typeof contextPolicy>

/** Parameters of a chat completion from an agent's config; `models` are the fallbacks. */
export type Sampling = JsonObject

/** The `memory` field of a turn or an agent, before defaults are applied. */
export type TurnMemory = Exclude<Infer<typeof conversationMemory>, boolean>

/** A turn without settings. It is the most common one, and takes no space in a context. */
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
  models,
  guardrails,
  on_interrupted,
  show_reasoning,
}: TurnConfig): boolean =>
  instructions.length + tools.length === 0 &&
  [
    temperature ?? undefined,
    max_tokens ?? undefined,
    rate_plan_id,
    sampling,
    context,
    memory,
    models,
    guardrails,
    on_interrupted,
    show_reasoning,
  ].every((value) => value === undefined)

/** A configuration longer than this, in UTF-16 units of JSON, is stored as a blob shared by all turns that have it. */
const maxInlineLength = 1024

const knownBlobs = 10_000

/** Stores turn configurations: small ones in the session's context, large ones as blobs named by their hash. */
export class TurnConfigs {
  readonly #blobs: BlobStore
  readonly #read = new Map<string, TurnConfig>()
  readonly #written = new Set<string>()

  constructor(blobs: BlobStore) {
    this.#blobs = blobs
  }

  /**
   * Returns the value that represents `config` in a context. If it refers to a blob, that is durable when this
   * resolves.
   *
   * @param owner prefix of the blob's name, if the blob is to be removed with its owner (`configOwner`).
   * @throws {StoreUnavailable}
   */
  keep(project: string, config: TurnConfig, owner = ''): JsonObject | Promise<JsonObject> {
    if (isPlain(config)) return {}
    const text = JSON.stringify(config)
    return text.length <= maxInlineLength ? { inline: text } : this.#keepBlob(project, text, owner)
  }

  /** Returns the configuration that a context holds. @throws {StoreUnavailable} */
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
 * The owner of an actor's turn configurations. With an end user, they are removed with the session. Without a user, a
 * tenant's are shared by its actors and removed with the tenant, and those of the project itself are kept.
 */
export const configOwner = (actor: string, { tenant, user }: Pick<Owner, 'tenant' | 'user'>): string => {
  if (user !== null) return actorBlobs({ actor, tenant })
  return tenant === null ? '' : tenantBlobs(tenant)
}

/** The name of a tool in model calls and in events. */
export const toolName = (tool: TurnTool): string => {
  if (tool.type === 'function') return tool.function.name
  return tool.type === 'web_search_preview' ? tool.type : tool.name
}
