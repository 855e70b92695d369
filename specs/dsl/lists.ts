import {
  array,
  boolean,
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

const limit = described(defaulted(integer({ min: 1, max: 100 }), 20), 'Maximum number of items on a page.')

/** Query parameters of a list with cursors. */
export const cursorQuery = {
  limit,
  cursor: optional(
    string({
      maxLength: 1024,
      description: 'Where the page starts: `next_cursor` of the previous page. Default: the first page.',
    }),
  ),
}

/** Filters of a list by owner. */
export const ownerFilters = {
  tenant_id: optional(string({ minLength: 1, maxLength: 128 })),
  external_user_id: optional(
    string({ minLength: 1, maxLength: 256, description: 'Your own id of the end user. Needs `tenant_id`.' }),
  ),
}

/** Query parameters of a list with page numbers. */
export const pageQuery = {
  page: described(defaulted(integer({ min: 1, max: 1_000_000 }), 1), 'Page number, starting at 1.'),
  limit,
}

/** Last row that a numbered page can reach: the store reads all rows before it (specs/decisions/0040-storage.md). */
export const deepestRow = 100_000

/** Continues a numbered list after a row, at constant cost. For potentially long lists, in addition to `pageQuery`. */
export const startingAfter = described(
  optional(string({ minLength: 1, maxLength: 128 })),
  'Id of the last item that you received. Page numbers are relative to it, so new items do not shift the pages.',
)

/** `{ data, next_cursor }`: lists of the agent platform. */
export const cursorPage = <S extends Schema<unknown>>(item: S) =>
  object({
    data: described(array(item), 'Items of this page.'),
    next_cursor: nullable(
      string({ description: 'Value to send as `cursor` for the next page; null on the last page.' }),
    ),
  })

/** `{ data, pagination }`: lists of sessions and their events. */
export const numberedPage = <S extends Schema<unknown>>(item: S) =>
  object({
    data: described(array(item), 'Items of this page.'),
    pagination: object(
      {
        page: integer({ description: 'Number of this page, starting at 1.' }),
        limit: integer({ description: 'Maximum number of items on a page.' }),
        total: integer({
          description: 'Total number of items, counted to 10,000. Above 1,000 it may be up to 5 seconds old.',
        }),
        total_is: described(oneOf('exact', 'at_least'), '`at_least` when there are more items than `total`.'),
        total_pages: integer({ description: 'Total number of pages.' }),
        has_more: described(boolean(), 'Whether there are more items after this page.'),
      },
      { title: 'Pagination' },
    ),
  })

const providersOfList = 'Providers of the models in `data`, in the order of their first models.'

/** A provider of models of a list. */
const listedProvider = object(
  {
    id: string({ description: 'As `provider` of the models.' }),
    name: string(),
    logo_url: described(nullable(string()), 'SVG image; null for a provider of the project.'),
  },
  { title: 'ListedProvider', description: 'A provider of models of the list.' },
)

/** `{ object: list, data, providers }`: the authenticated model list. */
export const objectList = <S extends Schema<unknown>>(item: S) =>
  object({ object: oneOf('list'), data: array(item), providers: described(array(listedProvider), providersOfList) })

/** `{ object: list, data, providers, total }`: the models of the public catalogue. */
export const providedList = <S extends Schema<unknown>>(item: S) =>
  object({
    object: oneOf('list'),
    data: array(item),
    providers: described(array(listedProvider), providersOfList),
    total: integer(),
  })

/** `{ object: list, data, total }`: the public catalogue. */
export const countedList = <S extends Schema<unknown>>(item: S) =>
  object({ object: oneOf('list'), data: array(item), total: integer() })

/** `{ <name>: [...] }`: custom providers, voice models. */
export const namedList = <const N extends string, S extends Schema<unknown>>(name: N, item: S) =>
  object(named(name, array(item)))

/** A page of a numbered list, as use-cases return it. */
export type NumberedPage<T> = Infer<ReturnType<typeof numberedPage<Schema<T>>>>

function named<const N extends string, S>(name: N, schema: S): { readonly [K in N]: S }
function named<S>(name: string, schema: S): Readonly<Record<string, S>> {
  return { [name]: schema }
}

/** Query parameters of OpenAI's lists. */
export const openaiQuery = {
  limit: described(defaulted(integer({ min: 1, max: 100, clamp: 'max' }), 20), 'Maximum number of items on a page.'),
  order: described(optional(oneOf('asc', 'desc')), 'Order by time of creation. Default: `desc`.'),
  after: described(
    optional(string({ minLength: 1, maxLength: 128 })),
    'Id of the last item of the previous page. Default: the first page.',
  ),
}

/** `{ object: list, data, first_id, last_id, has_more }`: lists of OpenAI's API. */
export const openaiList = <S extends Schema<unknown>>(item: S) =>
  object({
    object: oneOf('list'),
    data: described(array(item), 'Items of this page.'),
    first_id: nullable(string()),
    last_id: nullable(string()),
    has_more: described(boolean(), 'Whether there are more items after this page.'),
  })
