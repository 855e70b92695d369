import {
  array,
  defaulted,
  described,
  type Infer,
  integer,
  nullable,
  object,
  oneOf,
  optional,
  type Schema,
  string,
} from './schema.ts'

/** Query of a list that goes on by cursor. */
export const cursorQuery = {
  limit: defaulted(integer({ min: 1, max: 100 }), 20),
  cursor: optional(string({ maxLength: 1024 })),
}

/** Query of a list that goes on by page number. */
export const pageQuery = {
  page: defaulted(integer({ min: 1, max: 1_000_000 }), 1),
  limit: defaulted(integer({ min: 1, max: 100 }), 20),
}

/** A page by number passes over every row before it: those beyond so many rows are refused (specs/decisions/0041-lists.md). */
export const deepestRow = 100_000

/** What goes on behind a row however deep it stands: beside `pageQuery`, where rows may be many. */
export const startingAfter = described(
  optional(string({ minLength: 1, maxLength: 128 })),
  'The id of the last row you have: pages count from behind it. Costs the same however far it is, and rows that are added meanwhile shift nothing.',
)

/** `{ data, next_cursor }`: the agent platform's lists. */
export const cursorPage = <S extends Schema<unknown>>(item: S) =>
  object({ data: array(item), next_cursor: nullable(string()) })

/** `{ data, pagination }`: sessions and their events. */
export const numberedPage = <S extends Schema<unknown>>(item: S) =>
  object({
    data: array(item),
    pagination: object(
      {
        page: integer(),
        limit: integer(),
        total: described(integer(), 'Exact up to 1,000; beyond that it may be some seconds behind.'),
        total_pages: integer(),
      },
      { title: 'Pagination' },
    ),
  })

/** `{ object: list, data }`: the authenticated model list. */
export const objectList = <S extends Schema<unknown>>(item: S) => object({ object: oneOf('list'), data: array(item) })

/** `{ object: list, data, total }`: the public catalogue. */
export const countedList = <S extends Schema<unknown>>(item: S) =>
  object({ object: oneOf('list'), data: array(item), total: integer() })

/** `{ <name>: [...] }`: custom providers, voice models. */
export const namedList = <const N extends string, S extends Schema<unknown>>(name: N, item: S) =>
  object(named(name, array(item)))

/** One page of a cursor list, as use-cases make it. */
export type CursorPage<T> = Infer<ReturnType<typeof cursorPage<Schema<T>>>>

/** One page of a numbered list, as use-cases make it. */
export type NumberedPage<T> = Infer<ReturnType<typeof numberedPage<Schema<T>>>>

function named<const N extends string, S>(name: N, schema: S): { readonly [K in N]: S }
function named<S>(name: string, schema: S): Readonly<Record<string, S>> {
  return { [name]: schema }
}
