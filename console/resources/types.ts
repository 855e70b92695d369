import type { OperationId } from '../operation-types.ts'

/** A field of a form. Its value is part of the body of a request. */
export interface Field {
  readonly name: string
  /** What edits it: a line, several lines, one of `choices`, a group of fields, a list of entries, JSON … */
  readonly kind:
    | ('text' | 'long' | 'secret' | 'time' | 'lines' | 'json' | 'flag' | 'integer' | 'number')
    | ('choice' | 'choices' | 'known' | 'group' | 'items')
  /** In place of its name. */
  readonly title?: string
  readonly help?: string
  readonly required?: true
  /** A parameter of the path, not of the body. */
  readonly path?: true
  /** Most people fill it in. */
  readonly first?: true
  /** The field can be removed by null. */
  readonly nullable?: true
  readonly max?: number
  readonly min?: number
  readonly default?: unknown
  readonly choices?: readonly unknown[]
  /** Names of choices, by their values. */
  readonly titles?: Readonly<Record<string, string>>
  /** Lists the resources of which some are chosen, or whose ids are suggested. */
  readonly list?: OperationId
  /** Of a group. */
  readonly fields?: readonly Field[]
  /** Kinds of entries of a list. */
  readonly variants?: readonly Variant[]
}

export interface Variant {
  readonly title: string
  /** Values that every entry of this kind has. */
  readonly fixed: Readonly<Record<string, unknown>>
  readonly fields: readonly Field[]
}

/** An operation with a form. */
export interface Act {
  readonly id: OperationId
  readonly summary: string
  /** Parameters of its path. */
  readonly params: readonly string[]
  readonly fields: readonly Field[]
  /** The least role that may call it. */
  readonly role: string
  /** Fields that a row needs for it; `!`: it has none; `=`: it has one of these values. */
  readonly needs?: readonly string[]
}

/** What a page of a resource shows and can do. */
export interface Resource {
  readonly name: string
  readonly title: string
  /** What one of them is called. */
  readonly one: string
  /** Title of the first column of its list, other than Name. */
  readonly named?: string
  /** What it is, in a sentence; '' for what always exists, or is shown with another. */
  readonly about: string
  /** What its page says while there is none. */
  readonly none: string
  /** `-`: not shown unless chosen. */
  readonly columns: readonly string[]
  /** What cells of columns say where there is no value. */
  readonly empty?: Readonly<Record<string, string>>
  /** Query parameters of its list, by their names in addresses; texts have no choices. */
  readonly filters: readonly { readonly name: string; readonly param: string; readonly choices: readonly unknown[] }[]
  /** Statuses that need a person, listed first. */
  readonly first: readonly string[]
  /** Ids of operations that the list offers in each row. */
  readonly quick: readonly string[]
  /** Names of resources that are shown with one of this. */
  readonly children: readonly string[]
  readonly list: OperationId
  /** The least role that may list them. */
  readonly role: string
  /** Path parameter that names what it belongs to; null: the project. */
  readonly parent: string | null
  /** Path parameter that names one of it; null where no operation names one. */
  readonly key: string | null
  readonly get: Act | null
  readonly create: Act | null
  readonly update: Act | null
  readonly remove: Act | null
  /** A setting of the project: one row, which is replaced. */
  readonly single?: true
  readonly acts: readonly (Act | null)[]
}

/** A resource's row as the API returns it: fields by their names, of which any may be absent, and others. */
export interface Row {
  readonly [field: string]: unknown
  readonly id?: string
  readonly name?: string | null
  readonly label?: string | null
  readonly machine?: string
  readonly status?: string | number
  readonly state?: string
  readonly kind?: string
  readonly at?: string
  readonly failures?: number
  readonly error?: string | Readonly<{ code?: string; message?: string }> | null
  readonly redactions?: Readonly<Record<string, number>>
  readonly changes?: readonly string[] | Readonly<{ added: number; removed: number; unchanged: number }>
  readonly actor?: Readonly<{ id: string | null; kind: string }>
  readonly resource?: Readonly<{ id: string; type: string; name: string | null }>
  readonly is_active?: boolean
  readonly failing_since?: string | null
  readonly attempts?: number
  readonly key_last4?: string
  readonly chunk_count?: number
  readonly embedder?: string | null
  readonly embedded_count?: number
  readonly owner_type?: string
  readonly tenant_id?: string | null
  readonly external_user_id?: string | null
  readonly superseded_by?: string | null
  readonly valid_to?: string | null
  readonly paused_by?: string | null
  readonly paused_at?: string | null
}

/** What an operation answers that is known by data only: a row, or a page of rows. */
export interface Answered extends Row {
  readonly data?: readonly Row[]
  readonly next_cursor?: string | null
  readonly nextCursor?: string | null
}

/** Values of fields, as the request's body has them; those not filled in are absent. */
export type Values = Readonly<Record<string, unknown>>
