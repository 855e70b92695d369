import { asFields } from './schema.ts'
import type { Query, RequestOptions, Troupe } from './troupe.ts'

/** What a call takes beside the arguments of its operation. */
export type CallOptions = Omit<RequestOptions, 'query' | 'body'>

/** A list: the first page as a promise, and by `for await` the items of all pages. */
export type Pages<Page, Item> = Promise<Page> & AsyncIterable<Item>

/**
 * Makes the calls of a resource of lines such as `GET /v1/agents/{}/versions *cursor`: method, path, and what follows the
 * parameters of the path: `?` a query, `!` a body, `*` the query of a list with the parameter of its next page.
 */
export const resource =
  <T>(lines: Readonly<Record<string, string>>): ((client: Troupe) => T) =>
  (client) =>
    asFields(Object.fromEntries(Object.entries(lines).map(([name, line]) => [name, callOf(client, line)])))

/** Opens several resources with the credential of one client. */
export const opened = <Api>(resources: Readonly<Record<string, (client: Troupe) => object>>, client: Troupe): Api =>
  asFields(Object.fromEntries(Object.entries(resources).map(([name, open]) => [name, open(client)])))

type Page = Readonly<Record<string, unknown>>

const callOf = (client: Troupe, line: string) => {
  const [method = '', template = '', mark = ''] = line.split(' ')
  return (...args: unknown[]): Promise<unknown> => {
    const path = template.replaceAll('{}', () => encodeURIComponent(`${args.shift()}`))
    const input = mark === '' ? undefined : args.shift()
    const options = asFields<RequestOptions>(args[0])
    if (mark === '!') return answered(client.request(method, path, { ...options, body: asFields(input) }))
    const read = (more: object = {}) =>
      answered(client.request(method, path, { ...options, query: queryOf({ ...asFields(input), ...more }) }))
    return mark.startsWith('*') ? pages(mark.slice(1), read) : read()
  }
}

/** The document of a response, or the response if it is none. */
const answered = async (response: Promise<Response>): Promise<unknown> => {
  const { status, headers } = await response
  if (headers.get('content-type')?.startsWith('application/json')) return (await response).json()
  return status === 204 ? undefined : response
}

const queryOf = (fields: Readonly<Record<string, unknown>>): Query =>
  asFields(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== null)))

const pages = (parameter: string, read: (more?: object) => Promise<unknown>): Pages<unknown, unknown> => {
  const first = read()
  async function* items() {
    for (let page = asFields(await first); ; ) {
      const list = asFields<readonly unknown[]>(Object.values(page).find(Array.isArray))
      yield* list
      const next = nextOf(parameter, page, asFields(list.at(-1)))
      if (next === undefined || next === null) return
      page = asFields(await read({ [parameter]: next }))
    }
  }
  return Object.assign(first, { [Symbol.asyncIterator]: items })
}

/** What the parameter of the next page is; nothing after the last one. */
const nextOf = (parameter: string, page: Page, last: Page): unknown => {
  if (parameter === 'cursor') return page.next_cursor ?? page.nextCursor
  const { has_more } = asFields(page.pagination ?? page)
  if (has_more !== true) return null
  return parameter === 'after' ? (page.last_id ?? last.sequence) : last.id
}
