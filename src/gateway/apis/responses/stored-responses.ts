import type { Caller } from '#gateway/call/caller.ts'
import { encodeJson } from '#outgoing/shares/encode-in-steps.ts'
import { textOf, type WireObject } from '#outgoing/wire.ts'
import type { Row, TypedKind } from '#records/schema.ts'
import { Table } from '#records/table.ts'
import { ServiceError } from '#specs/errors/errors.ts'
import { nextSlice } from '#src/concurrency/run-in-slices.ts'
import type { RecordStore, Scope } from '#storage/index.ts'
import type { ResponseItem } from './input-items.ts'
import type { ResponseDocument } from './response-document.ts'

type ResponseData = {
  /** JSON of the document as it was returned. */
  readonly document: string
  /** JSON of the items of its request, without those of earlier responses. */
  readonly input: string
  /** Ids of the responses that precede it, oldest first. */
  readonly chain: readonly string[]
  /** Agent of the key that created it; keys of other agents cannot access it. */
  readonly agent_id: string | null
}

/** Stored responses; they are kept for 30 days. */
export const storedResponses: TypedKind<ResponseData> = { name: 'responses' }

/** The response that an output item belongs to; the row has the id of the item. */
type ItemData = { readonly response_id: string }

/** Output items of stored responses, for `item_reference` in the input of requests. */
export const storedItems: TypedKind<ItemData> = { name: 'response_items' }

const keptMs = 30 * 24 * 60 * 60 * 1000
const chainMax = 1000

/** The `input` of a request. */
export type ResponseInput = string | readonly WireObject[] | null | undefined

export interface KeptResponse {
  readonly document: ResponseDocument
  readonly input: readonly ResponseItem[]
  readonly chain: readonly string[]
}

/** The conversation before a response: all of its items, and the responses that they belong to. */
export interface ResponseHistory {
  readonly items: readonly ResponseItem[]
  readonly chain: readonly string[]
}

/** Stores responses so that later ones can continue them. */
export class StoredResponses {
  readonly #table: Table<ResponseData>
  readonly #items: Table<ItemData>
  readonly #now: () => number

  constructor(records: RecordStore, now: () => number) {
    this.#table = new Table(records, storedResponses, now)
    this.#items = new Table(records, storedItems, now)
    this.#now = now
  }

  /** Stores a response and its output items. @throws {StoreUnavailable} */
  async keep(caller: Caller, { document, input, chain }: KeptResponse): Promise<void> {
    const { project, tenant, externalUserId, agentId } = caller
    const owner = { project, tenant, user: tenant === null ? null : externalUserId, expiresAtMs: this.#now() + keptMs }
    const data = { document: await jsonOf(document), input: await jsonOf(input), chain, agent_id: agentId }
    await nextSlice()
    const items = document.output.map(({ id }) => ({ id, ...owner, data: { response_id: document.id } }))
    // a response that exists has all its items; items without a response are not found, and expire
    await Promise.all(items.map((item) => this.#items.insert(item)))
    await this.#table.insert({ id: document.id, ...owner, data })
  }

  /**
   * Resolves each `item_reference` in the input of a request to the stored item.
   *
   * @throws {ServiceError} `not_found` with the param of an item that is unknown, deleted or expired, or of another
   * tenant or agent.
   */
  async referenced<Input extends ResponseInput>(caller: Caller, input: Input): Promise<Input | readonly WireObject[]> {
    if (!Array.isArray(input) || !input.some(isReference)) return input
    return Promise.all(input.map((item, at) => (isReference(item) ? this.#itemOf(caller, textOf(item.id), at) : item)))
  }

  /** @throws {ServiceError} `not_found`, also for a response of another agent. */
  async find(scope: Scope, agentId: string | null, id: string): Promise<KeptResponse> {
    return keptOf(await this.#row(scope, agentId, id))
  }

  /** @throws {ServiceError} `not_found` */
  async remove(scope: Scope, agentId: string | null, id: string): Promise<void> {
    const { document } = keptOf(await this.#row(scope, agentId, id))
    await Promise.all(document.output.map((item) => this.#items.remove(scope, item.id)))
    if (!(await this.#table.remove(scope, id))) throw new ServiceError('not_found')
  }

  /**
   * Returns the conversation up to and including the response `id`.
   *
   * @throws {ServiceError} `not_found` with `previous_response_id` when the response is unknown or of another tenant or
   * agent, or when an earlier one was deleted or has expired; `bad_request` when the chain has more than 1,000
   * responses.
   */
  async history(caller: Caller, id: string): Promise<ResponseHistory> {
    const last = await this.#ownRow(caller, id)
    if (last === null) throw gone('There is no response with this previous_response_id.')
    const chain = [...last.data.chain, id]
    if (chain.length > chainMax) {
      const message = `The chain has more than ${chainMax} responses. Start a new conversation.`
      throw new ServiceError('bad_request', { param: 'previous_response_id', message })
    }
    const earlier = await Promise.all(last.data.chain.map((each) => this.#ownRow(caller, each)))
    const items = [...earlier, last].flatMap((row) => {
      if (row === null) throw gone('An earlier response of this conversation was deleted, or has expired.')
      return itemsOf(keptOf(row))
    })
    return { items, chain }
  }

  async #itemOf(caller: Caller, id: string, at: number): Promise<WireObject> {
    const known = await this.#items.get(caller.scope, id)
    const row = known === null ? null : await this.#ownRow(caller, known.data.response_id)
    const item = row === null ? undefined : keptOf(row).document.output.find((each) => each.id === id)
    if (item !== undefined) return item
    throw new ServiceError('not_found', { param: `input[${at}].id`, message: `Item with id '${id}' not found.` })
  }

  async #row(scope: Scope, agentId: string | null, id: string): Promise<Row<ResponseData>> {
    const row = await this.#table.get(scope, id)
    if (row === null || (agentId !== null && row.data.agent_id !== agentId)) throw new ServiceError('not_found')
    return row
  }

  async #ownRow({ scope, tenant, agentId }: Caller, id: string): Promise<Row<ResponseData> | null> {
    const row = await this.#table.get(scope, id)
    const isOwn = row?.tenant === tenant && (agentId === null || row.data.agent_id === agentId)
    return isOwn ? row : null
  }
}

/** Encodes JSON; a long value is encoded in steps so that it does not block the event loop. */
const jsonOf = async (value: object): Promise<string> => Buffer.from(await encodeJson(value)).toString('utf8')

/** Whether an item names another one. OpenAI's type is optional; no other item consists of an id alone. */
const isReference = ({ type, ...fields }: WireObject): boolean =>
  type === 'item_reference' || ((type ?? null) === null && Object.keys(fields).join() === 'id')

const gone = (message: string): ServiceError =>
  new ServiceError('not_found', { param: 'previous_response_id', message })

const keptOf = ({ data }: Row<ResponseData>): KeptResponse => ({
  document: JSON.parse(data.document),
  input: JSON.parse(data.input),
  chain: data.chain,
})

const itemsOf = ({ document, input }: KeptResponse): readonly ResponseItem[] => [...input, ...document.output]
