import { boundTo, mayReceive } from '#outgoing/credential-address.ts'
import { invalidField } from '#specs/errors/invalid-field.ts'
import { projectScope } from '#storage/index.ts'
import type { Services } from '../capability/services.ts'
import { openedOrNull, type SecretBox } from '../records/secret-box.ts'
import { Table } from '../records/table.ts'
import { isObject } from '../runtime/index.ts'
import { type ServerHeadersData, serverHeaders, serverHeadersAad } from './kinds.ts'

export type ServerHeadersParts = Pick<Services, 'box' | 'now' | 'records'>

/** A server whose headers are stored. */
export interface HeadersPlace {
  readonly project: string
  readonly tenant: string | null
  /** External id of the end user to whom the headers belong, if any. */
  readonly user?: string | null
  readonly id: string
  readonly url: string
}

type Headers = Readonly<Record<string, string>>

/** Headers that are reserved for the protocol or the connection. */
const reserved =
  /^(?:host|connection|content-length|content-type|transfer-encoding|accept|accept-encoding|te|upgrade|keep-alive|trailer|expect|cookie|mcp-[a-z-]{1,64}|last-event-id)$/

/** Headers of every request to a server. They are encrypted, and only sent to the address that they were given for. */
export class ServerHeaders {
  readonly #table: Table<ServerHeadersData>
  readonly #box: SecretBox

  constructor({ records, box, now }: ServerHeadersParts) {
    this.#table = new Table(records, serverHeaders, now)
    this.#box = box
  }

  /** Stores the headers of a server, replacing earlier ones. Storing the same headers again has no visible effect. */
  async keep(place: HeadersPlace, headers: Headers): Promise<void> {
    const { project, tenant, user = null, id } = place
    const sealed = this.#box.seal(JSON.stringify(headers), serverHeadersAad(project, id))
    const data = { ...boundTo(place.url), sealed }
    if ((await this.#table.insert({ id, project, tenant, user, data })) !== null) return
    await this.#table.change(projectScope(project), id, { edit: () => data })
  }

  /** Returns the headers for requests to a URL; none when it is another address, or when they cannot be decrypted. */
  async open({ project, id, url }: Omit<HeadersPlace, 'tenant'>): Promise<Headers> {
    const row = await this.#table.get(projectScope(project), id)
    if (row === null || !mayReceive(row.data, url)) return {}
    const opened = openedOrNull(this.#box, row.data.sealed, serverHeadersAad(project, id))
    return opened === null ? {} : headersOf(JSON.parse(opened))
  }

  /** Removes the headers of a deleted server. */
  async remove(project: string, id: string): Promise<void> {
    await this.#table.remove(projectScope(project), id)
  }
}

const headersOf = (value: unknown): Headers =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, String(each)])) : {}

/** Validates headers and converts their names to lower case. @throws {ServiceError} `invalid_field` */
export const checkedHeaders = (headers: Headers, param = 'headers'): Headers => {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  for (const [name, value] of entries) {
    const isRefused = !/^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/.test(name) || reserved.test(name)
    const refused = (message: string) => invalidField(`${param}.${name}`, message)
    if (isRefused) throw refused('This header cannot be set.')
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
      throw refused('The value of this header has a character that headers cannot contain.')
  }
  return Object.fromEntries(entries)
}
