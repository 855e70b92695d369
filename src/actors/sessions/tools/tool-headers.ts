import { createHmac } from 'node:crypto'
import type { Services } from '#actors/capability/services.ts'
import { type BoundTo, boundTo, credentialAddress, mayReceive } from '#outgoing/credential-address.ts'
import { mask } from '#records/sanitize.ts'
import type { TypedKind } from '#records/schema.ts'
import type { ServerKeys } from '#records/sealing/server-keys.ts'
import { openedOrNull } from '#records/secret-box.ts'
import { Table } from '#records/table.ts'
import { isObject, type Owner } from '#runtime/index.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import { projectScope } from '#storage/index.ts'
import type { ToolDeclaration, TurnTool } from '../turns/turn-config.ts'

/** The headers of one http tool: `sealed` is encrypted JSON of names and values. They are only sent to this address. */
export type ToolHeadersData = BoundTo & { readonly sealed: string }

/** Encrypted headers of http tools (specs/decisions/0146-actions-that-are-carried-out.md). */
export const toolHeaders: TypedKind<ToolHeadersData> = {
  name: 'tool_headers',
  exported: null,
  sealed: [
    {
      field: 'sealed',
      aad: ({ project, id }) => aadOf(project, id),
      instead: null,
      sentTo: ['url'],
      loss: 'headers of an http tool: set them again',
    },
  ],
}

/** The owner of the headers, and the place of the tools in the request. */
export interface ToolsPlace {
  readonly owner: Pick<Owner, 'project' | 'tenant' | 'user'>
  /** Path of the list of tools in the request's body. */
  readonly param: string
  /** The stored tools, whose header values replace masked values of the request. */
  readonly before?: readonly TurnTool[] | undefined
}

/** A config that may have tools. */
interface ToolsHolder {
  readonly tools?: readonly ToolDeclaration[] | undefined
}

/** Dependencies of `ToolHeaders`. */
export interface ToolHeadersParts extends Pick<Services, 'box' | 'now' | 'records'> {
  readonly keys: Pick<ServerKeys, 'lasting'>
}

/** An http tool as declared or as stored. */
export type HttpDeclaration = ToolDeclaration & { readonly type: 'http' }
type Headers = Readonly<Record<string, string>>

/** Capacity of the set of records that this process knows to be written. */
const maxKnown = 10_000

/**
 * Keeps header values of http tools out of configs and contexts, which hold the names, masks and a reference instead.
 */
export class ToolHeaders {
  readonly #parts: ToolHeadersParts
  readonly #table: Table<ToolHeadersData>
  readonly #key: Buffer
  readonly #known = new Set<string>()

  constructor(parts: ToolHeadersParts) {
    this.#parts = parts
    this.#table = new Table(parts.records, toolHeaders, parts.now)
    this.#key = parts.keys.lasting('tool-headers')
  }

  /**
   * Returns the tools as they may be stored. Equal headers of one owner give the same reference.
   *
   * @throws {ServiceError} `invalid_field` for a masked value without a stored one: another tool, header or address.
   */
  async keep<T extends ToolDeclaration>(tools: readonly T[], place: ToolsPlace): Promise<readonly T[]> {
    if (!tools.some(hasHeaders)) return tools
    const kept: T[] = []
    for (const [index, tool] of tools.entries()) {
      kept.push(hasHeaders(tool) ? await this.#kept(tool, { ...place, param: `${place.param}[${index}]` }) : tool)
    }
    return kept
  }

  /** Returns the request of an action as it may be stored. @throws {ServiceError} as `keep`. */
  async keepRequest(request: HttpDeclaration, place: Omit<ToolsPlace, 'before'>): Promise<HttpDeclaration> {
    return hasHeaders(request) ? this.#kept(request, place) : request
  }

  /** Returns a config of an agent or installation as it may be stored. @throws {ServiceError} as `keep`. */
  async keepConfig<T extends ToolsHolder>(
    config: T,
    place: Omit<ToolsPlace, 'before'>,
    before?: ToolsHolder,
  ): Promise<T> {
    if (config.tools === undefined) return config
    const tools = await this.keep(config.tools, { ...place, before: before?.tools })
    return { ...config, tools: [...tools] }
  }

  /** Returns the headers that a call sends; null when they were removed or cannot be decrypted for this URL. */
  async open(project: string, tool: HttpDeclaration): Promise<Headers | null> {
    const id = referenceOf(tool)
    if (id === null) return tool.headers ?? {}
    const row = await this.#table.get(projectScope(project), id)
    if (row === null || !mayReceive(row.data, tool.url)) return null
    const opened = openedOrNull(this.#parts.box, row.data.sealed, aadOf(project, id))
    return opened === null ? null : headersOf(opened)
  }

  async #kept<T extends HttpDeclaration>(tool: T, place: ToolsPlace): Promise<T> {
    const headers = await this.#whole(tool, place)
    const { project, tenant, user } = place.owner
    const bound = boundTo(tool.url)
    const text = JSON.stringify(Object.fromEntries(Object.entries(headers).sort(([a], [b]) => (a < b ? -1 : 1))))
    const named = JSON.stringify([project, tenant, user, bound.address, text])
    const id = `thd_${createHmac('sha256', this.#key).update(named).digest('hex').slice(0, 40)}`
    if (!this.#known.has(id)) {
      const data = { ...bound, sealed: this.#parts.box.seal(text, aadOf(project, id)) }
      await this.#table.insert({ id, project, tenant, user, data })
      if (this.#known.size >= maxKnown) this.#known.clear()
      this.#known.add(id)
    }
    return { ...tool, headers: masked(headers), headers_ref: id }
  }

  /** The headers, with each masked value replaced by the stored one. */
  async #whole(tool: HttpDeclaration, { owner, param, before = [] }: ToolsPlace): Promise<Headers> {
    const own = tool.headers ?? {}
    const hidden = Object.keys(own).filter((name) => own[name] === mask)
    if (hidden.length === 0) return own
    const stored = before.find((each): each is HttpDeclaration => each.type === 'http' && each.name === tool.name)
    const opened =
      stored === undefined || credentialAddress(stored.url) !== credentialAddress(tool.url)
        ? {}
        : await this.open(owner.project, stored)
    const missing = hidden.find((name) => opened?.[name] === undefined)
    if (missing === undefined)
      return { ...own, ...Object.fromEntries(hidden.map((name) => [name, opened?.[name] ?? ''])) }
    throw invalidField(
      `${param}.headers.${missing}`,
      `${mask} stands for a stored value; there is none for this tool at this address. Send the value itself.`,
    )
  }
}

/** The config as people may see it: with the names of headers, but without their values. */
export const shownTools = <T extends ToolsHolder>(config: T): T =>
  config.tools?.some(hasHeaders) ? { ...config, tools: config.tools.map(shownTool) } : config

const shownTool = (tool: ToolDeclaration): ToolDeclaration => {
  if (!hasHeaders(tool)) return tool
  const shown = { ...tool, headers: masked(tool.headers ?? {}) }
  if ('headers_ref' in shown) delete shown.headers_ref
  return shown
}

const hasHeaders = <T extends ToolDeclaration>(tool: T): tool is T & HttpDeclaration =>
  tool.type === 'http' && Object.keys(tool.headers ?? {}).length > 0

const masked = (headers: Headers): Record<string, string> =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, mask]))

/** Only stored tools have this field: a declaration in a request cannot set it. */
const referenceOf = (tool: HttpDeclaration): string | null =>
  'headers_ref' in tool && typeof tool.headers_ref === 'string' ? tool.headers_ref : null

const headersOf = (text: string): Headers => {
  const value: unknown = JSON.parse(text)
  return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, String(each)])) : {}
}

const aadOf = (project: string, id: string): string => `${project}|tool_headers|${id}`
