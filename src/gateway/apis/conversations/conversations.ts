import type { Caller } from '#gateway/call/caller.ts'
import type { Row, TypedKind } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import type { RecordStore, Scope } from '#storage/index.ts'
import type { ResponseItem } from '../responses/input-items.ts'

type ConversationData = {
  readonly metadata: { readonly [name: string]: string }
  /** JSON of its items, oldest first. */
  readonly items: string
  readonly count: number
  /** Agent of the key that created it; keys of other agents cannot access it. */
  readonly agent_id: string | null
}

/** Conversations of OpenAI's Conversations API. */
export const conversationKind: TypedKind<ConversationData> = { name: 'conversations' }

/**
 * Maximum number of items of a conversation, and of characters in total: a conversation is one document in the store.
 */
const maxItems = 2000
const maxChars = 4 * 1024 * 1024

/** A conversation with its items. */
export interface Conversation {
  readonly id: string
  /** ms since the epoch. */
  readonly createdAt: number
  readonly metadata: { readonly [name: string]: string }
  readonly items: readonly ResponseItem[]
}

/** A change to a conversation; absent fields stay as they are. */
export interface ConversationChange {
  readonly metadata?: { readonly [name: string]: string }
  readonly items?: (items: readonly ResponseItem[]) => readonly ResponseItem[]
}

/**
 * The conversations that a call can access: those of a scope, and only those of the agent for an agent's key (null:
 * all).
 */
export interface Reach {
  readonly scope: Scope
  readonly agentId: string | null
}

/** Stores conversations with their items. */
export class Conversations {
  readonly #table: Table<ConversationData>

  constructor(records: RecordStore, now: () => number) {
    this.#table = new Table(records, conversationKind, now)
  }

  /** @throws {ServiceError} `bad_request` for too many items. */
  async create(caller: Caller, { id, metadata, items }: Omit<Conversation, 'createdAt'>): Promise<Conversation> {
    const { project, tenant, externalUserId, agentId } = caller
    const data = { metadata, ...written(items), agent_id: agentId }
    const user = tenant === null ? null : externalUserId
    const row = await this.#table.insert({ id, project, tenant, user, data })
    if (row === null) throw new ServiceError('version_conflict')
    return conversationOf(row)
  }

  /** @throws {ServiceError} `not_found` */
  async find(reach: Reach, id: string): Promise<Conversation> {
    return conversationOf(await this.#row(reach, id))
  }

  /** Returns the conversation that a request names. @throws {ServiceError} `not_found` with `conversation` */
  async named(caller: Caller, id: string): Promise<Conversation> {
    const row = await this.#table.get(caller.scope, id)
    if (row !== null && row.tenant === caller.tenant && isOf(row, caller.agentId)) return conversationOf(row)
    throw new ServiceError('not_found', { param: 'conversation', message: `Conversation with id '${id}' not found.` })
  }

  /** @throws {ServiceError} `not_found`; `bad_request` for too many items. */
  async change(reach: Reach, id: string, { metadata, items }: ConversationChange): Promise<Conversation> {
    await this.#row(reach, id)
    const changed = await this.#table.change(reach.scope, id, {
      edit: ({ data }) => ({
        ...data,
        ...(metadata !== undefined && { metadata }),
        ...(items !== undefined && written(items(itemsFrom(data.items)))),
      }),
    })
    if (changed === null) throw new ServiceError('not_found')
    return conversationOf(changed)
  }

  /** @throws {ServiceError} `not_found` */
  async remove(reach: Reach, id: string): Promise<void> {
    await this.#row(reach, id)
    if (!(await this.#table.remove(reach.scope, id))) throw new ServiceError('not_found')
  }

  async #row({ scope, agentId }: Reach, id: string): Promise<Row<ConversationData>> {
    const row = await this.#table.get(scope, id)
    if (row === null || !isOf(row, agentId)) throw new ServiceError('not_found')
    return row
  }
}

const itemsFrom = (text: string): readonly ResponseItem[] => JSON.parse(text)

const isOf = ({ data }: Row<ConversationData>, agentId: string | null): boolean =>
  agentId === null || data.agent_id === agentId

const conversationOf = ({ id, data, created_at }: Row<ConversationData>): Conversation => ({
  ...{ id, createdAt: created_at, metadata: data.metadata, items: itemsFrom(data.items) },
})

const written = (items: readonly ResponseItem[]): Pick<ConversationData, 'items' | 'count'> => {
  const text = JSON.stringify(items)
  if (items.length > maxItems || text.length > maxChars) {
    const message = `A conversation can have at most ${maxItems} items and 4 MB in total. Create a new one.`
    throw new ServiceError('bad_request', { param: 'items', message })
  }
  return { items: text, count: items.length }
}
