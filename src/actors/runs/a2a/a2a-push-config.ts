import { hash } from 'node:crypto'
import type { TypedKind } from '#records/schema.ts'
import { derivedId, isObject } from '#runtime/index.ts'
import { invalid, needText } from '#specs/errors/invalid-field.ts'
import type { ResultOf } from '#specs/index.ts'
import type { Json } from '#storage/index.ts'

/** Where the updates of a task are sent. */
export interface PushConfig {
  /** Chosen by the caller; null: the server chooses. */
  readonly id: string | null
  readonly url: string
  readonly secrets: PushSecrets
  /** Path of the config in the request, for refusals. */
  readonly place: string
}

/** What receivers recognise the server by. */
export interface PushSecrets {
  readonly token?: string
  readonly scheme?: string
  readonly credentials?: string
}

export type PushConfigData = {
  readonly run_id: string
  readonly config_id: string
  readonly context_id: string
  readonly url: string
  /** HTTP authentication scheme; null for none. */
  readonly scheme: string | null
  /** The secrets as sealed JSON. */
  readonly sealed: string
}

/** Addresses to which the updates of tasks are sent. */
export const pushConfigs: TypedKind<PushConfigData> = {
  name: 'a2a_push_configs',
  exported: null,
  filters: [{ fields: ['run_id'], narrow: true }],
  sealed: [
    {
      field: 'sealed',
      aad: ({ project, id }) => pushConfigAad(project, id),
      instead: null,
      // a config is only replaced as a whole, address and secrets together
      sentTo: null,
      loss: 'the token of a push notification config: set the config again',
    },
  ],
}

/** Additional authenticated data with which the secrets of a config are sealed. */
export const pushConfigAad = (project: string, id: string): string => `${project}|a2a_push_configs|${id}`

/** Id of the record of a config. Deliveries name it as they name a webhook. */
export const pushRecordId = (run: string, config: string): string =>
  derivedId('whk', 0, hash('sha256', JSON.stringify([run, config])))

/** How a config is shown: without its secrets. */
export const pushConfigView = ({ run_id, config_id, url, scheme }: PushConfigData): ResultOf<'a2a.push_config'> => ({
  ...{ id: config_id, taskId: run_id, url },
  ...(scheme !== null && { authentication: { scheme } }),
})

/** Longest id, and longest secret. */
const [maxId, maxSecret] = [128, 4096]

/**
 * Reads a config. Pure.
 *
 * @throws {ServiceError} `invalid_field`, `missing_field`
 */
export const pushConfigOf = (value: Json | undefined, place: string): PushConfig => {
  if (!isObject(value)) throw invalid(place, 'must be a push notification config')
  const { id, url, token, authentication } = value
  const isPlain = authentication === undefined || authentication === null
  if (!isPlain && !isObject(authentication)) throw invalid(`${place}.authentication`, 'must be object')
  const { scheme, credentials } = isObject(authentication) ? authentication : {}
  if (!isPlain && (typeof scheme !== 'string' || !/^[\w-]{1,64}$/.test(scheme)))
    throw invalid(`${place}.authentication.scheme`, 'must be the name of an HTTP authentication scheme')
  const secrets = {
    ...secretIn('token', token, `${place}.token`),
    ...(typeof scheme === 'string' && { scheme }),
    ...secretIn('credentials', credentials, `${place}.authentication.credentials`),
  }
  return { id: idIn(id, `${place}.id`), url: needText(url, `${place}.url`), secrets, place }
}

/** A text that a header can carry; '' is none, as in the protocol. */
const secretIn = (name: 'token' | 'credentials', value: Json | undefined, place: string): PushSecrets => {
  if (value === undefined || value === null || value === '') return {}
  if (typeof value === 'string' && value.length <= maxSecret && /^[\x20-\x7e]+$/.test(value)) return { [name]: value }
  throw invalid(place, `must have at most ${maxSecret} printable ASCII characters`)
}

const idIn = (value: Json | undefined, place: string): string | null => {
  if (value === undefined || value === null || value === '') return null
  if (typeof value === 'string' && value.length <= maxId) return value
  throw invalid(place, `must have at most ${maxId} characters`)
}
