import type { Commit, Json, StoredRecord } from '#storage/index.ts'
import { isEvent, isObject } from '../runtime/index.ts'
import { BackupError } from './backup-error.ts'
import type { InventoryData } from './inventory.ts'

/** The file format that this release writes and reads (specs/decisions/0060-backup.md). */
export const format = 'troupe-project/1'

/**
 * How the secrets of a file are sealed: with the installation's own master key, or with a key derived from a
 * passphrase.
 */
export type Sealing =
  | { readonly by: 'master_key' }
  | {
      readonly by: 'passphrase'
      /** Base64. */
      readonly salt: string
      /** A known text, sealed, by which a wrong passphrase is detected before anything is written. */
      readonly probe: string
    }

/** The first line of a file. */
export type Header = {
  readonly type: 'header'
  readonly format: typeof format
  readonly project: string
  /** RFC 3339. */
  readonly exported_at: string
  /** `ApiKeys.pepperName`. Under another pepper the project's secret keys are unusable. */
  readonly pepper: string
  readonly sealing: Sealing
}

/** One item of a project; each is a line of a file. */
export type Item =
  | { readonly type: 'blob'; readonly hash: string; readonly content: string }
  /** A blob that is no text, in base64. */
  | { readonly type: 'bytes'; readonly hash: string; readonly content: string }
  | { readonly type: 'commit'; readonly commit: Commit }
  | { readonly type: 'record'; readonly kind: string; readonly record: StoredRecord }

/** The last line of a file. */
export type End = {
  readonly type: 'end'
  readonly inventory: InventoryData
  /** SHA-256 of all bytes before this line. */
  readonly sha256: string
}

/** Any line of a file. */
export type Line = Header | Item | End

type Check = (value: Json | undefined) => boolean

const text: Check = (value) => typeof value === 'string'
const count: Check = (value) => Number.isSafeInteger(value)
const flag: Check = (value) => typeof value === 'boolean'
const object: Check = (value) => isObject(value)
const list: Check = (value) => Array.isArray(value)
const event: Check = (value) => isEvent(value)
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value)
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value)
const shape =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isObject(value) && Object.entries(checks).every(([name, check]) => check(value[name]))
const either =
  (...checks: readonly Check[]): Check =>
  (value) =>
    checks.some((check) => check(value))
const only =
  (wanted: string): Check =>
  (value) =>
    value === wanted

const commit = shape({
  ...{ actor: text, seq: count, shard: count, epoch: count, at: count, project: text, tenant: orNull(text) },
  ...{
    machine: text,
    cause: text,
    nonce: text,
    event,
    moved: optional(list),
    events: list,
    replaces: optional(count),
    last_sequence: count,
    effects: list,
  },
  ...{ messages: list, snapshot: optional(object), reminders: object, in_flight: object, open: flag },
  due: orNull(count),
})

const record = shape({
  ...{ id: text, project: text, tenant: orNull(text), user: orNull(text), version: count },
  ...{ created_at: count, updated_at: count, expires_at: orNull(count), data: object },
})

const digested = shape({ count, digest: text })

const lines: Readonly<Record<string, Check>> = {
  header: shape({
    ...{ project: text, exported_at: text, pepper: text },
    sealing: either(shape({ by: only('master_key') }), shape({ by: only('passphrase'), salt: text, probe: text })),
  }),
  blob: shape({ hash: text, content: text }),
  bytes: shape({ hash: text, content: text }),
  commit: shape({ commit }),
  record: shape({ kind: text, record }),
  end: shape({
    sha256: text,
    inventory: shape({
      ...{ actors: count, blobs: digested, commits: digested },
      records: (value) => isObject(value) && Object.values(value).every(digested),
    }),
  }),
}

/** Parses one line of a file. @throws {BackupError} for a line that this release would not write. */
export const lineOf = (line: string): Line => {
  const value = parsed(line)
  const type = isObject(value) && typeof value.type === 'string' ? value.type : ''
  if (type === 'header' && isObject(value) && value.format !== format) {
    throw new BackupError(`The file has the format ${JSON.stringify(value.format)}; this release reads ${format}.`)
  }
  if (lines[type]?.(value) !== true) throw new BackupError('The file has a line that does not belong to an export.')
  return value as Line
}

const parsed = (line: string): Json => {
  try {
    return JSON.parse(line)
  } catch {
    throw new BackupError('The file has a line that is not JSON.')
  }
}
